//! `buckets crawl`

use std::process::ExitCode;
use std::time::Duration;

use batch::Output;
use jiff::{Span, SpanRelativeTo, Timestamp, Unit};

use super::sources::{address, kind};
use crate::config::Settings;
use crate::engine::RemovalLimit;
use crate::jobs::{
    CheckpointPolicy, Crawl, CrawlOptions, CrawlOutcome, CrawlRequest, JobContext, KeyLimits,
    RemoteOptions, add_crawls, crawl_next, list_crawls, pause_crawl, remove_crawl, run_crawls,
    terminal_safe,
};
use crate::model::{Address, CrawlLists};

/// Exit codes, shown by `--help`.
const STATUSES: &str = "\
Exit status:
  0  all listings were published
  1  the command failed, or a listing is incomplete or unavailable
  2  usage error";

/// Manages the schedule of bucket crawls.
#[derive(clap::Subcommand, Debug)]
pub enum CrawlCommand {
    /// Add public buckets to crawl. The first run is due immediately
    Add(AddArguments),
    /// List all crawls with their last and next runs
    List {
        /// Print a JSON array instead of text
        #[arg(long)]
        json: bool,
    },
    /// Run one crawl or all due crawls
    Run(RunArguments),
    /// Pause a crawl. It then runs only if `crawl run` is given its ID
    Pause {
        /// ID of the crawl, as shown by `crawl list`
        #[arg(value_name = "ID")]
        id: i64,
    },
    /// Resume a paused crawl
    Resume {
        /// ID of the crawl, as shown by `crawl list`
        #[arg(value_name = "ID")]
        id: i64,
    },
    /// Remove a crawl. The bucket's files are kept in the index
    Remove {
        /// ID of the crawl, as shown by `crawl list`
        #[arg(value_name = "ID")]
        id: i64,
    },
}

impl CrawlCommand {
    /// Returns whether the command adds crawls, which needs no existing data.
    pub fn adds(&self) -> bool {
        matches!(self, Self::Add(_))
    }
}

/// Arguments of `crawl add`.
#[derive(clap::Args, Debug)]
pub struct AddArguments {
    /// URLs of public buckets, such as `https://NAME.s3.amazonaws.com/`
    #[arg(value_name = "URL", required = true)]
    urls: Vec<String>,
    /// Interval between the start of one run and the next, such as 24h, 30m or 7d; at least one
    /// minute
    #[arg(long, value_name = "TIME", default_value = "24h", value_parser = every)]
    every: i64,
    /// List only files whose path starts with this prefix. Such a crawl never removes files from
    /// the index
    #[arg(long, value_name = "P", default_value = "")]
    prefix: String,
    /// Last day in UTC of the crawl (2027-12-31), or the RFC 3339 time when it ends [default:
    /// never]
    #[arg(long, value_name = "DATE", value_parser = auth::parse_until)]
    until: Option<i64>,
    /// Listing API of the host, if its provider is unknown
    #[arg(long, value_parser = ["s3", "azure", "gcs"], requires_all = ["bucket", "kind"])]
    format: Option<String>,
    /// Bucket address to use in the index, if the provider is unknown
    #[arg(long, value_name = "ADDRESS", value_parser = address, requires = "format")]
    bucket: Option<String>,
    /// Bucket type, if the provider is unknown
    #[arg(long = "type", value_name = "TYPE", value_parser = kind, requires = "format")]
    kind: Option<String>,
    /// Hide the bucket after it has responded with 401, 403 or 404 for this number of days, 1 to
    /// 3650. It reappears when it is available again [default: never]
    #[arg(long, value_name = "DAYS", value_parser = clap::value_parser!(i64).range(1..=3_650))]
    gone_after: Option<i64>,
    /// Print the new IDs as a JSON array
    #[arg(long)]
    json: bool,
}

