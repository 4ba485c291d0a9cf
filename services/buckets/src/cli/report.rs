//! Output and exit codes of load commands.

use std::io::Write;
use std::process::ExitCode;

use crate::jobs::{JobError, Report};

/// Exit code if there were too many bad lines. Nothing was published.
const TOO_MANY_BAD: u8 = 3;
/// Exit code if files would be removed and the user has to confirm this first.
const TOO_MANY_REMOVED: u8 = 4;

/// Formats a report as text or JSON.
pub fn written(report: &Report, json: bool) -> String {
    match serde_json::to_string(report) {
        Ok(text) if json => text,
        _ => report.to_string(),
    }
}

/// Prints the report and returns the exit code. The `usize` is the number of incomplete sources.
pub fn finished(done: Result<(String, usize), JobError>) -> anyhow::Result<ExitCode> {
    match done {
        Ok((text, incomplete)) => {
            writeln!(std::io::stdout(), "{text}")?;
            if incomplete == 0 {
                return Ok(ExitCode::SUCCESS);
            }
            log::error!(target: "notice", "some sources are incomplete, see \"incomplete\"");
            Ok(ExitCode::FAILURE)
        }
        Err(error) => {
            let (code, remedy) = match &error {
                JobError::TooManyBad { .. } => {
                    (TOO_MANY_BAD, "; --reject FILE collects them, --max-errors allows more")
                }
                JobError::TooManyRemoved { .. } => (TOO_MANY_REMOVED, ""),
                _ => return Err(error.into()),
            };
            log::error!(target: "notice", "{error}{remedy}");
            Ok(ExitCode::from(code))
        }
    }
}
