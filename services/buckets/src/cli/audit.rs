//! `buckets audit`

use std::io::Read;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use batch::Output;

use crate::config::rate;
use crate::engine::RemovalLimit;
use crate::jobs::{
    self, AuditOptions, AuditReport, AuditState, CheckpointPolicy, Endpoint, JobContext, JobError,
    RemoteOptions, addresses_of,
};
use crate::model::address::BucketType;

/// Exit codes, shown by `--help`.
const STATUSES: &str = "\
FILE contains one bucket URL per line (https://NAME.s3.amazonaws.com/, s3://NAME, gs://NAME), or one
bucket name per line with --endpoint. Lines that start with # are comments.

Exit status:
  0  all buckets were audited, and no new buckets or files are open
  1  the command failed, a bucket is unreachable, a listing is incomplete, or a line is invalid
  2  usage error
  3  new buckets or files are open that were not in the index before
  4  buckets with more than --protected-files files would lose more than --protected-percent of
     them; nothing was published for these buckets. Use --accept-removals to publish them
If several apply, 3 takes precedence over 4, and 4 over 1.";

/// Exit code if the audit found new files.
const NEW: u8 = 3;
/// Exit code if files would be removed and the user has to confirm this first.
const HELD: u8 = 4;

/// Arguments of `audit`.
#[derive(clap::Args, Debug)]
#[command(after_help = STATUSES)]
pub struct AuditArguments {
    /// File with bucket addresses, or - for standard input
    #[arg(value_name = "FILE")]
    file: PathBuf,
    /// URL of an S3-compatible host, for buckets whose provider is unknown
    #[arg(long, value_name = "URL", value_parser = Endpoint::parse)]
    endpoint: Option<Endpoint>,
    /// Bucket type to record for the buckets at --endpoint
    #[arg(long = "type", value_name = "TYPE", default_value = "aws", requires = "endpoint")]
    kind: BucketType,
    /// Allow --endpoint to have a private IP address
    #[arg(long)]
    allow_private: bool,
    /// Maximum number of requests per second across all buckets
    #[arg(long, value_name = "N", default_value_t = 2.0, value_parser = rate)]
    rate: f64,
    /// User-Agent header to send
    #[arg(long, value_name = "TEXT", default_value_t = RemoteOptions::default().user_agent)]
    user_agent: String,
    /// Timeout in seconds for each page of a listing, 1 to 600
    #[arg(long, value_name = "SECONDS", default_value_t = 30, value_parser = clap::value_parser!(u64).range(1..=600))]
    timeout: u64,
    /// Number of attempts for each page of a listing, 1 to 10
    #[arg(long, value_name = "N", default_value_t = 3, value_parser = clap::value_parser!(u32).range(1..=10))]
    attempts: u32,
    /// Number of new and changed file paths to show per bucket, 0 to 10000
    #[arg(long, value_name = "N", default_value_t = 20, value_parser = clap::value_parser!(u16).range(0..=10_000))]
    show: u16,
    /// Publish even if buckets with more than --protected-files files lose more than
    /// --protected-percent of them
    #[arg(long)]
    accept_removals: bool,
    /// Print the report as JSON
    #[arg(long)]
    json: bool,
}

/// Audits the addresses listed in a file.
pub fn run(
    context: &JobContext,
    arguments: AuditArguments,
    checkpoints: CheckpointPolicy,
    limit: RemovalLimit,
) -> anyhow::Result<ExitCode> {
    let endpoint = arguments.endpoint.map(|endpoint| endpoint.of_type(arguments.kind));
    let options = AuditOptions {
        addresses: addresses_of(&read(&arguments.file)?, endpoint.as_ref())?,
        remote: RemoteOptions {
            rate: arguments.rate,
            user_agent: arguments.user_agent,
            attempts: arguments.attempts,
            timeout: arguments.timeout,
            allows_private: arguments.allow_private,
            ..RemoteOptions::default()
        },
        removal_limit: (!arguments.accept_removals).then_some(limit),
        shown: usize::from(arguments.show),
    };
    let report = jobs::audit(context, &options, checkpoints)?;
    Output::from_json_flag(arguments.json).print(&report, &report)?;
    Ok(status(&report))
}

fn status(report: &AuditReport) -> ExitCode {
    if report.has_new() {
        return ExitCode::from(NEW);
    }
    if report.has(AuditState::Held) {
        return ExitCode::from(HELD);
    }
    let failed = [AuditState::Unreachable, AuditState::Incomplete, AuditState::Invalid];
    match failed.into_iter().any(|state| report.has(state)) {
        true => ExitCode::FAILURE,
        false => ExitCode::SUCCESS,
    }
}

fn read(file: &Path) -> Result<String, JobError> {
    let mut text = String::new();
    let done = match file == Path::new("-") {
        true => std::io::stdin().read_to_string(&mut text).map(drop),
        false => std::fs::read_to_string(file).map(|read| text = read),
    };
    done.map_err(|error| JobError::Source { path: file.display().to_string(), error })?;
    Ok(text)
}
