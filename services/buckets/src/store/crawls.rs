//! Public buckets that are crawled at regular intervals.

use database::{DatabaseError, Db};
use diesel::prelude::*;
use serde::Serialize;

use super::alerts::{self, Mark};
use super::crawl_turns::{self, KeyCrawl};
use super::schema::crawl;
use super::{buckets, crawl_confirmations, crawl_etags, crawl_pages, generations};
use crate::model::id_ranges::IdRanges;

/// If more than this number of seconds have passed since the last page, a listing starts over,
/// because its first pages are outdated.
pub const LONGEST_PAUSE: i64 = 86_400;

/// A bucket that is crawled at regular intervals.
#[derive(Clone, Debug, PartialEq, Eq, Queryable, Serialize)]
pub struct Crawl {
    /// Crawl id, as used by commands and clients.
    pub id: i64,
    /// URL of the bucket.
    pub url: String,
    /// Address of the bucket in the index.
    pub bucket: String,
    /// The host's API, if the provider is unknown.
    pub format: Option<String>,
    /// The bucket's type, if the provider is unknown.
    pub kind: Option<String>,
    /// Only list files whose path starts with this.
    pub prefix: String,
    /// Seconds from the start of one run to the start of the next.
    pub every_seconds: i64,
    /// Unix time from which the crawl no longer runs.
    pub ends_at: Option<i64>,
    /// If set, the crawl only runs when it is requested by id.
    pub paused: bool,
    /// Unix time of the next run.
    pub due_at: i64,
    /// Unix time of the last run.
    pub last_at: Option<i64>,
    /// Outcome of the last run.
    pub outcome: String,
    /// The key that owns the crawl. `None` if an operator added it.
    pub key_id: Option<i64>,
    /// The process that is listing the bucket, if any.
    #[serde(skip)]
    pub holder: Option<String>,
    /// Unix time at which the lease expires unless it's renewed.
    pub lease_until: i64,
    /// Earliest Unix time for a retry.
    pub not_before: i64,
    /// Number of the current listing.
    pub listing: i64,
    /// Number of pages stored for the current listing.
    pub pages: i64,
    /// The position to continue from, as JSON. Empty for a new listing.
    #[serde(skip)]
    pub place: String,
    /// Unix time at which the last page was stored.
    pub page_at: i64,
    /// Unix time at which the current listing started.
    pub begun_at: i64,
    /// Index generation that `begun_id` belongs to.
    #[serde(skip)]
    pub begun_generation: i64,
    /// Files with ids above this one were added to the index after the current listing started.
    #[serde(skip)]
    pub begun_id: i64,
    /// Whether the current listing is done but hasn't been published yet.
    pub is_listed: bool,
    /// The reason the current listing is incomplete, if it is.
    pub broken: Option<String>,
    /// Hide the bucket once it has refused access for this number of days.
    pub gone_after_days: Option<i64>,
    /// Unix time of the first refusal since the bucket was last listed.
    pub gone_since: Option<i64>,
    /// The last listing that was published completely, or 0. Later listings' ETags are compared
    /// with its ETags.
    #[serde(skip)]
    pub etags_listing: i64,
}

impl Crawl {
    /// Returns `true` if a process is listing the bucket right now.
    pub fn is_running(&self, now: i64) -> bool {
        self.holder.is_some() && self.lease_until > now
    }
}

/// A crawl to add.
#[derive(Clone, Debug, PartialEq, Eq, Insertable)]
#[diesel(table_name = crawl, treat_none_as_default_value = false)]
pub struct NewCrawl {
    /// URL of the bucket.
    pub url: String,
    /// Address of the bucket in the index.
    pub bucket: String,
    /// The host's API, if the provider is unknown.
    pub format: Option<String>,
    /// The bucket's type, if the provider is unknown.
    pub kind: Option<String>,
    /// Only list files whose path starts with this.
    pub prefix: String,
    /// Seconds from the start of one run to the start of the next.
    pub every_seconds: i64,
    /// Unix time from which the crawl no longer runs.
    pub ends_at: Option<i64>,
    /// Hide the bucket once it has refused access for this number of days.
    pub gone_after_days: Option<i64>,
    /// The key that owns the crawl. `None` if an operator adds it.
    pub key_id: Option<i64>,
}

/// Adds a crawl and returns its id.
pub fn add(db: &mut Db, new: &NewCrawl, due_at: i64) -> Result<i64, DatabaseError> {
    Ok(diesel::insert_into(crawl::table)
        .values((new, crawl::due_at.eq(due_at)))
        .returning(crawl::id)
        .get_result(db)?)
}

