//! Publishes the stored pages of a crawl.

use std::time::Duration;

use super::held_crawl::HeldCrawl;
use super::options::CrawlOptions;
use crate::engine::{EngineError, Mode};
use crate::jobs::context::JobContext;
use crate::jobs::error::JobError;
use crate::jobs::load::load_stored;
use crate::jobs::max_errors::MaxErrors;
use crate::jobs::options::{CheckpointPolicy, LoadOptions};
use crate::jobs::remote::RemoteOptions;
use crate::jobs::report::Report;
use crate::jobs::sources::Source;
use crate::jobs::stored_listing::StoredListing;
use crate::store::{buckets, crawls};

/// Interval between two attempts to write while another command is writing.
const PAUSE: Duration = Duration::from_millis(500);
/// Number of attempts before other crawls get their turn.
const ATTEMPTS: u32 = 20;

/// Publishes the pages. Waits for a short time if another command is writing.
pub(super) fn publish(
    context: &JobContext,
    held: &HeldCrawl,
    options: &CrawlOptions,
    checkpoints: CheckpointPolicy,
) -> Result<Report, JobError> {
    let options = load_options(held, options);
    for _ in 1..ATTEMPTS {
        match load_stored(context, &options, checkpoints, || check(context, held)) {
            Err(JobError::Index(EngineError::Locked(_))) => std::thread::sleep(PAUSE),
            done => return done,
        }
    }
    load_stored(context, &options, checkpoints, || check(context, held))
}

/// Checks that the pages may be published: this process holds the crawl, its key is live, and the
/// bucket has not been loaded since, because its newer files would be removed.
fn check(context: &JobContext, held: &HeldCrawl) -> Result<(), JobError> {
    held.update(crawls::is_held)?;
    held.check_key()?;
    let crawl = &held.crawl;
    let last = context.pools.read_blocking(|db| buckets::last_listed(db, &crawl.bucket))?;
    if last.is_some_and(|last| last > crawl.begun_at) {
        let why = "another run has loaded the bucket since its listing began";
        return Err(JobError::Invalid(why.to_owned()));
    }
    Ok(())
}

fn load_options(held: &HeldCrawl, options: &CrawlOptions) -> LoadOptions {
    let crawl = &held.crawl;
    let stored = StoredListing {
        crawl: crawl.id,
        listing: crawl.listing,
        pages: crawl.pages as u64,
        broken: crawl.broken.clone(),
    };
    LoadOptions {
        format: crawl.format.clone(),
        bucket: crawl.format.is_some().then(|| crawl.bucket.clone()),
        kind: crawl.kind.clone(),
        mode: Mode::Replace,
        replaces_rejected: false,
        max_errors: MaxErrors::Percent(1.0),
        reject: None,
        remote: RemoteOptions { prefix: crawl.prefix.clone(), ..options.remote.clone() },
        removal_limit: options.removal_limit,
        sources: vec![Source::of_stored(&crawl.url, stored)],
    }
}
