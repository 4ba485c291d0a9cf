//! Runs crawls: lists the bucket and publishes the listing.

use std::time::Instant;

use database::DatabaseError;
use serde::Serialize;

use super::held_crawl::{HeldCrawl, NO_KEY, Wanted};
use super::list::{is_old, list_bucket};
use super::manage::unknown;
use super::options::CrawlOptions;
use super::publish::{Published, publish};
use super::removed_names::has_removed_names;
use crate::engine::{EngineError, PublishCounts};
use crate::jobs::context::JobContext;
use crate::jobs::error::{JobError, losses_text};
use crate::jobs::load::abort_stopped;
use crate::jobs::options::CheckpointPolicy;
use crate::jobs::reasons::{printable, shortened};
use crate::jobs::remote::{Refusal, RemoteOptions};
use crate::model::file_etag::ChangedFiles;
use crate::store::crawl_listings::{self, RunEnd};
use crate::store::crawls::{self, Crawl};
use crate::store::{buckets, generations, removals};

/// Seconds before retrying after a temporary failure.
const AGAIN: i64 = 60;
/// Why the index might differ from a complete listing.
const OVERLAPPED: &str = "part of the bucket has been loaded since the listing started";
/// Seconds in a day.
const DAY: i64 = 86_400;

/// Result of a crawl run.
#[derive(Clone, Debug, Serialize)]
pub struct CrawlOutcome {
    pub crawl: i64,
    /// Bucket address.
    pub bucket: String,
    /// Whether a complete listing was published.
    pub complete: bool,
    /// Files that weren't in the index.
    pub new: u64,
    /// Files with a different size, date or ETag.
    pub changed: u64,
    /// Files that are no longer listed.
    pub gone: u64,
    /// A description of the outcome.
    pub outcome: String,
}

impl CrawlOutcome {
    fn failed(held: &HeldCrawl, outcome: String) -> Self {
        let (crawl, bucket) = (held.crawl.id, held.crawl.bucket.clone());
        Self { crawl, bucket, complete: false, new: 0, changed: 0, gone: 0, outcome }
    }
}

/// Runs a single crawl, or every crawl that is due when the command begins. A crawl resumes after
/// the last stored page.
///
/// # Errors
/// Returns an error if there is no such crawl, if another process is listing it, or if the index or
/// the database fails.
pub fn run_crawls(
    context: &JobContext,
    id: Option<i64>,
    options: &CrawlOptions,
    checkpoints: CheckpointPolicy,
) -> Result<Vec<CrawlOutcome>, JobError> {
    let Some(id) = id else {
        let (mut outcomes, mut done) = (Vec::new(), Vec::new());
        // The command must end even if keys keep adding crawls.
        let begun = Some(context.clock.unix());
        while let Some(held) =
            HeldCrawl::claim(context, Wanted::Due(begun, &done), options.lease_seconds)?
        {
            let outcome = run(context, held, options, checkpoints)?;
            done.push(outcome.crawl);
            outcomes.push(outcome);
        }
        return Ok(outcomes);
    };
    match HeldCrawl::claim(context, Wanted::One(id), options.lease_seconds)? {
        Some(held) => Ok(vec![run(context, held, options, checkpoints)?]),
        None if context.pools.read_blocking(|db| crawls::by_id(db, id))?.is_none() => {
            Err(unknown(id))
        }
        None => Err(JobError::Taken(id)),
    }
}

/// Runs the crawl that has been due the longest and isn't in `except`. Returns `None` if none is
/// due.
///
/// # Errors
/// Returns an error if the index or the database fails.
pub fn crawl_next(
    context: &JobContext,
    except: &[i64],
    options: &CrawlOptions,
    checkpoints: CheckpointPolicy,
) -> Result<Option<CrawlOutcome>, JobError> {
    let held = HeldCrawl::claim(context, Wanted::Due(None, except), options.lease_seconds)?;
    held.map(|held| run(context, held, options, checkpoints)).transpose()
}

