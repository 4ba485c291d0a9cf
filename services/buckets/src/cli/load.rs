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
  1  failed, also if the sources have no lines; or published with incomplete sources
  2  usage
  3  more bad lines than --max-errors, or only bad lines; nothing was published
  4  buckets of more than --protected-files files would lose more than --protected-percent of them;
     nothing was published, and --resume RUN --accept-removals publishes the run";

/// Arguments of `load`.
#[derive(clap::Args, Debug)]
#[command(after_help = STATUSES)]
pub struct LoadArguments {
    #[command(flatten)]
    reading: SourceArguments,
    /// How the run changes buckets that it names
    /// [default: replace; append for reject files]
    #[arg(long, value_enum)]
    mode: Option<ModeArgument>,
    /// Read all sources without writing to the index
    #[arg(long)]
    pub(super) dry_run: bool,
    /// Resume a stopped run
    #[arg(long, value_name = "RUN", conflicts_with_all = ["paths", "dry_run"])]
    resume: Option<u64>,
    /// Publish even if buckets of more than --protected-files files lose more than
    /// --protected-percent of them
    #[arg(long)]
    accept_removals: bool,
    /// Files, folders, and URLs of public buckets (`https://NAME.s3.amazonaws.com/`); - for
    /// standard input
    #[arg(required_unless_present = "resume", value_name = "PATH")]
    paths: Vec<PathBuf>,
}

#[derive(Clone, Copy, Debug, clap::ValueEnum)]
enum ModeArgument {
    /// Replace all files of named buckets by those of the run
    Replace,
    /// Add files; files with an equal path are replaced
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
