//! `buckets load`

use std::path::PathBuf;
use std::process::ExitCode;

use super::report::{finished, written};
use super::sources::SourceArguments;
use crate::engine::{Mode, RemovalLimit};
use crate::jobs::{self, CheckpointPolicy, JobContext, JobError, LoadOptions};

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

/// A load whose sources were found.
pub struct LoadPlan {
    json: bool,
    step: Step,
}

enum Step {
    DryRun(LoadOptions),
    Load(LoadOptions),
    Resume { run: u64, accept_removals: bool },
}

impl LoadArguments {
    /// Finds the sources. With a mistyped path, the command must not create a database.
    pub fn plan(self, limit: RemovalLimit) -> Result<LoadPlan, JobError> {
        let json = self.reading.json;
        if let Some(run) = self.resume {
            let step = Step::Resume { run, accept_removals: self.accept_removals };
            return Ok(LoadPlan { json, step });
        }
        let mode = match self.mode {
            None | Some(ModeArgument::Replace) => Mode::Replace,
            Some(ModeArgument::Append) => Mode::Append,
        };
        let options = LoadOptions {
            removal_limit: (!self.accept_removals).then_some(limit),
            replaces_rejected: matches!(self.mode, Some(ModeArgument::Replace)),
            ..self.reading.options(mode, &self.paths)?
        };
        let step = if self.dry_run { Step::DryRun(options) } else { Step::Load(options) };
        Ok(LoadPlan { json, step })
    }
}

impl LoadPlan {
    /// Starts or resumes the load, or does a dry run.
    pub fn run(
        self,
        context: &JobContext,
        checkpoints: CheckpointPolicy,
    ) -> anyhow::Result<ExitCode> {
        let done = match self.step {
            Step::DryRun(options) => jobs::dry_run(context, &options),
            Step::Load(options) => jobs::load(context, &options, checkpoints),
            Step::Resume { run, accept_removals: true } => {
                jobs::resume_accepting_removals(context, run, checkpoints)
            }
            Step::Resume { run, accept_removals: false } => jobs::resume(context, run, checkpoints),
        };
        finished(done.map(|report| (written(&report, self.json), report.tally.incomplete.len())))
    }
}
