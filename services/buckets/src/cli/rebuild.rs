//! `buckets rebuild`

use std::path::PathBuf;
use std::process::ExitCode;

use serde_json::json;

use super::report::{finished, written};
use super::sources::SourceArguments;
use crate::engine::Mode;
use crate::jobs::{self, CheckpointPolicy, JobContext};

/// Exit code for conflicting arguments.
const USAGE: u8 = 2;

/// Arguments of `rebuild`.
#[derive(clap::Args, Debug)]
pub struct RebuildArguments {
    #[command(flatten)]
    reading: SourceArguments,
    /// Files, folders or URLs of public buckets to build the index from, or - for standard input
    /// [default: the current index without dead rows]
    #[arg(value_name = "PATH")]
    paths: Vec<PathBuf>,
}

impl RebuildArguments {
    /// Returns whether the index is built from sources instead of the current index.
    pub fn has_sources(&self) -> bool {
        !self.paths.is_empty()
    }
}

pub fn run(
    context: &JobContext,
    arguments: RebuildArguments,
    checkpoints: CheckpointPolicy,
) -> anyhow::Result<ExitCode> {
    let RebuildArguments { reading, paths } = arguments;
    if paths.is_empty() && reading.has_options() {
        log::error!(target: "notice", "source options were given without any sources");
        return Ok(ExitCode::from(USAGE));
    }
    let json = reading.json;
    let in_use = |generation: u32, files: u64| {
        if json {
            json!({ "generation": generation, "files": files }).to_string()
        } else {
            format!("generation {generation} is in use: {files} files")
        }
    };
    let done = if paths.is_empty() {
        jobs::rebuild(context).map(|(generation, files)| (in_use(generation, files), 0))
    } else {
        let options = reading.options(Mode::Replace, &paths)?;
        jobs::rebuild_from(context, &options, checkpoints).map(|(generation, report)| {
            let text = match json {
                true => written(&report, json),
                false => format!("{report}\n{}", in_use(generation, report.counts.added)),
            };
            (text, report.tally.incomplete.len())
        })
    };
    finished(done)
}
