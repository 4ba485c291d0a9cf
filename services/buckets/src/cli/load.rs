//! `buckets load`

use std::path::PathBuf;
use std::process::ExitCode;

use super::report::{finished, written};
use super::sources::SourceArguments;
use crate::engine::{Mode, RemovalLimit};
use crate::jobs::{self, CheckpointPolicy, JobContext, JobError, LoadOptions, Report};

/// Exit codes, shown by `--help`.
const STATUSES: &str = "\
Exit status:
  0  published
  1  the load failed, the sources contain no lines, or a source was incomplete
  2  usage error
  3  more lines are bad than --max-errors allows, or all are; nothing was published
  4  buckets with more than --protected-files files would lose more than --protected-percent of
     them; nothing was published. Use --resume RUN --accept-removals to publish the run";

/// Arguments of `load`.
#[derive(clap::Args, Debug)]
#[command(after_help = STATUSES)]
pub struct LoadArguments {
    #[command(flatten)]
    reading: SourceArguments,
    /// How to update the buckets in the sources [default: replace; append for reject files]
    #[arg(long, value_enum)]
    mode: Option<ModeArgument>,
    /// Read all sources and report the result without changing the index
    #[arg(long)]
    pub(super) dry_run: bool,
    /// Resume a stopped run from its last checkpoint
    #[arg(long, value_name = "RUN", conflicts_with_all = ["paths", "dry_run"])]
    resume: Option<u64>,
    /// Publish even if buckets with more than --protected-files files lose more than
    /// --protected-percent of them
    #[arg(long)]
    accept_removals: bool,
    /// Files, folders or URLs of public buckets (such as `https://NAME.s3.amazonaws.com/`), or -
    /// for standard input
    #[arg(required_unless_present = "resume", value_name = "PATH")]
    paths: Vec<PathBuf>,
}

#[derive(Clone, Copy, Debug, clap::ValueEnum)]
enum ModeArgument {
    /// Replace all files of these buckets
    Replace,
    /// Add files, replacing those with the same path
    Append,
}

/// Starts or resumes a load, or does a dry run.
pub fn run(
    context: &JobContext,
    arguments: LoadArguments,
    checkpoints: CheckpointPolicy,
    limit: RemovalLimit,
) -> anyhow::Result<ExitCode> {
    let json = arguments.reading.json;
    let done = load(context, arguments, checkpoints, limit);
    finished(done.map(|report| (written(&report, json), report.tally.incomplete.len())))
}

fn load(
    context: &JobContext,
    arguments: LoadArguments,
    checkpoints: CheckpointPolicy,
    limit: RemovalLimit,
) -> Result<Report, JobError> {
    match arguments.resume {
        Some(run) if arguments.accept_removals => {
            return jobs::resume_accepting_removals(context, run, checkpoints);
        }
        Some(run) => return jobs::resume(context, run, checkpoints),
        None => {}
    }
    let mode = match arguments.mode {
        None | Some(ModeArgument::Replace) => Mode::Replace,
        Some(ModeArgument::Append) => Mode::Append,
    };
    let options = LoadOptions {
        removal_limit: (!arguments.accept_removals).then_some(limit),
        replaces_rejected: matches!(arguments.mode, Some(ModeArgument::Replace)),
        ..arguments.reading.options(mode, &arguments.paths)?
    };
    if arguments.dry_run {
        jobs::dry_run(context, &options)
    } else {
        jobs::load(context, &options, checkpoints)
    }
}
