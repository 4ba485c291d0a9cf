//! `buckets verify`

use std::process::ExitCode;

use batch::Output;

use crate::jobs::{self, JobContext};

/// Checks the index and prints every problem it finds.
pub fn run(context: &JobContext, as_json: bool) -> anyhow::Result<ExitCode> {
    let faults = jobs::verify(context)?;
    let sound = faults.is_empty();
    let text = if sound { "the index is sound".to_owned() } else { faults.join("\n") };
    Output::from_json_flag(as_json).print(&serde_json::json!({ "faults": faults }), text)?;
    Ok(if sound { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}
