//! What commands print: JSON for machines, lines for people.

use std::process::ExitCode;

use database::DatabaseError;

use crate::jobs::JobContext;
use crate::jobs::load::Outcome;
use crate::store::admin_events;

/// Some rows of a load were not taken.
const SOME_SKIPPED: u8 = 3;

/// How a command prints.
#[derive(Clone, Copy, Debug, clap::Args)]
pub struct Output {
    /// Print JSON
    #[arg(long)]
    pub json: bool,
}

impl Output {
    /// Prints a value as one line of JSON, or a text for people.
    pub fn say(
        self,
        value: &impl serde::Serialize,
        text: impl std::fmt::Display,
    ) -> anyhow::Result<ExitCode> {
        if self.json {
            println!("{}", serde_json::to_string(value)?);
        } else {
            println!("{text}");
        }
        Ok(ExitCode::SUCCESS)
    }

    /// Prints values, one a line for people.
    pub fn list<T: serde::Serialize>(
        self,
        values: &[T],
        line: impl Fn(&T) -> String,
    ) -> anyhow::Result<ExitCode> {
        if self.json {
            println!("{}", serde_json::to_string(values)?);
        } else {
            values.iter().for_each(|value| println!("{}", line(value)));
        }
        Ok(ExitCode::SUCCESS)
    }

    /// Prints how a load ended; exit code 3 when rows were skipped.
    pub fn load(self, outcome: &Outcome) -> anyhow::Result<ExitCode> {
        let Outcome { job, read, accepted, skipped, added, skips } = outcome;
        self.say(
            outcome,
            format!(
                "job {job}: {read} read, {accepted} accepted, {skipped} skipped, {added} added"
            ),
        )?;
        for (line, reason) in skips.iter().take(20) {
            let reason = serde_json::to_value(reason)?;
            eprintln!("line {line}: {}", reason.as_str().unwrap_or_default());
        }
        if skips.len() > 20 {
            eprintln!("`breaches job show {job}` has the first {} of them", skips.len());
        }
        Ok(if *skipped > 0 { ExitCode::from(SOME_SKIPPED) } else { ExitCode::SUCCESS })
    }
}

/// Records a change by the operator: the action, and what was changed.
pub fn record(context: &JobContext, event: Option<(&str, String)>) -> Result<(), DatabaseError> {
    let Some((action, subject)) = event else { return Ok(()) };
    let now = context.clock.unix();
    context.pools.write_blocking(|db| admin_events::add(db, now, action, &subject, ""))
}
