//! Publishes the pages stored by a crawl.

use std::cell::Cell;
use std::collections::HashSet;
use std::time::Duration;

use database::{DatabaseError, Db};

use super::etags::changed_files;
use super::held_crawl::HeldCrawl;
use super::options::CrawlOptions;
use crate::engine::{EngineError, Limits, Mode, NewerFiles, PublishCounts, each_row_after};
use crate::jobs::context::JobContext;
use crate::jobs::error::JobError;
use crate::jobs::load::load_stored;
use crate::jobs::max_errors::MaxErrors;
use crate::jobs::options::{CheckpointPolicy, LoadOptions};
use crate::jobs::remote::RemoteOptions;
use crate::jobs::report::{Report, Tally};
use crate::jobs::sources::Source;
use crate::jobs::stored_listing::StoredListing;
use crate::jobs::write_session::Session;
use crate::model::file_etag::ChangedFiles;
use crate::model::id_ranges::IdRanges;
use crate::store::crawls::{self, Crawl};
use crate::store::load_runs::{self, LoadRun};
use crate::store::{buckets, crawl_claims, crawl_confirmations, crawl_listings, generations};

/// Time to wait while another command is writing.
const PAUSE: Duration = Duration::from_millis(500);
/// Number of attempts before another crawl gets a turn.
const ATTEMPTS: u32 = 20;

/// How to publish the pages.
struct Chosen {
    mode: Mode,
    newer: Option<NewerFiles>,
    /// Whether the index might differ from the listing because other runs have loaded part of the
    /// bucket.
    is_incomplete: bool,
}

/// A published listing.
pub(super) struct Published {
    pub(super) report: Report,
    /// Copied from [`Chosen`].
    pub(super) is_incomplete: bool,
    /// Whether ETags were compared to find changed files. `false` if an earlier process published
    /// the listing, since its run might have been resumed without the ETags.
    pub(super) has_compared_etags: bool,
    /// Files that the run has replaced because their ETag has changed.
    pub(super) changed: ChangedFiles,
}

/// Publishes the pages. If another command is writing, waits briefly.
pub(super) fn publish(
    context: &JobContext,
    held: &HeldCrawl,
    options: &CrawlOptions,
    checkpoints: CheckpointPolicy,
) -> Result<Published, JobError> {
    let options = load_options(held, options);
    let changed = changed_files(context, &held.crawl)?;
    let (is_incomplete, earlier) = (Cell::new(false), Cell::new(None));
    let replaced = Cell::new(ChangedFiles::default());
    let load = || -> Result<Published, JobError> {
        let loaded = load_stored(context, &options, checkpoints, &changed, |session| {
            if let Some(report) = published_before(context, &held.crawl)? {
                earlier.set(Some(report));
                return Ok(None);
            }
            let chosen = newer_files(context, held)?;
            is_incomplete.set(chosen.is_incomplete);
            replaced.set(replaced_files(session, &held.crawl, &chosen, &changed)?);
            Ok(Some((chosen.mode, chosen.newer)))
        })?;
        let has_compared_etags = loaded.is_some();
        let report = loaded.or_else(|| earlier.take()).unwrap_or_default();
        let (is_incomplete, changed) = (is_incomplete.get(), replaced.take());
        Ok(Published { report, is_incomplete, has_compared_etags, changed })
    };
    for _ in 1..ATTEMPTS {
        match load() {
            Err(JobError::Index(EngineError::Locked(_))) => std::thread::sleep(PAUSE),
            done => return done,
        }
    }
    load()
}

/// Returns the report of the run that published these pages, if its process was killed before it
/// could record the outcome of the crawl.
fn published_before(context: &JobContext, crawl: &Crawl) -> Result<Option<Report>, JobError> {
    let is_own = |source: &Source| {
        let stored = source.stored.as_ref();
        stored.is_some_and(|own| (own.crawl, own.listing) == (crawl.id, crawl.listing))
    };
    let has_own = |run: &LoadRun| {
        let options = serde_json::from_str::<LoadOptions>(&run.options);
        options.is_ok_and(|options| options.sources.iter().any(is_own))
    };
    let report = |run: LoadRun| {
        serde_json::from_str(&run.report).unwrap_or_else(|_| {
            // The process was killed before it recorded its report, so another process recorded the
            // counts.
            let counts: PublishCounts = serde_json::from_str(&run.report).unwrap_or_default();
            let tally =
                Tally { incomplete: crawl.broken.iter().cloned().collect(), ..Tally::default() };
            Report { run: Some(run.id as u64), counts, tally, ..Report::default() }
        })
    };
    let own = context.pools.read_blocking(|db| -> Result<Option<LoadRun>, DatabaseError> {
        for id in load_runs::published_since(db, crawl.begun_at)? {
            if let Some(run) = load_runs::find(db, id)?.filter(&has_own) {
                return Ok(Some(run));
            }
        }
        Ok(None)
    })?;
    Ok(own.map(report))
}

