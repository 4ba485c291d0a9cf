//! Output of commands: JSON for programs, text for people.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Display;
use std::process::ExitCode;

use serde::Serialize;

use crate::jobs::{Forecast, Outcome, SkipReason};

/// Exit code of a load that skipped some rows.
const SOME_SKIPPED: u8 = 3;

/// The flag `--json` of a command.
#[derive(Clone, Copy, Debug, clap::Args)]
pub struct Output {
    /// Print the result as JSON
    #[arg(long)]
    pub json: bool,
}

impl Output {
    /// The output format.
    fn form(self) -> batch::Output {
        batch::Output::from_json_flag(self.json)
    }

    /// Prints a value as one line of JSON or as text.
    pub fn print(self, value: &impl Serialize, text: impl Display) -> anyhow::Result<ExitCode> {
        self.form().print(value, text)?;
        Ok(ExitCode::SUCCESS)
    }

    /// Prints a list, either as JSON or with one line of text per value.
    pub fn print_list<T: Serialize>(
        self,
        values: &[T],
        line: impl Fn(&T) -> String,
    ) -> anyhow::Result<ExitCode> {
        self.form().print_list(values, line)?;
        Ok(ExitCode::SUCCESS)
    }

    /// Prints the outcome of a load. The exit code is 3 if rows were skipped.
    pub fn print_outcome(self, outcome: &Outcome) -> anyhow::Result<ExitCode> {
        let Outcome { job, read, accepted, skipped, added, reasons, skips, .. } = outcome;
        let silent = if outcome.notices { "" } else { ", without notices" };
        let (empty, columns) = (shown_empty(outcome.empty), shown_columns(&outcome.columns));
        self.print(
            outcome,
            format!(
                "job {job}: {read} read{columns}, {accepted} accepted, {skipped} skipped{empty}, \
                 {added} added{silent}"
            ),
        )?;
        print_skips(reasons, skips);
        if skips.len() > PRINTED {
            log::info!(target: "notice", "`breaches job show {job}` shows the first {}", skips.len());
        }
        Ok(if *skipped > 0 { ExitCode::from(SOME_SKIPPED) } else { ExitCode::SUCCESS })
    }

    /// Prints the outcome of a dry run. The exit code is 3 if rows would be skipped.
    pub fn print_forecast(self, forecast: &Forecast) -> anyhow::Result<ExitCode> {
        let Forecast { read, accepted, skipped, new, known, linked, opted_out, .. } = forecast;
        let Forecast { reasons, skips, .. } = forecast;
        let (empty, columns) = (shown_empty(forecast.empty), shown_columns(&forecast.columns));
        self.print(
            forecast,
            format!(
                "nothing was changed; {read} read{columns}, {accepted} accepted, \
                 {skipped} skipped{empty}; {new} new, {known} of known addresses, {linked} already \
                 linked, {opted_out} opted out"
            ),
        )?;
        print_skips(reasons, skips);
        Ok(if *skipped > 0 { ExitCode::from(SOME_SKIPPED) } else { ExitCode::SUCCESS })
    }
}

/// Returns the part of a report about rows without an address.
fn shown_empty(rows: i64) -> String {
    if rows == 0 { String::new() } else { format!(", {rows} without an address") }
}

/// Returns the part of a report about the columns that addresses were read from.
fn shown_columns(columns: &BTreeSet<String>) -> String {
    let names: Vec<&str> = columns.iter().take(PRINTED).map(String::as_str).collect();
    if names.is_empty() { String::new() } else { format!(" from {}", names.join(", ")) }
}

/// Maximum number of skipped rows or columns to print.
const PRINTED: usize = 20;

fn print_skips(reasons: &BTreeMap<SkipReason, i64>, skips: &[(u64, SkipReason)]) {
    for (line, reason) in skips.iter().take(PRINTED) {
        log::info!(target: "notice", "line {line}: {reason}");
    }
    for (reason, rows) in reasons {
        log::info!(target: "notice", "{rows} skipped: {reason}");
    }
}

/// Options for the end of a load.
#[derive(Clone, Copy, Debug, clap::Args)]
pub struct LoadEnding {
    /// Keep the breach's PwnCount instead of updating it
    #[arg(long)]
    pub keep_count: bool,
    /// Activate the breach after the load if it is inactive
    #[arg(long)]
    pub activate: bool,
    /// Do not send notices about addresses from this load, even if the breach is activated later. A
    /// resumed load keeps its original setting
    #[arg(long)]
    pub no_notify: bool,
    #[command(flatten)]
    pub output: Output,
}
