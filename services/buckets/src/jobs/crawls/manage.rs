//! Adds, lists, pauses and removes crawls.

use database::DatabaseError;

use crate::jobs::context::JobContext;
use crate::jobs::error::JobError;
use crate::jobs::formats::Defaults;
use crate::jobs::remote::Listing;
use crate::model::address::{Address, AddressError};
use crate::store::crawls::{self, Crawl, NewCrawl};

/// A crawl requested by an operator.
#[derive(Clone, Debug, Default)]
pub struct CrawlRequest {
    /// Bucket URL.
    pub url: String,
    /// `--format`, for unknown hosts.
    pub format: Option<String>,
    /// `--bucket`, for unknown hosts.
    pub bucket: Option<String>,
    /// `--type`, for unknown hosts.
    pub kind: Option<String>,
    /// `--prefix`
    pub prefix: String,
    /// Seconds between runs.
    pub every_seconds: i64,
    /// `--until` as a Unix time.
    pub ends_at: Option<i64>,
    /// `--gone-after`, in days.
    pub gone_after_days: Option<i64>,
}

impl CrawlRequest {
    /// Checks that we can list the bucket. `key` is the API key that the crawl will belong to.
    ///
    /// # Errors
    /// Returns [`JobError::Invalid`] if we can't.
    pub fn checked(self, key: Option<i64>) -> Result<NewCrawl, JobError> {
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
        let Self { url, format, kind, prefix, every_seconds, ends_at, gone_after_days, .. } = self;
        Ok(NewCrawl {
            url,
            bucket,
            format,
            kind,
            prefix,
            every_seconds,
            ends_at,
            gone_after_days,
            key_id: key,
        })
    }
}

/// Stores crawls and returns their ids. They are due right away.
///
/// # Errors
/// Returns an error if a bucket can't be listed or an operator has already added it. In that case,
/// none of the crawls are stored.
pub fn add_crawls(context: &JobContext, requests: Vec<CrawlRequest>) -> Result<Vec<i64>, JobError> {
    let new: Vec<NewCrawl> =
        requests.into_iter().map(|request| request.checked(None)).collect::<Result<_, _>>()?;
    let now = context.clock.unix();
    context.pools.write_blocking(|db| {
        let mut ids = Vec::new();
        for crawl in &new {
            if let Some(id) = crawls::find(db, &crawl.bucket, &crawl.prefix, None)? {
                let text = format!("{}: crawl {id} already lists this bucket", crawl.url);
                return Err(JobError::Invalid(text));
            }
            ids.push(crawls::add(db, crawl, now)?);
        }
        Ok(ids)
    })
}

/// Returns all crawls, ordered by id.
pub fn list_crawls(context: &JobContext) -> Result<Vec<Crawl>, JobError> {
    Ok(context.pools.read_blocking(crawls::all)?)
}

/// Pauses a crawl, or resumes it. A process that is listing the bucket stops after its current page.
///
/// # Errors
/// Returns an error if there is no such crawl.
pub fn pause_crawl(context: &JobContext, id: i64, paused: bool) -> Result<(), JobError> {
    let before = context.pools.write_blocking(|db| -> Result<Option<Crawl>, DatabaseError> {
        let before = crawls::by_id(db, id)?;
        crawls::set_paused(db, id, paused)?;
        Ok(before)
    })?;
    let before = before.ok_or_else(|| unknown(id))?;
    if paused && !before.paused && before.is_running(context.clock.unix()) {
        log::info!(
            target: "notice",
            "crawl {id} is running: its listing stops after the current page, unless that is the \
             last one"
        );
    }
    Ok(())
}

/// Removes a crawl. Files already in the index stay there.
///
/// # Errors
/// Returns an error if there is no such crawl.
pub fn remove_crawl(context: &JobContext, id: i64) -> Result<(), JobError> {
    let now = context.clock.unix();
    let found = context.pools.write_blocking(|db| crawls::remove(db, id, now))?;
    if found { Ok(()) } else { Err(unknown(id)) }
}

pub(super) fn unknown(id: i64) -> JobError {
    JobError::Invalid(format!("crawl {id} does not exist"))
}