/// Arguments of `crawl run`.
#[derive(clap::Args, Debug)]
#[command(after_help = STATUSES)]
pub struct RunArguments {
    /// ID of a crawl to run, even if it is not due [default: all due crawls]
    #[arg(value_name = "ID")]
    id: Option<i64>,
    /// Publish even if the bucket has more than --protected-files files and loses more than
    /// --protected-percent of them. Requires ID
    #[arg(long, requires = "id")]
    accept_removals: bool,
    #[command(flatten)]
    requests: RequestArguments,
    /// Print the results as a JSON array
    #[arg(long)]
    json: bool,
}

/// Arguments of `crawler`.
#[derive(clap::Args, Debug)]
pub struct CrawlerArguments {
    #[command(flatten)]
    requests: RequestArguments,
}

/// How buckets are requested.
#[derive(clap::Args, Debug)]
struct RequestArguments {
    /// User-Agent header to send. Include a contact for bucket owners
    #[arg(long, value_name = "TEXT", default_value_t = RemoteOptions::default().user_agent)]
    user_agent: String,
    /// Timeout in seconds for each page of a listing, 1 to 600
    #[arg(long, value_name = "SECONDS", default_value_t = 120, value_parser = clap::value_parser!(u64).range(1..=600))]
    timeout: u64,
    /// Number of attempts for each page of a listing, 1 to 10
    #[arg(long, value_name = "N", default_value_t = 6, value_parser = clap::value_parser!(u32).range(1..=10))]
    attempts: u32,
    /// Allow buckets at private IP addresses
    #[arg(long)]
    allow_private: bool,
}

impl RequestArguments {
    fn options(self, settings: &Settings, removal_limit: Option<RemovalLimit>) -> CrawlOptions {
        let remote = RemoteOptions {
            rate: settings.crawl_rate,
            provider_rate: Some(settings.crawl_provider_rate),
            user_agent: self.user_agent,
            timeout: self.timeout,
            attempts: self.attempts,
            allows_private: self.allow_private,
            ..RemoteOptions::default()
        };
        let of_keys = KeyLimits {
            turn: Duration::from_secs(settings.crawl_key_seconds),
            bytes: settings.crawl_key_mb << 20,
            files: settings.crawl_key_files,
            allows_private: false,
        };
        CrawlOptions {
            remote,
            removal_limit,
            lease_seconds: settings.crawl_lease,
            lists: settings.crawl_lists(),
            listing_bytes: CrawlOptions::LISTING_BYTES,
            turn: None,
            of_keys,
        }
    }
}

pub fn run(
    context: &JobContext,
    command: CrawlCommand,
    settings: &Settings,
    removal_limit: RemovalLimit,
) -> anyhow::Result<ExitCode> {
    match command {
        CrawlCommand::Add(arguments) => add(context, arguments, &settings.crawl_lists())?,
        CrawlCommand::List { json } => {
            Output::from_json_flag(json).print_list(&list_crawls(context)?, line)?;
        }
        CrawlCommand::Run(arguments) => {
            let limit = (!arguments.accept_removals).then_some(removal_limit);
            let options = arguments.requests.options(settings, limit);
            let checkpoints = CheckpointPolicy::of(settings);
            let outcomes = run_crawls(context, arguments.id, &options, checkpoints)?;
            Output::from_json_flag(arguments.json).print_list(&outcomes, outcome_line)?;
            if outcomes.iter().any(|done| !done.complete) {
                return Ok(ExitCode::FAILURE);
            }
        }
        CrawlCommand::Pause { id } => pause_crawl(context, id, true)?,
        CrawlCommand::Resume { id } => pause_crawl(context, id, false)?,
        CrawlCommand::Remove { id } => remove_crawl(context, id)?,
    }
    Ok(ExitCode::SUCCESS)
}

/// How often to check for due crawls.
const LOOK: Duration = Duration::from_secs(1);
/// How long to wait after an index or database error.
const AFTER_FAILURE: Duration = Duration::from_secs(10);

