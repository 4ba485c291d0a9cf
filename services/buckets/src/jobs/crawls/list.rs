//! Lists a crawl's bucket and stores the pages.

use std::time::Instant;

use database::DatabaseError;
use serde::{Deserialize, Serialize};

use super::held_crawl::HeldCrawl;
use super::options::CrawlOptions;
use crate::jobs::context::JobContext;
use crate::jobs::error::JobError;
use crate::jobs::formats::{Bad, Defaults, Item, Sink, Skipped, Taken};
use crate::jobs::reasons::{printable, shortened};
use crate::jobs::remote::{Listing, PageSink, Place, Refusal, RemoteOptions, read_pages};
use crate::jobs::stored_listing::compressed;
use crate::model::file_etag::FileEtag;
use crate::store::crawl_listings::{self, ListedPage};
use crate::store::crawls::{self, Crawl, LONGEST_PAUSE};
use crate::store::{crawl_claims, crawl_etags, crawl_pages};

/// Maximum number of pages in a listing.
const MOST_PAGES: i64 = 100_000;

/// Maximum number of entries in a page of a key's crawl. Providers return at most 5,000. Pages that
/// repeat an entry take little storage, but each entry takes time and disk space in the index.
const MOST_ENTRIES: u64 = 10_000;

/// Number of pages between two checks of a key's permissions and storage during its crawl.
const CHECK: i64 = 10;

/// The position at which a listing continues, stored with its last page.
#[derive(Serialize, Deserialize)]
struct Progress {
    #[serde(flatten)]
    place: Place,
    /// Number of files in the stored pages. Earlier versions did not store it.
    #[serde(default)]
    files: u64,
}

/// Returns `true` if the stored pages are too old to be continued or published.
pub(super) fn is_old(crawl: &Crawl, now: i64) -> bool {
    now - crawl.page_at > LONGEST_PAUSE
}

/// Lists the bucket, continuing after the last stored page if possible. If the first page is
/// refused, returns the reason.
pub(super) fn list_bucket(
    context: &JobContext,
    held: &mut HeldCrawl,
    remote: &RemoteOptions,
    options: &CrawlOptions,
) -> Result<Option<Refusal>, JobError> {
    let (now, crawl) = (context.clock.unix(), &mut held.crawl);
    let is_old = is_old(crawl, now);
    let (from, files) = match serde_json::from_str::<Progress>(&crawl.place) {
        Ok(Progress { place, files }) if !is_old => (Some(place), files),
        _ => {
            (crawl.listing, crawl.pages, crawl.is_listed) = (crawl.listing + 1, 0, false);
            (crawl.begun_at, crawl.broken) = (now, None);
            let listing = crawl.listing;
            held.update(|db, held| crawl_listings::begin_listing(db, held, listing, now))?;
            (None, 0)
        }
    };
    let crawl = &held.crawl;
    let listing = Listing::of(&crawl.url, &defaults_of(crawl))?;
    let remote = RemoteOptions { prefix: crawl.prefix.clone(), ..remote.clone() };
    let kind = crawl.kind.clone();
    let bytes = context.pools.read_blocking(|db| -> Result<i64, DatabaseError> {
        let etags = crawl_etags::bytes(db, crawl.id, crawl.listing)?;
        Ok(crawl_pages::bytes(db, crawl.id)? + etags)
    })?;
    let mut pages = Pages {
        context,
        held,
        options,
        pages: crawl.pages,
        entries: 0,
        files,
        etags: Vec::new(),
        bytes,
        begun: Instant::now(),
        refusal: None,
        broken: None,
    };
    let read = read_pages(&listing, kind.as_deref(), &remote, from, &mut pages);
    let Pages { pages, refusal, broken, .. } = pages;
    held.crawl.pages = pages;
    read?;
    if let Some(reason) = broken {
        if refusal.is_none() {
            held.update(|db, held| crawl_listings::end_listing(db, held, &reason))?;
        }
        held.crawl.broken = Some(reason);
    }
    held.crawl.is_listed = true;
    Ok(refusal)
}

/// Returns the values for entries that the pages don't contain themselves.
pub(super) fn defaults_of(crawl: &Crawl) -> Defaults {
    Defaults {
        bucket: crawl.format.is_some().then(|| crawl.bucket.clone()),
        kind: crawl.kind.clone(),
        format: crawl.format.as_deref().and_then(|name| name.parse().ok()),
        columns: None,
    }
}

/// A sink that stores the pages.
struct Pages<'a> {
    context: &'a JobContext,
    held: &'a HeldCrawl,
    options: &'a CrawlOptions,
    pages: i64,
    /// Number of entries in the current page.
    entries: u64,
    /// Number of files in the listing so far.
    files: u64,
    /// Fingerprints of the ETags in the current page.
    etags: Vec<u8>,
    /// Size of the stored pages and ETags, in bytes.
    bytes: i64,
    begun: Instant,
    refusal: Option<Refusal>,
    broken: Option<String>,
}

