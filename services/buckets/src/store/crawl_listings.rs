//! Listings of crawls: their progress, their stored pages, and the results of their runs.

use database::{DatabaseError, Db};
use diesel::prelude::*;

use super::alerts::{self, Mark};
use super::crawl_claims::{Held, update_held};
use super::crawls::LONGEST_PAUSE;
use super::schema::crawl;
use super::{crawl_confirmations, crawl_etags, crawl_pages};
use crate::model::file_etag::ChangedFiles;
use crate::model::id_ranges::IdRanges;

/// Starts a new listing, without any pages.
pub fn begin_listing(
    db: &mut Db,
    held: Held<'_>,
    listing: i64,
    now: i64,
) -> Result<bool, DatabaseError> {
    // If some files haven't been compared yet, this is lower than the newest file id.
    let last = alerts::judged(db)?;
    let empty = (
        crawl::listing.eq(listing),
        crawl::begun_at.eq(now),
        crawl::begun_generation.eq(last.generation),
        crawl::begun_id.eq(last.id),
        crawl::pages.eq(0),
        crawl::place.eq(""),
        crawl::is_listed.eq(false),
        crawl::broken.eq(None::<String>),
    );
    let begun = update_held!(db, held, empty)?;
    if begun {
        crawl_pages::clear(db, held.id)?;
        crawl_etags::clear_others(db, held.id)?;
        crawl_confirmations::clear(db, held.id)?;
    }
    Ok(begun)
}

/// Returns the mark at which a crawl's current listing began. Files after the mark were added
/// later.
pub fn begun(db: &mut Db, id: i64) -> Result<Option<Mark>, DatabaseError> {
    let columns = (crawl::begun_generation, crawl::begun_id);
    let found: Option<(i64, i64)> = crawl::table.find(id).select(columns).first(db).optional()?;
    Ok(found.map(|(generation, id)| Mark { generation, id }))
}

/// Returns the crawls whose current listing began before `before`, with their buckets. Leaves out
/// listings that won't be published because their last page is too old.
pub fn listing(db: &mut Db, before: i64, now: i64) -> Result<Vec<(i64, String)>, DatabaseError> {
    let has_pages = crawl::pages.gt(0).and(crawl::page_at.ge(now - LONGEST_PAUSE));
    let is_held = crawl::holder.is_not_null().and(crawl::lease_until.gt(now));
    let listing = crawl::table.filter(crawl::begun_at.lt(before)).filter(has_pages.or(is_held));
    Ok(listing.select((crawl::id, crawl::bucket)).order(crawl::id.asc()).load(db)?)
}

/// Records files that a run has found unchanged since a crawl's current listing began. Does nothing
/// if the crawl was removed, or if its listing belongs to another generation of the index or began
/// after the run's.
pub fn confirm(
    db: &mut Db,
    id: i64,
    files: &IdRanges,
    (generation, before): (i64, i64),
) -> Result<(), DatabaseError> {
    // Waits for a process that is removing the crawl.
    let begun = crawl::begun_generation.eq(generation).and(crawl::begun_at.lt(before));
    let own = crawl::table.find(id).filter(begun);
    let held = diesel::update(own).set(crawl::listing.eq(crawl::listing)).execute(db)?;
    if held > 0 { crawl_confirmations::add(db, id, files) } else { Ok(()) }
}

/// A page of a listing.
#[derive(Clone, Copy, Debug)]
pub struct ListedPage<'a> {
    /// Compressed.
    pub body: &'a [u8],
    /// Fingerprints of the page's ETags.
    pub etags: &'a [u8],
    /// The position to continue from, as JSON. Empty after the last page.
    pub place: &'a str,
}

