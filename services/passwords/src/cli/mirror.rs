//! The `mirror` subcommand.

use std::path::{Path, PathBuf};
use std::time::Duration;

use batch::{ByteSize, Output};
use domain::Clock;

use crate::jobs::{self, Mirrored, Politeness, Upstream};
use crate::model::{Kind, PREFIXES};

const USER_AGENT: &str = concat!("passwords-mirror/", env!("CARGO_PKG_VERSION"));

/// Options of `mirror`.
#[derive(Clone, Debug, clap::Args)]
pub struct Mirror {
    /// Base URL of the service, such as `https://api.pwnedpasswords.com`
    url: String,
    /// Comma-separated hash kinds to fetch: sha1, ntlm [default: the value of KINDS]
    #[arg(long, value_delimiter = ',', value_parser = clap::value_parser!(Kind))]
    kind: Vec<Kind>,
    /// Maximum number of concurrent requests, 1 to 512
    #[arg(long, default_value_t = 32, value_parser = clap::value_parser!(u16).range(1..=512))]
    concurrency: u16,
    /// Maximum number of requests per second [default: unlimited]
    #[arg(long, value_name = "REQUESTS", value_parser = clap::value_parser!(u32).range(1..))]
    rate: Option<u32>,
    /// Number of attempts per range before the command fails, 1 to 100
    #[arg(long, default_value_t = 10, value_parser = clap::value_parser!(u32).range(1..=100))]
    attempts: u32,
    /// Longest Retry-After pause to honour, in seconds, 0 to 604800
    #[arg(long, value_name = "SECONDS", default_value_t = 3600,
        value_parser = clap::value_parser!(u64).range(0..=604_800))]
    longest_pause: u64,
    /// Seconds without progress before a request is aborted and retried, 1 to 3600
    #[arg(long, value_name = "SECONDS", default_value_t = 20,
        value_parser = clap::value_parser!(u64).range(1..=3600))]
    timeout: u64,
    /// PEM file with additional certificate authorities to trust
    #[arg(long, value_name = "FILE")]
    ca_file: Option<PathBuf>,
    /// User-Agent header to send
    #[arg(long, value_name = "TEXT", default_value = USER_AGENT)]
    user_agent: String,
    /// Fetch only the first N ranges, for a trial run. The remaining ranges are empty, so the
    /// corpora are not activated unless --activate is given
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=PREFIXES as i64))]
    first: Option<u32>,
    /// Activate the new corpora. This is the default unless --first is given
    #[arg(long)]
    activate: bool,
    /// Do not activate the new corpora
    #[arg(long, conflicts_with = "activate")]
    no_activate: bool,
    /// Discard the data fetched by an interrupted run and start over
    #[arg(long)]
    restart: bool,
    /// Data source to record in the corpus header [default: the URL]
    #[arg(long)]
    note: Option<String>,
    /// Print the report as JSON
    #[arg(long)]
    json: bool,
}

impl Mirror {
    /// Fetches, builds and activates each kind, and prints a report for each. If `--kind` isn't
    /// given, uses `kinds`, which come from the settings.
    pub fn run(&self, kinds: &[Kind], data_dir: &Path, clock: &dyn Clock) -> anyhow::Result<()> {
        let timeout = Duration::from_secs(self.timeout);
        let ca_file = self.ca_file.as_deref();
        let upstream = Upstream::new(&self.url, ca_file, &self.user_agent, timeout)?;
        let mut kinds = if self.kind.is_empty() { kinds.to_vec() } else { self.kind.clone() };
        kinds.sort();
        kinds.dedup();
        let job = jobs::Mirror {
            kinds,
            politeness: Politeness {
                concurrency: self.concurrency.into(),
                per_second: self.rate,
                attempts: self.attempts,
                longest_pause: Duration::from_secs(self.longest_pause),
            },
            ranges: self.first.unwrap_or(PREFIXES as u32),
            restart: self.restart,
            activate: self.activate || (self.first.is_none() && !self.no_activate),
            note: self.note.clone(),
        };
        job.run(upstream, data_dir, clock, |mirrored| self.print(mirrored))
    }

    fn print(&self, mirrored: &Mirrored) -> anyhow::Result<()> {
        let output = Output::from_json_flag(self.json);
        let traffic = mirrored.traffic;
        output.note(format_args!(
            "{}: {} digests; {} ranges fetched ({}), {} unchanged, {} from an earlier run, \
             {} retries{}",
            mirrored.file.kind,
            mirrored.file.entries,
            traffic.changed,
            ByteSize(traffic.received),
            traffic.unchanged,
            traffic.resumed,
            traffic.retries,
            if mirrored.activated { "; activated" } else { "" }
        ));
        Ok(output.print(mirrored, mirrored.file.path.display())?)
    }
}
