//! The command `crawl`.

use std::process::ExitCode;

use batch::Output;
use jiff::{Span, SpanRelativeTo, Timestamp, Unit};

use super::sources::{address, kind, rate};
use crate::engine::RemovalLimit;
use crate::jobs::{
    CheckpointPolicy, Crawl, CrawlOptions, CrawlRequest, JobContext, RemoteOptions, add_crawls,
    list_crawls, pause_crawl, remove_crawl, run_crawls,
};

/// Exit statuses, shown by `--help`.
const STATUSES: &str = "\
Exit status:
  0  the listings of all crawls that were due are published
  1  failed, or a listing is incomplete or unavailable
  2  usage";

/// Manages buckets that are listed regularly.
#[derive(clap::Subcommand, Debug)]
pub enum CrawlCommand {
    /// Add public buckets; the first run is due immediately
    Add(AddArguments),
    /// List crawls with their next and last runs
    List {
        /// Print a JSON array instead of lines
        #[arg(long)]
        json: bool,
    },
    /// Run a crawl, or all that are due, one after another
    Run(RunArguments),
    /// Let a crawl only run by its id
    Pause {
        /// The crawl
        #[arg(value_name = "ID")]
        id: i64,
    },
    /// Let a paused crawl run when it is due
    Resume {
        /// The crawl
        #[arg(value_name = "ID")]
        id: i64,
    },
    /// Remove a crawl; the files of its bucket stay in the index
    Remove {
        /// The crawl
        #[arg(value_name = "ID")]
        id: i64,
    },
}

/// Arguments of `crawl add`.
#[derive(clap::Args, Debug)]
pub struct AddArguments {
    /// URLs of public buckets (`https://NAME.s3.amazonaws.com/`)
    #[arg(value_name = "URL", required = true)]
    urls: Vec<String>,
    /// Time between the beginnings of two runs, at least a minute: 24h, 30m, 7d
    #[arg(long, value_name = "TIME", default_value = "24h", value_parser = every)]
    every: i64,
    /// List only files whose path begins with this; then no file is removed
    #[arg(long, value_name = "P", default_value = "")]
    prefix: String,
    /// Last day (2027-12-31) or instant of the crawl
    #[arg(long, value_name = "DATE", value_parser = auth::parse_until)]
    until: Option<i64>,
    /// API of a host whose provider is unknown
    #[arg(long, value_parser = ["s3", "azure", "gcs"], requires_all = ["bucket", "kind"])]
    format: Option<String>,
    /// Address of a bucket whose provider is unknown
    #[arg(long, value_name = "ADDRESS", value_parser = address, requires = "format")]
    bucket: Option<String>,
    /// Type of a bucket whose provider is unknown
    #[arg(long = "type", value_name = "TYPE", value_parser = kind, requires = "format")]
    kind: Option<String>,
    /// Print a JSON array of ids
    #[arg(long)]
    json: bool,
}

/// Arguments of `crawl run`.
#[derive(clap::Args, Debug)]
#[command(after_help = STATUSES)]
pub struct RunArguments {
    /// The crawl, whether it is due or not [default: all that are due]
    #[arg(value_name = "ID")]
    id: Option<i64>,
    /// Maximum number of requests per second, to all buckets together
    #[arg(long, value_name = "N", default_value_t = 2.0, value_parser = rate)]
    rate: f64,
    /// User agent of requests
    #[arg(long, value_name = "TEXT", default_value_t = RemoteOptions::default().user_agent)]
    user_agent: String,
    /// Let buckets have private addresses
    #[arg(long)]
    allow_private: bool,
    /// Print a JSON array of outcomes
    #[arg(long)]
    json: bool,
}

/// Runs a subcommand.
pub fn run(
    context: &JobContext,
    command: CrawlCommand,
    checkpoints: CheckpointPolicy,
    removal_limit: RemovalLimit,
) -> anyhow::Result<ExitCode> {
    match command {
        CrawlCommand::Add(arguments) => add(context, arguments)?,
        CrawlCommand::List { json } => {
            Output::from_json_flag(json).print_list(&list_crawls(context)?, line)?;
        }
        CrawlCommand::Run(arguments) => {
            let remote = RemoteOptions {
                rate: arguments.rate,
                user_agent: arguments.user_agent,
                allows_private: arguments.allow_private,
                ..RemoteOptions::default()
            };
            let options = CrawlOptions { remote, removal_limit };
            let outcomes = run_crawls(context, arguments.id, &options, checkpoints)?;
            Output::from_json_flag(arguments.json).print_list(&outcomes, |done| {
                format!("crawl {} of {}: {}", done.crawl, done.bucket, done.outcome)
            })?;
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

fn add(context: &JobContext, arguments: AddArguments) -> anyhow::Result<()> {
    let AddArguments { urls, every, prefix, until, format, bucket, kind, json } = arguments;
    if bucket.is_some() && urls.len() > 1 {
        anyhow::bail!("--bucket is for one URL");
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
    };
    let ids = add_crawls(context, urls.into_iter().map(request).collect())?;
    Output::from_json_flag(json).print_list(&ids, |id| format!("crawl {id} added"))?;
    Ok(())
}

/// Parses a time between two runs.
fn every(text: &str) -> Result<i64, String> {
    let wrong = || "write a time of at least a minute, such as 24h, 30m or 7d".to_owned();
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
        prefix => format!(" below {prefix}"),
    };
    let state =
        if crawl.paused { "paused".to_owned() } else { format!("due {}", when(crawl.due_at)) };
    let end = crawl.ends_at.map_or(String::new(), |end| format!(", until {}", when(end)));
    let last = crawl
        .last_at
        .map_or(String::new(), |at| format!("; last run {}: {}", when(at), crawl.outcome));
    let (id, url, every) = (crawl.id, &crawl.url, crawl.every_seconds);
    format!("{id} {url}{prefix}, every {every} s, {state}{end}{last}")
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