fn run(
    context: &JobContext,
    mut held: HeldCrawl,
    options: &CrawlOptions,
    checkpoints: CheckpointPolicy,
) -> Result<CrawlOutcome, JobError> {
    match run_held(context, &mut held, options, checkpoints) {
        // The crawl was removed or now belongs to another process, so there's nothing to record.
        Err(error @ JobError::Taken(_)) => {
            let text = taken_text(context, &held, &error)?;
            Ok(CrawlOutcome::failed(&held, format!("failed: {text}")))
        }
        // Move on to other crawls, unless even the failure can't be recorded.
        Err(error @ (JobError::Index(_) | JobError::Store(_) | JobError::Io(_))) => {
            if let Err(second) = put_off(context, &held, &recorded_failure(&held, &error)) {
                log::warn!("crawl {}: its failure cannot be recorded: {second}", held.crawl.id);
                return Err(error);
            }
            log::error!("crawl {}: {error}", held.crawl.id);
            Ok(CrawlOutcome::failed(&held, format!("failed: {error}")))
        }
        done => done,
    }
}

fn run_held(
    context: &JobContext,
    held: &mut HeldCrawl,
    options: &CrawlOptions,
    checkpoints: CheckpointPolicy,
) -> Result<CrawlOutcome, JobError> {
    let started = context.clock.unix();
    if !held.may_run()? {
        let text = format!("paused: {NO_KEY}");
        held.update(|db, held| {
            let is_held = crawl_listings::put_off(db, held, (started, started), &text)?;
            Ok(is_held && crawls::set_paused(db, held.id, true)?)
        })?;
        return Ok(CrawlOutcome::failed(held, text));
    }
    if !options.lists.permit(&held.crawl.bucket, &held.crawl.url) {
        let why = "CRAWL_ALLOW or CRAWL_DENY excludes the bucket".to_owned();
        return finish(context, held, options, started, Err(JobError::Invalid(why)));
    }
    if context.pools.read_blocking(|db| removals::hides_bucket(db, &held.crawl.bucket))? {
        let why = "the bucket is on the removal list".to_owned();
        return finish(context, held, options, started, Err(JobError::Invalid(why)));
    }
    // If the whole listing is stored and recent, it only needs to be published.
    let refusal = match held.crawl.is_listed && !is_old(&held.crawl, started) {
        true => Ok(None),
        false => {
            // Only operators are allowed to list private hosts.
            let may_be_private = held.crawl.key_id.is_none() || options.of_keys.allows_private;
            let allows_private = options.remote.allows_private && may_be_private;
            let is_of_key = held.crawl.key_id.is_some();
            let deadline = is_of_key.then(|| Instant::now() + options.of_keys.turn);
            let remote = RemoteOptions { allows_private, deadline, ..options.remote.clone() };
            list_bucket(context, held, &remote, options)
        }
    };
    let done = match refusal {
        Ok(None) if held.crawl.pages > 0 => publish(context, held, options, checkpoints),
        Ok(None) => Err(JobError::Invalid(held.crawl.broken.clone().unwrap_or_default())),
        Ok(Some(refusal)) => Err(JobError::Refused { text: refusal.reason.clone(), refusal }),
        Err(error) => Err(error),
    };
    finish(context, held, options, started, done)
}

