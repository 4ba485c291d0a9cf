//! Output and exit status of loads.

use std::io::Write;
use std::process::ExitCode;

use crate::jobs::{JobError, Report};

/// Exit status of a load with too many bad lines. Nothing is published.
const TOO_MANY_BAD: u8 = 3;
/// Exit status of a load that needs consent to remove files.
const TOO_MANY_REMOVED: u8 = 4;

/// Formats the report as text or JSON.
pub fn written(report: &Report, json: bool) -> String {
    match serde_json::to_string(report) {
        Ok(text) if json => text,
        _ => report.to_string(),
    }
}

/// Prints the report and returns the exit status. The number is that of notes about incomplete
/// sources.
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
            let code = match &error {
                JobError::TooManyBad { .. } => TOO_MANY_BAD,
                JobError::TooManyRemoved { .. } => TOO_MANY_REMOVED,
                _ => return Err(error.into()),
            };
            log::error!(target: "notice", "{error}");
            Ok(ExitCode::from(code))
        }
    }
}
