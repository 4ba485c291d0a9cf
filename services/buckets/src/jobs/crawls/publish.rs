//! Publishes the stored pages of a crawl.

use std::cell::Cell;
use std::time::Duration;

use database::DatabaseError;

use super::held_crawl::HeldCrawl;
use super::options::CrawlOptions;
use crate::engine::{EngineError, Mode, NewerFiles};
use crate::jobs::context::JobContext;
use crate::jobs::error::JobError;
use crate::jobs::load::load_stored;
use crate::jobs::max_errors::MaxErrors;
use crate::jobs::options::{CheckpointPolicy, LoadOptions};
use crate::jobs::remote::RemoteOptions;
use crate::jobs::report::Report;
use crate::jobs::sources::Source;
use crate::jobs::stored_listing::StoredListing;
use crate::store::{buckets, crawl_confirmations, crawls, generations};

/// Time to wait while another command is writing.
const PAUSE: Duration = Duration::from_millis(500);
/// Number of attempts before other crawls get a turn.
const ATTEMPTS: u32 = 20;

/// Publishes the pages. If another command is writing, waits briefly.
pub(super) fn publish(
    context: &JobContext,
    held: &HeldCrawl,
    options: &CrawlOptions,
    checkpoints: CheckpointPolicy,
) -> Result<(Report, Mode), JobError> {
    let options = load_options(held, options);
    let mode = Cell::new(options.mode);
    let load = || {
        load_stored(context, &options, checkpoints, || {
            let (chosen, newer) = newer_files(context, held)?;
            mode.set(chosen);
            Ok((chosen, newer))
        })
    };
    for _ in 1..ATTEMPTS {
        match load() {
            Err(JobError::Index(EngineError::Locked(_))) => std::thread::sleep(PAUSE),
            done => return done.map(|report| (report, mode.get())),
        }
    }
    load().map(|report| (report, mode.get()))
}

/// Checks that the pages may be published: this process holds the crawl, its key is live, and no
/// complete listing of the bucket was published since this one began.
///
/// Returns the mode, and the files that are newer than the listing. If a part of the bucket was loaded
/// since the listing began, files that were added or found unchanged since then are kept. After a
/// rebuild, which renumbers files, all are. Nothing is removed if it is not known which were unchanged. The pages are not refused, so that frequent crawls of a prefix
/// can neither stop longer ones nor keep deleted files.
fn newer_files(
    context: &JobContext,
    held: &HeldCrawl,
) -> Result<(Mode, Option<NewerFiles>), JobError> {
    held.update(crawls::is_held)?;
    held.check_key()?;
    let crawl = &held.crawl;
    let (times, begun, current) =
        context.pools.read_blocking(|db| -> Result<_, DatabaseError> {
            let times = buckets::publish_times(db, &crawl.bucket)?;
            Ok((times, crawls::begun(db, crawl.id)?, generations::read(db)?.generation))
        })?;
    let is_newer = |at: Option<i64>| at.is_some_and(|at| at > crawl.begun_at);
    if is_newer(times.replaced) {
        let why = "another run has loaded the bucket since its listing started";
        return Err(JobError::Invalid(why.to_owned()));
    }
    if !is_newer(times.listed) {
        return Ok((Mode::Replace, None));
    }
    let begun = begun.filter(|begun| begun.generation == i64::from(current));
    let Some(begun) = begun else {
        return Ok((Mode::Append, Some(NewerFiles::default())));
    };
    let (after, confirmed) = (
        begun.id as u64,
        context.pools.read_blocking(|db| crawl_confirmations::find(db, crawl.id))?,
    );
    Ok(match confirmed.is_known() {
        true => (Mode::Replace, Some(NewerFiles { after, confirmed })),
        false => (Mode::Append, Some(NewerFiles { after, ..NewerFiles::default() })),
    })
}

fn load_options(held: &HeldCrawl, options: &CrawlOptions) -> LoadOptions {
    let crawl = &held.crawl;
    let stored = StoredListing {
        crawl: crawl.id,
        listing: crawl.listing,
        begun_at: crawl.begun_at,
        pages: crawl.pages as u64,
        broken: crawl.broken.clone(),
    };
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