/// Checks that we are allowed to publish the pages: this process must still hold the crawl, its key
/// must be valid, and no complete listing of the bucket must have been published since this listing
/// began.
///
/// If part of the bucket has been loaded since then, the files that those loads added or found
/// unchanged are kept. If we don't know which files were unchanged, only the added files are kept.
/// After a rebuild, which renumbers files, all files are kept. The pages are published in any case.
/// Otherwise, frequent crawls of a prefix could prevent longer crawls from ever publishing and from
/// removing deleted files.
fn newer_files(context: &JobContext, held: &HeldCrawl) -> Result<Chosen, JobError> {
    held.update(crawl_claims::is_held)?;
    held.check_key()?;
    let crawl = &held.crawl;
    let (times, begun, current) =
        context.pools.read_blocking(|db| -> Result<_, DatabaseError> {
            let times = buckets::publish_times(db, &crawl.bucket)?;
            Ok((times, crawl_listings::begun(db, crawl.id)?, generations::read(db)?.generation))
        })?;
    if times.replaced.is_some_and(|at| at > crawl.begun_at) {
        let why = "another run has loaded the bucket since its listing started";
        return Err(JobError::Invalid(why.to_owned()));
    }
    // Files added in the second in which the listing began might be newer too.
    if times.listed.is_none_or(|at| at < crawl.begun_at) {
        return Ok(Chosen { mode: Mode::Replace, newer: None, is_incomplete: false });
    }
    let begun = begun.filter(|begun| begun.generation == i64::from(current));
    let Some(begun) = begun else {
        let newer = Some(NewerFiles::default());
        return Ok(Chosen { mode: Mode::Append, newer, is_incomplete: true });
    };
    let (confirmed, is_older) = context.pools.read_blocking(|db| -> Result<_, DatabaseError> {
        Ok((crawl_confirmations::find(db, crawl.id)?, follows_older_listing(db, crawl)?))
    })?;
    let is_incomplete = is_older || !confirmed.is_known();
    let confirmed = if confirmed.is_known() { confirmed } else { IdRanges::default() };
    let newer = NewerFiles { after: begun.id as u64, confirmed, ..NewerFiles::default() };
    Ok(Chosen { mode: Mode::Replace, newer: Some(newer), is_incomplete })
}

/// Returns the `changed` files without those that the run leaves in the index, because other runs
/// have added them since the listing began.
fn replaced_files(
    session: &Session,
    crawl: &Crawl,
    chosen: &Chosen,
    changed: &ChangedFiles,
) -> Result<ChangedFiles, JobError> {
    let Some(newer) = chosen.newer.as_ref().filter(|_| changed.count() > 0) else {
        return Ok(changed.clone());
    };
    if chosen.mode == Mode::Append {
        return Ok(ChangedFiles::default());
    }
    let pools = &session.context.pools;
    let bucket = pools.read_blocking(|db| buckets::by_address(db, &crawl.bucket))?;
    let Some(bucket) = bucket else { return Ok(changed.clone()) };
    let (own, mut kept) = ((Some(bucket.id), newer.after), HashSet::new());
    each_row_after(&*session.index, own, &Limits::none(), |row| -> Result<(), JobError> {
        kept.extend(changed.find(&row.path, &row.attributes));
        Ok(())
    })?;
    Ok(changed.without(&kept))
}

/// Returns `true` if a run that might cover the bucket started before the crawl's listing but was
/// published afterwards. Files added by such a run count as newer than the listing even though they
/// aren't.
fn follows_older_listing(db: &mut Db, crawl: &Crawl) -> Result<bool, DatabaseError> {
    for id in load_runs::published_since(db, crawl.begun_at)? {
        let Some(run) = load_runs::find(db, id)? else { continue };
        // A run published in the same second may be older than the listing.
        if run.ended_at.is_none_or(|at| at <= crawl.begun_at) {
            continue;
        }
        let Ok(options) = serde_json::from_str::<LoadOptions>(&run.options) else { continue };
        for source in options.sources {
            let is_older = match source.stored {
                None => run.started_at <= crawl.begun_at,
                Some(listing) => {
                    listing.crawl != crawl.id
                        && listing.begun_at <= crawl.begun_at
                        && crawls::by_id(db, listing.crawl)?
                            .is_none_or(|other| other.bucket == crawl.bucket)
                }
            };
            if is_older {
                return Ok(true);
            }
        }
    }
    Ok(false)
}

/// Returns the crawl's listing as far as it is stored.
pub(super) fn stored_listing(crawl: &Crawl) -> StoredListing {
    StoredListing {
        crawl: crawl.id,
        listing: crawl.listing,
        begun_at: crawl.begun_at,
        pages: crawl.pages as u64,
        broken: crawl.broken.clone(),
    }
}

fn load_options(held: &HeldCrawl, options: &CrawlOptions) -> LoadOptions {
    let crawl = &held.crawl;
    let stored = stored_listing(crawl);
    LoadOptions {
        format: crawl.format.clone(),
        bucket: crawl.format.is_some().then(|| crawl.bucket.clone()),
        kind: crawl.kind.clone(),
        mode: Mode::Replace,
        newer: None,
        replaces_rejected: false,
        max_errors: MaxErrors::Percent(1.0),
        reject: None,
        remote: RemoteOptions { prefix: crawl.prefix.clone(), ..options.remote.clone() },
        removal_limit: options.removal_limit,
        sources: vec![Source::of_stored(&crawl.url, stored)],
    }
}
