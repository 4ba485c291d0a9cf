//! What commands print: JSON for machines, lines for people.

use std::fmt::Display;
use std::process::ExitCode;

use database::DatabaseError;
use serde::Serialize;

use crate::jobs::{JobContext, Outcome};
use crate::store::admin_events;

/// Some rows of a load were not taken.
const SOME_SKIPPED: u8 = 3;

/// The flag `--json` of a command.
#[derive(Clone, Copy, Debug, clap::Args)]
pub struct Output {
    /// Print JSON
    #[arg(long)]
    pub json: bool,
}

impl Output {
    /// The form of the output.
    fn form(self) -> batch::Output {
        batch::Output::from_json_flag(self.json)
    }

    /// Prints a value as one line of JSON, or a text for people.
    pub fn print(self, value: &impl Serialize, text: impl Display) -> anyhow::Result<ExitCode> {
        self.form().print(value, text)?;
        Ok(ExitCode::SUCCESS)
    }

    /// Prints values, one a line for people.
    pub fn print_list<T: Serialize>(
        self,
        values: &[T],
        line: impl Fn(&T) -> String,
    ) -> anyhow::Result<ExitCode> {
        self.form().print_list(values, line)?;
        Ok(ExitCode::SUCCESS)
    }

    /// Prints how a load ended; exit code 3 when rows were skipped.
    pub fn print_outcome(self, outcome: &Outcome) -> anyhow::Result<ExitCode> {
        let Outcome { job, read, accepted, skipped, added, reasons, skips } = outcome;
        self.print(
            outcome,
            format!(
                "job {job}: {read} read, {accepted} accepted, {skipped} skipped, {added} added"
            ),
        )?;
        for (line, reason) in skips.iter().take(20) {
            eprintln!("line {line}: {reason}");
        }
        for (reason, rows) in reasons {
            eprintln!("{rows} skipped: {reason}");
        }
        if skips.len() > 20 {
            eprintln!("`breaches job show {job}` has the first {} of them", skips.len());
        }
        Ok(if *skipped > 0 { ExitCode::from(SOME_SKIPPED) } else { ExitCode::SUCCESS })
    }
}

/// What happens at the end of a load.
#[derive(Clone, Copy, Debug, clap::Args)]
pub struct LoadEnding {
    /// Leave PwnCount as it is
    #[arg(long)]
    pub keep_count: bool,
    /// Activate an inactive breach when done
    #[arg(long)]
    pub activate: bool,
    #[command(flatten)]
    pub output: Output,
}

/// Records a change by the operator: the action, and what was changed.
pub fn record(context: &JobContext, event: Option<(&str, String)>) -> Result<(), DatabaseError> {
    let Some((action, subject)) = event else { return Ok(()) };
    let now = context.clock.unix();
    context.pools.write_blocking(|db| admin_events::add(db, now, action, &subject, ""))
}
