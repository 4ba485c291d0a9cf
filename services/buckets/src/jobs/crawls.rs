//! Lists public buckets again and again.

use serde::Serialize;

use super::context::JobContext;
use super::error::{JobError, losses_text};
use super::formats::Defaults;
use super::load::{abort_stopped, load, resume};
use super::max_errors::MaxErrors;
use super::options::{CheckpointPolicy, LoadOptions};
use super::remote::{Listing, RemoteOptions};
use super::report::Report;
use super::sources::sources_of;
use crate::engine::{Mode, RemovalLimit};
use crate::model::address::{Address, AddressError};
pub use crate::store::crawls::Crawl;
use crate::store::crawls::{self, NewCrawl};
use crate::store::load_runs;

/// A bucket to crawl, as given by the operator.
#[derive(Clone, Debug, Default)]
pub struct CrawlRequest {
    /// URL of the bucket.
    pub url: String,
    /// `--format`, for hosts of unknown providers.
    pub format: Option<String>,
    /// `--bucket`, for hosts of unknown providers.
    pub bucket: Option<String>,
    /// `--type`, for hosts of unknown providers.
    pub kind: Option<String>,
    /// `--prefix`.
    pub prefix: String,
    /// Seconds between two runs.
    pub every_seconds: i64,
    /// `--until` in Unix seconds.
    pub ends_at: Option<i64>,
}

impl CrawlRequest {
    /// Checks that the bucket can be listed.
    fn checked(self) -> Result<NewCrawl, JobError> {
        let defaults = Defaults {
            bucket: self.bucket.clone(),
            kind: self.kind.clone(),
            format: self.format.as_deref().and_then(|name| name.parse().ok()),
            columns: None,
        };
        let invalid = |why: String| JobError::Invalid(format!("{}: {why}", self.url));
        let listing = Listing::of(&self.url, &defaults)?;
        let kind = self.kind.as_deref().map(str::parse).transpose();
        let kind = kind.map_err(|error: AddressError| invalid(error.to_string()))?;
        let typed = Address::parse_typed(listing.bucket(), kind);
        let (address, _) = typed.map_err(|error| invalid(error.to_string()))?;
        let bucket = address.to_string();
        let Self { url, format, kind, prefix, every_seconds, ends_at, .. } = self;
        Ok(NewCrawl { url, bucket, format, kind, prefix, every_seconds, ends_at })
    }
}

/// Stores crawls, which are due immediately. Returns their ids.
///
/// # Errors
/// A bucket cannot be listed, or is crawled already. Then none is stored.
pub fn add_crawls(context: &JobContext, requests: Vec<CrawlRequest>) -> Result<Vec<i64>, JobError> {
    let new: Vec<NewCrawl> =
        requests.into_iter().map(CrawlRequest::checked).collect::<Result<_, _>>()?;
    let now = context.clock.unix();
    context.pools.write_blocking(|db| {
        let mut ids = Vec::new();
        for crawl in &new {
            if let Some(id) = crawls::find(db, &crawl.bucket, &crawl.prefix)? {
                let text = format!("{}: crawl {id} lists this bucket already", crawl.url);
                return Err(JobError::Invalid(text));
            }
            ids.push(crawls::add(db, crawl, now)?);
        }
        Ok(ids)
    })
}

/// Returns all crawls in the order of their ids.
pub fn list_crawls(context: &JobContext) -> Result<Vec<Crawl>, JobError> {
    Ok(context.pools.read_blocking(crawls::all)?)
}

/// Pauses a crawl, or lets it run again when it is due.
///
/// # Errors
/// The crawl does not exist.
pub fn pause_crawl(context: &JobContext, id: i64, paused: bool) -> Result<(), JobError> {
    let found = context.pools.write_blocking(|db| crawls::set_paused(db, id, paused))?;
    if found { Ok(()) } else { Err(unknown(id)) }
}

/// Removes a crawl. The files of its bucket stay in the index.
///
/// # Errors
/// The crawl does not exist.
pub fn remove_crawl(context: &JobContext, id: i64) -> Result<(), JobError> {
    let found = context.pools.write_blocking(|db| crawls::remove(db, id))?;
    if found { Ok(()) } else { Err(unknown(id)) }
}

fn unknown(id: i64) -> JobError {
    JobError::Invalid(format!("crawl {id} does not exist"))
}

/// The outcome of a run of a crawl.
#[derive(Clone, Debug, Serialize)]
pub struct CrawlOutcome {
    /// The crawl.
    pub crawl: i64,
    /// Address of the bucket.
    pub bucket: String,
    /// Whether a complete listing was published.
    pub complete: bool,
    /// Files that were not in the index.
    pub new: u64,
    /// Files with another size or date.
    pub changed: u64,
    /// Files that are no longer listed.
    pub gone: u64,
    /// The outcome in words.
    pub outcome: String,
}

/// How crawls run.
#[derive(Clone, Debug)]
pub struct CrawlOptions {
    /// Options for listing buckets.
    pub remote: RemoteOptions,
    /// The limit on removed files.
    pub removal_limit: RemovalLimit,
}

