//! `load`.

use std::path::PathBuf;
use std::process::ExitCode;

use crate::engine::Mode;
use crate::jobs::LoadError;
use crate::jobs::formats::Format;
use crate::jobs::intake::MaxErrors;
use crate::jobs::load::{Checkpoints, Options, dry_run, load, resume, sources_of};
use crate::jobs::report::Report;
use crate::jobs::session::Workshop;
use crate::model::address::{Address, BucketType};

/// Exit status of a load with too many bad lines.
const TOO_MANY_BAD: u8 = 3;

/// How sources are read.
#[derive(clap::Args, Debug)]
pub struct ReadingArguments {
    /// Format of all sources; else recognised by content and name
    #[arg(long, value_enum)]
    format: Option<Format>,
    /// Bucket of all files
    #[arg(long, value_name = "ADDRESS", value_parser = address)]
    bucket: Option<String>,
    /// Type of all buckets, for hosts of no known provider
    #[arg(long = "type", value_name = "TYPE", value_parser = kind)]
    kind: Option<String>,
    /// Bad lines at most: a number, or a share of all lines
    #[arg(long, value_name = "N|P%", default_value = "1%")]
    max_errors: MaxErrors,
    /// File that takes every bad line whole
    #[arg(long, value_name = "FILE")]
    reject: Option<PathBuf>,
    /// Print the report as JSON
    #[arg(long)]
    pub json: bool,
}

/// Arguments of `load`.
#[derive(clap::Args, Debug)]
pub struct LoadArguments {
    #[command(flatten)]
    reading: ReadingArguments,
    /// What becomes of the files that the named buckets have
    #[arg(long, value_enum, default_value_t = ModeArgument::Replace)]
    mode: ModeArgument,
    /// Read everything, write nothing
    #[arg(long)]
    dry_run: bool,
    /// Go on with a stopped run
    #[arg(long, value_name = "RUN", conflicts_with_all = ["paths", "dry_run"])]
    resume: Option<u64>,
    /// Files and folders; - is standard input
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

fn address(text: &str) -> Result<String, String> {
    Address::parse(text).map(|_| text.to_owned()).map_err(|error| error.to_string())
}

fn kind(text: &str) -> Result<String, String> {
    text.parse::<BucketType>().map(|kind| kind.to_string()).map_err(|error| error.to_string())
}

/// Loads, resumes or tries.
pub fn run(
    shop: &Workshop,
    arguments: LoadArguments,
    pace: Checkpoints,
) -> anyhow::Result<ExitCode> {
    let json = arguments.reading.json;
    finished(work(shop, arguments, pace).map(|report| told(&report, json)))
}

/// The report for people, or for machines.
pub fn told(report: &Report, json: bool) -> String {
    match serde_json::to_string(report) {
        Ok(text) if json => text,
        _ => report.to_string(),
    }
}

/// Prints what was done and gives the exit status.
pub fn finished(done: Result<String, LoadError>) -> anyhow::Result<ExitCode> {
    match done {
        Ok(text) => {
            println!("{text}");
            Ok(ExitCode::SUCCESS)
        }
        Err(error @ LoadError::TooManyBad { .. }) => {
            eprintln!("error: {error}");
            Ok(ExitCode::from(TOO_MANY_BAD))
        }
        Err(error) => Err(error.into()),
    }
}

fn work(shop: &Workshop, arguments: LoadArguments, pace: Checkpoints) -> Result<Report, LoadError> {
    if let Some(run) = arguments.resume {
        return resume(shop, run, pace);
    }
    let mode = match arguments.mode {
        ModeArgument::Replace => Mode::Replace,
        ModeArgument::Append => Mode::Append,
    };
    let options = arguments.reading.options(mode, &arguments.paths)?;
    if arguments.dry_run { dry_run(shop, &options) } else { load(shop, &options, pace) }
}

impl ReadingArguments {
    /// Whether anything but the form of the report is given.
    pub fn say_how(&self) -> bool {
        let Self { format, bucket, kind, reject, .. } = self;
        format.is_some() || bucket.is_some() || kind.is_some() || reject.is_some()
    }

    /// What a run does with these paths.
    pub fn options(self, mode: Mode, paths: &[PathBuf]) -> Result<Options, LoadError> {
        let format = self.format.and_then(|format| {
            let value = <Format as clap::ValueEnum>::to_possible_value(&format)?;
            Some(value.get_name().to_owned())
        });
        Ok(Options {
            format,
            bucket: self.bucket,
            kind: self.kind,
            mode,
            max_errors: self.max_errors,
            reject: self.reject,
            sources: sources_of(paths)?,
        })
    }
}