/// Runs crawls as they become due, until the process is stopped.
pub fn crawl_forever(
    context: &JobContext,
    arguments: CrawlerArguments,
    settings: &Settings,
    removal_limit: RemovalLimit,
) -> anyhow::Result<ExitCode> {
    let options = arguments.requests.options(settings, Some(removal_limit));
    let options = CrawlOptions { turn: Some(options.of_keys.turn), ..options };
    let output = Output::from_json_flag(false);
    loop {
        let pause = match crawl_next(context, &[], &options, CheckpointPolicy::of(settings)) {
            Ok(Some(done)) => {
                output.print_list(&[done], outcome_line)?;
                continue;
            }
            Ok(None) => LOOK,
            Err(error) => {
                log::error!("crawls cannot run: {error}");
                AFTER_FAILURE
            }
        };
        std::thread::sleep(pause);
    }
}

fn outcome_line(done: &CrawlOutcome) -> String {
    format!("crawl {} of {}: {}", done.crawl, done.bucket, terminal_safe(&done.outcome))
}

fn add(context: &JobContext, arguments: AddArguments, lists: &CrawlLists) -> anyhow::Result<()> {
    let AddArguments { urls, every, prefix, until, format, bucket, kind, gone_after, json } =
        arguments;
    if bucket.is_some() && urls.len() > 1 {
        anyhow::bail!("--bucket can only be used with a single URL");
    }
    if until.is_some_and(|end| end <= context.clock.unix()) {
        anyhow::bail!("--until must be in the future");
    }
    let request = |url| CrawlRequest {
        url,
        format: format.clone(),
        bucket: bucket.clone(),
        kind: kind.clone(),
        prefix: prefix.clone(),
        every_seconds: every,
        ends_at: until,
        gone_after_days: gone_after,
    };
    let excluded = urls.iter().find(|url| {
        let address = Address::parse(bucket.as_ref().unwrap_or(url));
        address.is_ok_and(|address| !lists.permit(address.as_str(), url))
    });
    if let Some(url) = excluded {
        anyhow::bail!("{url}: CRAWL_ALLOW or CRAWL_DENY excludes the bucket");
    }
    let ids = add_crawls(context, urls.into_iter().map(request).collect())?;
    Output::from_json_flag(json).print_list(&ids, |id| format!("crawl {id} added"))?;
    Ok(())
}

/// Parses the interval between runs.
fn every(text: &str) -> Result<i64, String> {
    let wrong = || "must be at least a minute, such as 24h, 30m or 7d".to_owned();
    let span: Span = text.parse().map_err(|_| wrong())?;
    let days = SpanRelativeTo::days_are_24_hours();
    let seconds = span.total((Unit::Second, days)).map_err(|_| wrong())?;
    if seconds >= 60.0 { Ok(seconds as i64) } else { Err(wrong()) }
}

fn line(crawl: &Crawl) -> String {
    let when =
        |second| Timestamp::from_second(second).map_or_else(|_| String::new(), |t| t.to_string());
    let prefix = match crawl.prefix.as_str() {
        "" => String::new(),
        prefix => format!(" below {}", terminal_safe(prefix)),
    };
    let state =
        if crawl.paused { "paused".to_owned() } else { format!("due {}", when(crawl.due_at)) };
    let refused =
        crawl.gone_since.map_or(String::new(), |at| format!(", refused since {}", when(at)));
    let pages = match crawl.pages {
        0 => String::new(),
        pages => format!(", {pages} pages listed"),
    };
    let end = crawl.ends_at.map_or(String::new(), |end| format!(", until {}", when(end)));
    let last = crawl.last_at.map_or(String::new(), |at| {
        format!("; last run {}: {}", when(at), terminal_safe(&crawl.outcome))
    });
    let (id, url, every) = (crawl.id, terminal_safe(&crawl.url), crawl.every_seconds);
    format!("{id} {url}{prefix}, every {every} s, {state}{pages}{refused}{end}{last}")
}

#[cfg(test)]
mod tests {
    use super::every;

    #[test]
    fn intervals_are_at_least_a_minute() {
        let times = ["24h", "30m", "7d", "1h 30m", "60s"].map(every);
        assert_eq!(times, [86_400, 1_800, 604_800, 5_400, 60].map(Ok));
        for text in ["", "24", "59s", "-1h", "1 month"] {
            assert!(every(text).is_err(), "{text}");
        }
    }
}