/// Runs one crawl, or all that are due. A crawl that was killed is resumed first, after the last
/// page that it has read.
///
/// # Errors
/// The crawl does not exist, the index or the database failed, or another command is writing.
pub fn run_crawls(
    context: &JobContext,
    id: Option<i64>,
    options: &CrawlOptions,
    checkpoints: CheckpointPolicy,
) -> Result<Vec<CrawlOutcome>, JobError> {
    let now = context.clock.unix();
    let mut due = list_crawls(context)?;
    due.retain(|crawl| match id {
        Some(id) => crawl.id == id,
        None => {
            let has_ended = crawl.ends_at.is_some_and(|end| end <= now);
            !crawl.paused && !has_ended && crawl.due_at <= now
        }
    });
    if let (Some(id), []) = (id, &due[..]) {
        return Err(unknown(id));
    }
    let stopped = stopped_run(context)?;
    let is_stopped = |crawl: &Crawl| stopped.as_ref().is_some_and(|(_, run)| is_of(run, crawl));
    // The run of another crawl would abort it.
    due.sort_by_key(|crawl| !is_stopped(crawl));
    let mut outcomes = Vec::new();
    for crawl in &due {
        let started = context.clock.unix();
        let run = stopped.as_ref().filter(|_| is_stopped(crawl)).map(|(run, _)| *run);
        // Every page is a checkpoint, so a kill costs one page.
        let checkpoints = CheckpointPolicy { files: 0, ..checkpoints };
        let done = match run {
            Some(run) => resume(context, run, checkpoints),
            None => load(context, &load_options(crawl, options)?, checkpoints),
        };
        outcomes.push(finish(context, crawl, started, done)?);
    }
    Ok(outcomes)
}

/// Records the outcome of a run.
fn finish(
    context: &JobContext,
    crawl: &Crawl,
    started: i64,
    done: Result<Report, JobError>,
) -> Result<CrawlOutcome, JobError> {
    let (id, bucket) = (crawl.id, crawl.bucket.clone());
    let mut due_at = started.saturating_add(crawl.every_seconds);
    let outcome = match done {
        Ok(report) => {
            let counts = &report.counts;
            let (new, changed, gone) = (counts.added, counts.replaced, counts.removed);
            let note = report.tally.incomplete.first().or(report.truncated.first());
            let incomplete = note.map_or(String::new(), |note| format!("; incomplete: {note}"));
            let outcome = format!("{new} new, {changed} changed, {gone} gone{incomplete}");
            let complete = note.is_none();
            CrawlOutcome { crawl: id, bucket, complete, new, changed, gone, outcome }
        }
        Err(error @ (JobError::Index(_) | JobError::Store(_) | JobError::Io(_))) => {
            return Err(error);
        }
        Err(error) => {
            match &error {
                // The host may answer soon. Until another command writes, the run can be resumed.
                JobError::Unreachable { .. } | JobError::Source { .. } => due_at = crawl.due_at,
                _ => abort_stopped(context)?,
            }
            let reason = match &error {
                JobError::TooManyRemoved { buckets, .. } => {
                    let losses = losses_text(buckets);
                    format!("{losses}; buckets load {} --accept-removals does it", crawl.url)
                }
                other => other.to_string(),
            };
            let outcome = format!("failed: {reason}");
            let (complete, new, changed, gone) = (false, 0, 0, 0);
            CrawlOutcome { crawl: id, bucket, complete, new, changed, gone, outcome }
        }
    };
    let text = &outcome.outcome;
    context.pools.write_blocking(|db| crawls::record(db, id, (started, due_at), text))?;
    Ok(outcome)
}

/// Returns the run that was stopped, with its options.
fn stopped_run(context: &JobContext) -> Result<Option<(u64, LoadOptions)>, JobError> {
    let open = context.open_index()?.summary().journal.open.as_ref().map(|open| open.run);
    let Some(run) = open else { return Ok(None) };
    let stored = context.pools.read_blocking(|db| load_runs::find(db, run))?;
    let options = stored.and_then(|stored| serde_json::from_str(&stored.options).ok());
    Ok(options.map(|options| (run, options)))
}

/// Returns true if a run lists the bucket and prefix of a crawl, and nothing else.
fn is_of(run: &LoadOptions, crawl: &Crawl) -> bool {
    let [source] = &run.sources[..] else { return false };
    source.url() == Some(crawl.url.as_str())
        && run.remote.prefix == crawl.prefix
        && (&run.format, &run.kind) == (&crawl.format, &crawl.kind)
}

fn load_options(crawl: &Crawl, options: &CrawlOptions) -> Result<LoadOptions, JobError> {
    Ok(LoadOptions {
        format: crawl.format.clone(),
        bucket: crawl.format.is_some().then(|| crawl.bucket.clone()),
        kind: crawl.kind.clone(),
        mode: Mode::Replace,
        replaces_rejected: false,
        max_errors: MaxErrors::Percent(1.0),
        reject: None,
        remote: RemoteOptions { prefix: crawl.prefix.clone(), ..options.remote.clone() },
        removal_limit: Some(options.removal_limit),
        sources: sources_of(&[crawl.url.clone().into()])?,
    })
}