/// Records the result of a run.
fn finish(
    context: &JobContext,
    held: &HeldCrawl,
    options: &CrawlOptions,
    started: i64,
    done: Result<Published, JobError>,
) -> Result<CrawlOutcome, JobError> {
    let (id, bucket) = (held.crawl.id, held.crawl.bucket.clone());
    let failed = |text: String| CrawlOutcome::failed(held, format!("failed: {text}"));
    let error = match done {
        Ok(Published { report, is_incomplete, has_compared_etags, changed: etags }) => {
            let note = report.tally.incomplete.first().or(report.truncated.first()).cloned();
            let note = note.or(is_incomplete.then(|| OVERLAPPED.to_owned()));
            let is_whole = note.is_none();
            // The listing of a prefix never covers the bucket.
            let partial = report.tally.partial.into_iter().next();
            let note = note.or(partial.filter(|_| held.crawl.prefix.is_empty()));
            let complete = note.is_none();
            let incomplete = note.map_or(String::new(), |note| format!("; incomplete: {note}"));
            let PublishCounts { added: new, replaced: changed, removed: gone, .. } = report.counts;
            let outcome = format!("{new} new, {changed} changed, {gone} gone{incomplete}");
            let run = match (has_compared_etags, is_whole) {
                (true, true) => Run::Complete,
                (true, false) => Run::Incomplete(&etags),
                (false, _) => Run::Answered,
            };
            record(held, started, &outcome, run)?;
            return Ok(CrawlOutcome { crawl: id, bucket, complete, new, changed, gone, outcome });
        }
        Err(error) => error,
    };
    match error {
        // The host might respond soon, or the other command might finish. Keep the pages listed so
        // far.
        JobError::Unreachable { .. } | JobError::Source { .. } => {
            let outcome = failed(error.to_string());
            if held.crawl.key_id.is_some() {
                log::warn!("crawl {id}: {error}");
            }
            put_off(context, held, &recorded_failure(held, &error))?;
            Ok(outcome)
        }
        JobError::Stopped(_) | JobError::Index(EngineError::Locked(_)) => {
            let recorded = recorded_failure(held, &error);
            if !has_waited(&held.crawl, &recorded) && has_removed_names(context, &held.crawl)? {
                record(held, started, &recorded, Run::Failed)?;
            } else {
                put_off(context, held, &recorded)?;
            }
            Ok(failed(error.to_string()))
        }
        JobError::TurnOver => {
            let outcome = CrawlOutcome::failed(held, error.to_string());
            put_off(context, held, &outcome.outcome)?;
            Ok(outcome)
        }
        JobError::Paused => {
            let outcome = CrawlOutcome::failed(held, error.to_string());
            let now = context.clock.unix();
            let text = stored(&outcome.outcome);
            held.update(|db, held| crawl_listings::put_off(db, held, (now, now), &text))?;
            Ok(outcome)
        }
        JobError::Taken(_) => Ok(failed(taken_text(context, held, &error)?)),
        JobError::Index(_) | JobError::Store(_) | JobError::Io(_) => Err(error),
        JobError::Refused { text, refusal } => {
            let mut outcome = failed(text);
            outcome.outcome += &refuse(held, started, &refusal, &outcome.outcome)?;
            Ok(outcome)
        }
        JobError::TooManyRemoved { buckets, .. } => {
            abort_stopped(context)?;
            let losses = losses_text(&buckets);
            let private = if options.remote.allows_private { " --allow-private" } else { "" };
            let command = format!("buckets crawl run {id} --accept-removals{private}");
            let outcome = failed(format!("{losses}; to publish anyway, run {command}"));
            let of_key = format!("failed: {losses}; the operator of this service can allow it");
            let is_of_key = held.crawl.key_id.is_some();
            let text = if is_of_key { &of_key } else { &outcome.outcome };
            record(held, started, text, Run::Answered)?;
            Ok(outcome)
        }
        other => {
            let outcome = failed(other.to_string());
            record(held, started, &outcome.outcome, Run::Failed)?;
            Ok(outcome)
        }
    }
}

/// Explains why the crawl is no longer held. A takedown drops the stored pages, so it also ends the
/// listing.
fn taken_text(
    context: &JobContext,
    held: &HeldCrawl,
    error: &JobError,
) -> Result<String, JobError> {
    let bucket = &held.crawl.bucket;
    let takedowns = context.pools.read_blocking(|db| removals::of_bucket(db, bucket))?;
    Ok(if takedowns.iter().any(|removal| removal.prefix.is_empty()) {
        "the bucket is on the removal list".to_owned()
    } else if takedowns.is_empty() {
        error.to_string()
    } else {
        format!("{error}, or a takedown dropped its pages")
    })
}

/// Returns `true` if an earlier run had to wait with the same pages for the same reason. It has
/// searched them for removed names, and later takedowns drop pages themselves.
fn has_waited(crawl: &Crawl, outcome: &str) -> bool {
    crawl.outcome == stored(outcome) && crawl.last_at > Some(crawl.begun_at)
}

