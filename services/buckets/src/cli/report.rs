//! Output and exit status of loads.

use std::io::Write;
use std::process::ExitCode;

use crate::jobs::{JobError, Report};

/// Exit status of a load with too many bad lines or removed files, which publishes nothing.
const TOO_MANY: u8 = 3;

/// Formats the report as text or JSON.
pub fn written(report: &Report, json: bool) -> String {
    match serde_json::to_string(report) {
        Ok(text) if json => text,
        _ => report.to_string(),
    }
}

/// Prints the report and returns the exit status. The number counts notes on incomplete sources.
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
        Err(error @ (JobError::TooManyBad { .. } | JobError::TooManyRemoved { .. })) => {
            log::error!(target: "notice", "{error}");
            Ok(ExitCode::from(TOO_MANY))
        }
        Err(error) => Err(error.into()),
    }
}