impl Pages<'_> {
    /// Checks that the key is still allowed to crawl and hasn't exceeded its storage limit.
    fn check_key(&self, key: i64) -> Result<(), JobError> {
        self.held.check_key()?;
        let bytes = self.context.pools.read_blocking(|db| -> Result<i64, DatabaseError> {
            Ok(crawl_pages::bytes_of_key(db, key)? + crawl_etags::bytes_of_key(db, key)?)
        })?;
        if bytes > self.options.of_keys.bytes {
            let why = "the stored pages of the key's crawls are too large";
            return Err(JobError::Invalid(why.to_owned()));
        }
        Ok(())
    }

    /// Returns `true` if the crawl was paused during this run. A crawl that was paused before was
    /// requested by id.
    fn was_paused(&self) -> Result<bool, JobError> {
        let crawl = &self.held.crawl;
        let is_paused = || self.context.pools.read_blocking(|db| crawls::is_paused(db, crawl.id));
        Ok(!crawl.paused && is_paused()?)
    }

    /// Counts an entry of the current page. Returns an error if a key's crawl has too many.
    fn count_entry(&mut self) -> Result<(), JobError> {
        self.entries += 1;
        if self.held.crawl.key_id.is_some() && self.entries > MOST_ENTRIES {
            let why = format!("a page of the listing has more than {MOST_ENTRIES} entries");
            return Err(JobError::Invalid(why));
        }
        Ok(())
    }

    /// Counts a file. Returns an error if a key's crawl has too many.
    fn count_file(&mut self) -> Result<(), JobError> {
        self.files += 1;
        let most = self.options.of_keys.files;
        if self.held.crawl.key_id.is_some() && self.files > most {
            let why = format!("the listing has more than {most} files; use a prefix");
            return Err(JobError::Invalid(why));
        }
        Ok(())
    }
}

impl PageSink for Pages<'_> {
    fn page_done(&mut self, next: Option<&Place>, page: &[u8]) -> Result<(), JobError> {
        let place = match next {
            None => String::new(),
            Some(place) => {
                let progress = Progress { place: place.clone(), files: self.files };
                serde_json::to_string(&progress).map_err(std::io::Error::other)?
            }
        };
        if self.pages >= MOST_PAGES {
            let why = format!("the listing has more than {MOST_PAGES} pages");
            return Err(JobError::Invalid(why));
        }
        let key = self.held.crawl.key_id;
        if let Some(key) = key
            && self.pages % CHECK == 0
        {
            self.check_key(key)?;
        }
        let (body, now) = (compressed(page)?, self.context.clock.unix());
        let etags = std::mem::take(&mut self.etags);
        self.entries = 0;
        self.bytes += (body.len() + etags.len()) as i64;
        if key.is_none() && self.bytes > self.options.listing_bytes {
            return Err(JobError::Invalid("the listing's pages are too large".to_owned()));
        }
        let at = (self.held.crawl.listing, self.pages);
        let page = ListedPage { body: &body, etags: &etags, place: &place };
        self.held.update(|db, held| crawl_listings::add_page(db, held, at, page, now))?;
        self.pages += 1;
        if next.is_some() && self.was_paused()? {
            return Err(JobError::Paused);
        }
        let turn = self.options.turn(key.is_some());
        let is_over = next.is_some() && turn.is_some_and(|turn| self.begun.elapsed() > turn);
        // An operator's crawl continues if no other crawl is waiting.
        let is_due = || self.context.pools.read_blocking(|db| crawl_claims::is_due(db, now));
        if is_over && (key.is_some() || is_due()?) { Err(JobError::TurnOver) } else { Ok(()) }
    }

    fn refused(&mut self, refusal: Refusal) {
        self.refusal = Some(refusal);
    }
}

/// Only counts entries and keeps their ETags. Everything else is read from the pages when they are
/// published.
impl Sink for Pages<'_> {
    fn file(&mut self, item: &Item<'_>) -> Result<Taken, JobError> {
        self.count_entry()?;
        self.count_file()?;
        if let Some(etag) = item.etag {
            FileEtag::of(item.path, &item.attributes, etag).write(&mut self.etags);
        }
        Ok(Ok(()))
    }

    fn bad(&mut self, _: Bad) -> Result<(), JobError> {
        self.count_entry()
    }

    fn skipped(&mut self, _: Skipped) -> Result<(), JobError> {
        self.count_entry()
    }

    fn broken(&mut self, reason: String) -> Result<(), JobError> {
        self.broken = Some(printable(&shortened(&reason)));
        Ok(())
    }
}
