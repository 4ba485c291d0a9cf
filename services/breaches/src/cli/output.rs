//! What commands print: JSON for machines, lines for people.

use std::collections::BTreeMap;
use std::fmt::Display;
use std::process::ExitCode;

use database::DatabaseError;
use serde::Serialize;

use crate::jobs::{Forecast, JobContext, Outcome, SkipReason};
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
        let Outcome { job, read, accepted, skipped, added, notices, reasons, skips } = outcome;
        let silent = if *notices { "" } else { ", nobody is told" };
        self.print(
            outcome,
            format!(
                "job {job}: {read} read, {accepted} accepted, {skipped} skipped, {added} added{silent}"
            ),
        )?;
        tell_skips(reasons, skips);
        if skips.len() > TOLD {
            log::info!(target: "notice", "`breaches job show {job}` has the first {} of them", skips.len());
        }
        Ok(if *skipped > 0 { ExitCode::from(SOME_SKIPPED) } else { ExitCode::SUCCESS })
    }

    /// Prints what a load would do; exit code 3 when rows would be skipped.
    pub fn print_forecast(self, forecast: &Forecast) -> anyhow::Result<ExitCode> {
        let Forecast { read, accepted, skipped, new, known, linked, opted_out, reasons, skips } =
            forecast;
        self.print(
            forecast,
            format!(
                "nothing was changed: {read} read, {accepted} accepted, {skipped} refused; {new} new, \
                 {known} known from other breaches, {linked} linked already, {opted_out} opted out"
            ),
        )?;
        tell_skips(reasons, skips);
        Ok(if *skipped > 0 { ExitCode::from(SOME_SKIPPED) } else { ExitCode::SUCCESS })
    }
}

/// Rows that are told one by one.
const TOLD: usize = 20;

fn tell_skips(reasons: &BTreeMap<SkipReason, i64>, skips: &[(u64, SkipReason)]) {
    for (line, reason) in skips.iter().take(TOLD) {
        log::info!(target: "notice", "line {line}: {reason}");
    }
    for (reason, rows) in reasons {
        log::info!(target: "notice", "{rows} skipped: {reason}");
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
    /// Tell nobody of what this load links, neither now nor when its breach is activated later: no mails,
    /// no webhooks. A load that is resumed keeps the choice that it began with
    #[arg(long)]
    pub no_notify: bool,
    #[command(flatten)]
    pub output: Output,
}

/// Records a change by the operator: the action, and what was changed.
pub fn record(context: &JobContext, event: Option<(&str, String)>) -> Result<(), DatabaseError> {
    let Some((action, subject)) = event else { return Ok(()) };
    let now = context.clock.unix();
    context.pools.write_blocking(|db| admin_events::add(db, now, action, &subject, ""))
}