/// Stores a page and the position to continue from.
pub fn add_page(
    db: &mut Db,
    held: Held<'_>,
    (listing, number): (i64, i64),
    ListedPage { body, etags, place }: ListedPage<'_>,
    now: i64,
) -> Result<bool, DatabaseError> {
    let next = (
        crawl::pages.eq(number + 1),
        crawl::place.eq(place),
        crawl::page_at.eq(now),
        crawl::is_listed.eq(place.is_empty()),
    );
    let stored = update_held!(db, held, next)?;
    if stored {
        let key = (held.id, listing, number);
        crawl_pages::add(db, key, body)?;
        if !etags.is_empty() {
            crawl_etags::add(db, key, etags)?;
        }
    }
    Ok(stored)
}

/// Ends a listing as incomplete.
pub fn end_listing(db: &mut Db, held: Held<'_>, broken: &str) -> Result<bool, DatabaseError> {
    update_held!(db, held, (crawl::is_listed.eq(true), crawl::broken.eq(broken)))
}

/// Returns the crawls whose stored pages are too old to be continued or published, unless a process
/// has claimed them.
pub fn outdated(db: &mut Db, now: i64) -> Result<Vec<i64>, DatabaseError> {
    let is_old = crawl::pages.gt(0).and(crawl::page_at.lt(now - LONGEST_PAUSE));
    let is_free = crawl::holder.is_null().or(crawl::lease_until.le(now));
    Ok(crawl::table.filter(is_old).filter(is_free).select(crawl::id).load(db)?)
}

/// Deletes a crawl's outdated pages, unless a process has claimed it in the meantime.
pub fn drop_outdated(db: &mut Db, id: i64, now: i64) -> Result<(), DatabaseError> {
    let empty = (
        crawl::pages.eq(0),
        crawl::place.eq(""),
        crawl::is_listed.eq(false),
        crawl::broken.eq(None::<String>),
    );
    let is_old = crawl::pages.gt(0).and(crawl::page_at.lt(now - LONGEST_PAUSE));
    let is_free = crawl::holder.is_null().or(crawl::lease_until.le(now));
    let own = crawl::table.find(id).filter(is_old.and(is_free));
    if diesel::update(own).set(empty).execute(db)? > 0 {
        crawl_pages::clear(db, id)?;
        crawl_etags::clear_others(db, id)?;
    }
    Ok(())
}

/// Records a temporary failure. Keeps the pages stored so far.
pub fn put_off(
    db: &mut Db,
    held: Held<'_>,
    (last_at, not_before): (i64, i64),
    outcome: &str,
) -> Result<bool, DatabaseError> {
    let later =
        (crawl::last_at.eq(last_at), crawl::not_before.eq(not_before), crawl::outcome.eq(outcome));
    update_held!(db, held, later)
}

/// The end of a run.
#[derive(Clone, Copy, Debug)]
pub struct RunEnd<'a> {
    /// Unix time at which the run started.
    pub started: i64,
    /// Unix time of the next run.
    pub due_at: i64,
    pub outcome: &'a str,
    /// Unix time of the first refusal since the bucket was last listed.
    pub gone_since: Option<i64>,
    /// Whether to compare later listings with this listing's ETags.
    pub keeps_etags: bool,
    /// If not, files to compare with this listing's ETags anyway, because the run has reported that
    /// they changed.
    pub reported: Option<&'a ChangedFiles>,
}

/// Records a run and schedules the next run. Deletes the stored pages.
pub fn record(db: &mut Db, held: Held<'_>, end: RunEnd<'_>) -> Result<bool, DatabaseError> {
    let done = (
        crawl::last_at.eq(end.started),
        crawl::due_at.eq(end.due_at),
        crawl::not_before.eq(0),
        crawl::outcome.eq(end.outcome),
        crawl::gone_since.eq(end.gone_since),
        crawl::pages.eq(0),
        crawl::place.eq(""),
        crawl::is_listed.eq(false),
        crawl::broken.eq(None::<String>),
    );
    let recorded = update_held!(db, held, done)?;
    if recorded {
        crawl_pages::clear(db, held.id)?;
        if end.keeps_etags {
            crawl_etags::keep(db, held.id)?;
        } else if let Some(files) = end.reported {
            crawl_etags::replace(db, held.id, files)?;
        }
        crawl_etags::clear_others(db, held.id)?;
    }
    Ok(recorded)
}
