//! `buckets verify`

use std::process::ExitCode;

use batch::Output;

use crate::jobs::{self, JobContext};

/// Checks the index and prints every problem it finds.
pub fn run(context: &JobContext, as_json: bool) -> anyhow::Result<ExitCode> {
    let faults = jobs::verify(context)?;
    let sound = faults.is_empty();
    let unchecked = if sound { context.unchecked_paths()? } else { 0 };
    let text = match (sound, unchecked) {
        (false, _) => faults.join("\n"),
        (true, 0) => "the index is sound".to_owned(),
        (true, paths) => format!(
            "the index is sound, except that checksums are absent for {paths} paths written by an \
             earlier version: `buckets rebuild` adds them"
        ),
    };
    let json = serde_json::json!({ "faults": faults, "paths_without_checksum": unchecked });
    Output::from_json_flag(as_json).print(&json, text)?;
    Ok(if sound { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}