/// Records a temporary failure.
fn put_off(context: &JobContext, held: &HeldCrawl, outcome: &str) -> Result<(), JobError> {
    let now = context.clock.unix();
    let (text, again) = (stored(outcome), now.saturating_add(AGAIN));
    held.update(|db, held| crawl_listings::put_off(db, held, (now, again), &text))
}

/// Returns the outcome to record for a failure. Since keys can read the outcomes of their crawls,
/// it doesn't contain internal causes and doesn't reveal which internal hostnames exist.
fn recorded_failure(held: &HeldCrawl, error: &JobError) -> String {
    if held.crawl.key_id.is_none() {
        return format!("failed: {error}");
    }
    let text = match error {
        JobError::Unreachable { .. } => "the host cannot be reached; it will be retried",
        JobError::Stopped(_) | JobError::Index(EngineError::Locked(_)) => {
            "another command is writing; it will be retried"
        }
        JobError::Index(_) | JobError::Store(_) | JobError::Io(_) => {
            "the index or the database failed; it will be retried"
        }
        other => return format!("failed: {other}"),
    };
    format!("failed: {text}")
}

/// Shortens and sanitises an outcome for the database.
fn stored(outcome: &str) -> String {
    printable(&shortened(outcome))
}

/// How a run ended.
#[derive(Clone, Copy)]
enum Run<'a> {
    /// The complete listing was published, so the next listing is compared with its ETags. After
    /// any other run, the next listing is still compared with the older ETags, so that no change is
    /// missed.
    Complete,
    /// An incomplete listing was published, which reported that the ETags of these files changed.
    /// The next listing is compared with their new ETags, so that they are reported once.
    Incomplete(&'a ChangedFiles),
    /// The bucket responded with a listing, so it isn't gone.
    Answered,
    /// The run failed, possibly before it requested the bucket.
    Failed,
}

/// Records a run. If the bucket was hidden and has now responded, this makes it visible again.
fn record(held: &HeldCrawl, started: i64, outcome: &str, run: Run<'_>) -> Result<(), JobError> {
    let is_answered = !matches!(run, Run::Failed);
    let gone_since = held.crawl.gone_since.filter(|_| !is_answered);
    let due_at = started.saturating_add(held.crawl.every_seconds);
    let (text, keeps_etags) = (stored(outcome), matches!(run, Run::Complete));
    let reported = match run {
        Run::Incomplete(etags) => Some(etags),
        Run::Complete | Run::Answered | Run::Failed => None,
    };
    let end = RunEnd { started, due_at, outcome: &text, gone_since, keeps_etags, reported };
    held.update(|db, held_crawl| {
        let is_held = crawl_listings::record(db, held_crawl, end)?;
        if is_held && is_answered && buckets::show(db, &held.crawl.bucket)? {
            generations::touch(db)?;
        }
        Ok(is_held)
    })
}

/// Records a refusal. Hides the bucket if access has been refused for the crawl's configured number
/// of days. Returns a note to append to the outcome.
fn refuse(
    held: &HeldCrawl,
    started: i64,
    refusal: &Refusal,
    outcome: &str,
) -> Result<String, JobError> {
    let crawl = &held.crawl;
    let is_gone = matches!(refusal.status, Some(401 | 403 | 404));
    let gone_since = if is_gone { crawl.gone_since.or(Some(started)) } else { crawl.gone_since };
    let days = gone_since.map_or(0, |since| (started - since) / DAY);
    let hides = is_gone && crawl.gone_after_days.is_some_and(|most| days >= most);
    let note = if hides {
        format!("; hidden, because it was refused for {days} days")
    } else {
        String::new()
    };
    let text = stored(&format!("{outcome}{note}"));
    let due_at = started.saturating_add(crawl.every_seconds);
    let (keeps_etags, reported) = (false, None);
    let end = RunEnd { started, due_at, outcome: &text, gone_since, keeps_etags, reported };
    held.update(|db, held_crawl| -> Result<bool, DatabaseError> {
        let is_held = crawl_listings::record(db, held_crawl, end)?;
        if is_held && hides && buckets::hide(db, &crawl.bucket, started)? {
            generations::touch(db)?;
            log::warn!("{} is hidden: it was refused for {days} days", crawl.bucket);
        }
        Ok(is_held)
    })?;
    Ok(note)
}
