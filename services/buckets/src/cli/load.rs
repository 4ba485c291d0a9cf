//! `load`.

use std::path::PathBuf;
use std::process::ExitCode;

use super::report::{finished, written};
use super::sources::SourceArguments;
use crate::engine::Mode;
use crate::jobs::{self, CheckpointPolicy, JobContext, JobError, Report};

/// Arguments of `load`.
#[derive(clap::Args, Debug)]
pub struct LoadArguments {
    #[command(flatten)]
    reading: SourceArguments,
    /// What becomes of the files that the named buckets have
    #[arg(long, value_enum, default_value_t = ModeArgument::Replace)]
    mode: ModeArgument,
    /// Read everything, write nothing
    #[arg(long)]
    dry_run: bool,
    /// Resume a stopped run
    #[arg(long, value_name = "RUN", conflicts_with_all = ["paths", "dry_run"])]
    resume: Option<u64>,
    /// Files, folders, addresses of public buckets (`https://NAME.s3.amazonaws.com/`); - is standard
    /// input
    #[arg(required_unless_present = "resume", value_name = "PATH")]
    paths: Vec<PathBuf>,
}

#[derive(Clone, Copy, Debug, clap::ValueEnum)]
enum ModeArgument {
    /// Named buckets have exactly the files of the run
    Replace,
    /// Files are added; an equal path replaces
    Append,
}

/// Loads, resumes or tries.
pub fn run(
    context: &JobContext,
    arguments: LoadArguments,
    checkpoints: CheckpointPolicy,
) -> anyhow::Result<ExitCode> {
    let json = arguments.reading.json;
    let done = load(context, arguments, checkpoints);
    finished(done.map(|report| (written(&report, json), report.tally.incomplete.len())))
}

fn load(
    context: &JobContext,
    arguments: LoadArguments,
    checkpoints: CheckpointPolicy,
) -> Result<Report, JobError> {
    if let Some(run) = arguments.resume {
        return jobs::resume(context, run, checkpoints);
    }
    let mode = match arguments.mode {
        ModeArgument::Replace => Mode::Replace,
        ModeArgument::Append => Mode::Append,
    };
    let options = arguments.reading.options(mode, &arguments.paths)?;
    if arguments.dry_run {
        jobs::dry_run(context, &options)
    } else {
        jobs::load(context, &options, checkpoints)
    }
}
