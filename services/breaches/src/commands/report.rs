//! What commands print: JSON for machines, lines for people.

use std::process::ExitCode;

use crate::jobs::load::Outcome;

/// Some rows of a load were not taken.
const SOME_SKIPPED: u8 = 3;

/// Prints a value as one line of JSON.
pub fn json(value: &impl serde::Serialize) -> anyhow::Result<()> {
    println!("{}", serde_json::to_string(value)?);
    Ok(())
}

/// Prints how a load ended; exit code 3 when rows were skipped.
pub fn load(outcome: &Outcome, as_json: bool) -> anyhow::Result<ExitCode> {
    if as_json {
        json(outcome)?;
    } else {
        let Outcome { job, read, accepted, skipped, added, skips } = outcome;
        println!("job {job}: {read} read, {accepted} accepted, {skipped} skipped, {added} added");
        for (line, reason) in skips.iter().take(20) {
            let reason = serde_json::to_value(reason)?;
            eprintln!("line {line}: {}", reason.as_str().unwrap_or_default());
        }
        if skips.len() > 20 {
            eprintln!("… `breaches job show {job}` has the first {} of them", skips.len());
        }
    }
    Ok(if outcome.skipped > 0 { ExitCode::from(SOME_SKIPPED) } else { ExitCode::SUCCESS })
}