/// Returns all crawls, ordered by id.
pub fn all(db: &mut Db) -> Result<Vec<Crawl>, DatabaseError> {
    Ok(crawl::table.order(crawl::id.asc()).load(db)?)
}

/// Returns a key's crawls, ordered by id.
pub fn of_key(db: &mut Db, key: i64) -> Result<Vec<Crawl>, DatabaseError> {
    Ok(crawl::table.filter(crawl::key_id.eq(key)).order(crawl::id.asc()).load(db)?)
}

/// Looks up a crawl by id.
pub fn by_id(db: &mut Db, id: i64) -> Result<Option<Crawl>, DatabaseError> {
    Ok(crawl::table.find(id).first(db).optional()?)
}

/// Crawl counts for metrics.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct CrawlFigures {
    /// Crawls that run whenever they are due.
    pub active: i64,
    pub paused: i64,
    /// Crawls that are being listed right now.
    pub running: i64,
    /// Seconds since the most overdue crawl became due. 0 if none is due.
    pub overdue_seconds: i64,
}

/// Counts the crawls. Those past their end date only count while they are running.
pub fn figures(db: &mut Db, now: i64) -> Result<CrawlFigures, DatabaseError> {
    let open = crawl::table.filter(crawl::ends_at.is_null().or(crawl::ends_at.ge(now)));
    let paused = open.filter(crawl::paused).count().get_result(db)?;
    let active = open.filter(diesel::dsl::not(crawl::paused));
    let (active, due): (i64, Option<i64>) =
        active.select((diesel::dsl::count_star(), diesel::dsl::min(crawl::due_at))).first(db)?;
    let held = crawl::table.filter(crawl::holder.is_not_null().and(crawl::lease_until.gt(now)));
    let running = held.count().get_result(db)?;
    let overdue_seconds = due.map_or(0, |due| (now - due).max(0));
    Ok(CrawlFigures { active, paused, running, overdue_seconds })
}

/// Finds a key's crawl for a bucket and prefix and returns its id. `None` looks among the
/// operator's crawls.
pub fn find(
    db: &mut Db,
    bucket: &str,
    prefix: &str,
    key: Option<i64>,
) -> Result<Option<i64>, DatabaseError> {
    let same = crawl::table.filter(crawl::bucket.eq(bucket)).filter(crawl::prefix.eq(prefix));
    let found = match key {
        Some(key) => same.filter(crawl::key_id.eq(key)).select(crawl::id).first(db),
        None => same.filter(crawl::key_id.is_null()).select(crawl::id).first(db),
    };
    Ok(found.optional()?)
}

/// Pauses or resumes a crawl. Returns `false` if there is no such crawl.
pub fn set_paused(db: &mut Db, id: i64, paused: bool) -> Result<bool, DatabaseError> {
    let changed =
        diesel::update(crawl::table.find(id)).set(crawl::paused.eq(paused)).execute(db)?;
    Ok(changed > 0)
}

/// Makes a crawl due immediately, but not within `least` seconds of its last run. Returns `false`
/// if it doesn't exist.
pub fn make_due(db: &mut Db, id: i64, least: i64, now: i64) -> Result<bool, DatabaseError> {
    let Some(found) = by_id(db, id)? else { return Ok(false) };
    let Crawl { bucket, prefix, .. } = &found;
    // The crawl may have been removed and added again since its last run.
    let turn = match found.key_id {
        Some(key) => crawl_turns::last_of(db, KeyCrawl { key, bucket, prefix })?,
        None => None,
    };
    let last = found.last_at.max(turn);
    let earliest = last.map_or(now, |last| last.saturating_add(least).max(now));
    // A crawl that is already due stays due, even if it ran recently or was postponed.
    let due_at = if found.due_at <= now { now } else { earliest.min(found.due_at) };
    let due = crawl::due_at.eq(due_at);
    Ok(diesel::update(crawl::table.find(id)).set(due).execute(db)? > 0)
}

