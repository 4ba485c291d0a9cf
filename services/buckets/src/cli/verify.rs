//! `verify`.

use std::process::ExitCode;

use crate::jobs::{self, JobContext};

/// Checks.
pub fn run(context: &JobContext) -> anyhow::Result<ExitCode> {
    let faults = jobs::verify(context)?;
    for fault in &faults {
        println!("{fault}");
    }
    if faults.is_empty() {
        println!("the index is sound");
        return Ok(ExitCode::SUCCESS);
    }
    Ok(ExitCode::FAILURE)
}