/// Removes a crawl and its stored pages. If this crawl may have hidden the bucket and no other
/// active crawl could show it again, the bucket becomes visible. Returns `false` if the crawl
/// doesn't exist.
pub fn remove(db: &mut Db, id: i64, now: i64) -> Result<bool, DatabaseError> {
    // Waits for a process that is storing a page, which won't find the crawl afterwards.
    diesel::update(crawl::table.find(id)).set(crawl::holder.eq(None::<String>)).execute(db)?;
    let Some(removed) = by_id(db, id)? else { return Ok(false) };
    crawl_pages::clear(db, id)?;
    crawl_etags::clear(db, id)?;
    crawl_confirmations::clear(db, id)?;
    diesel::delete(crawl::table.find(id)).execute(db)?;
    // The crawls of keys never hide a bucket, so removing one must not show it.
    if removed.gone_after_days.is_none() || removed.gone_since.is_none() {
        return Ok(true);
    }
    // If several crawls are removed at once, the last one sees that the others are gone.
    buckets::lock(db, &removed.bucket)?;
    let others = crawl::table
        .filter(crawl::bucket.eq(&removed.bucket))
        .filter(crawl::gone_since.is_not_null().and(diesel::dsl::not(crawl::paused)))
        .filter(crawl::ends_at.is_null().or(crawl::ends_at.gt(now)))
        .count();
    if others.get_result::<i64>(db)? == 0 && buckets::show(db, &removed.bucket)? {
        generations::touch(db)?;
    }
    Ok(true)
}

/// Returns all addresses that begin with `name` and a dot, and possibly some others.
pub fn addresses_like(db: &mut Db, name: &str) -> Result<Vec<String>, DatabaseError> {
    let similar = crawl::table.filter(crawl::bucket.like(format!("{name}.%")));
    Ok(similar.select(crawl::bucket).order(crawl::id.asc()).load(db)?)
}

/// Deletes the pages and ETags stored by all crawls of a bucket. They have to start over, and any
/// process that is listing the bucket loses its crawl.
pub fn drop_pages(db: &mut Db, bucket: &str) -> Result<(), DatabaseError> {
    let empty = (
        crawl::holder.eq(None::<String>),
        crawl::pages.eq(0),
        crawl::place.eq(""),
        crawl::is_listed.eq(false),
        crawl::broken.eq(None::<String>),
    );
    // Wait for a process that is storing a page, as in `remove`.
    diesel::update(crawl::table.filter(crawl::bucket.eq(bucket))).set(empty).execute(db)?;
    let crawls = crawl::table.filter(crawl::bucket.eq(bucket)).select(crawl::id);
    let crawls: Vec<i64> = crawls.load(db)?;
    crawls.into_iter().try_for_each(|id| {
        crawl_pages::clear(db, id)?;
        crawl_etags::clear(db, id)
    })
}

/// A crawl and the process that has claimed it. Updates through this have no effect if the crawl
/// was removed or taken over by another process.
#[derive(Clone, Copy, Debug)]
pub struct Held<'a> {
    pub id: i64,
    /// Random name of the process that has the lease.
    pub holder: &'a str,
}

/// Updates a claimed crawl. Returns `false` if this process no longer has it. This is a macro
/// because Diesel's types would get too long.
macro_rules! update_held {
    ($db:expr, $held:expr, $changes:expr) => {{
        let Held { id, holder } = $held;
        let own = crawl::table.find(id).filter(crawl::holder.eq(holder));
        let changed = diesel::update(own).set($changes).execute($db)?;
        Ok::<bool, DatabaseError>(changed > 0)
    }};
}

/// Renews the lease.
pub fn renew(db: &mut Db, held: Held<'_>, until: i64) -> Result<bool, DatabaseError> {
    update_held!(db, held, crawl::lease_until.eq(until))
}

/// Returns `true` if the process still has the crawl.
pub fn is_held(db: &mut Db, Held { id, holder }: Held<'_>) -> Result<bool, DatabaseError> {
    let own = crawl::table.find(id).filter(crawl::holder.eq(holder));
    let found: Option<i64> = own.select(crawl::id).first(db).optional()?;
    Ok(found.is_some())
}

/// Gives up the lease. Returns `false` if another process has it.
pub fn release(db: &mut Db, held: Held<'_>) -> Result<bool, DatabaseError> {
    update_held!(db, held, crawl::holder.eq(None::<String>))
}

/// Starts a new listing, without any pages.
pub fn begin_listing(
    db: &mut Db,
    held: Held<'_>,
    listing: i64,
    now: i64,
) -> Result<bool, DatabaseError> {
    // If some files haven't been compared yet, this id is lower than the newest file's.
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

/// Returns the mark at which a crawl's current listing began. Files after it were added since then.
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
    /// Fingerprints of its ETags.
    pub etags: &'a [u8],
    /// The position to continue from, as JSON. Empty after the last page.
    pub place: &'a str,
}

/// Stores a page and where to continue.
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
    /// Whether later listings are compared with the ETags of this one.
    pub keeps_etags: bool,
}

/// Records a run and when the next one is due. Deletes the stored pages.
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
        }
        crawl_etags::clear_others(db, held.id)?;
    }
    Ok(recorded)
}
