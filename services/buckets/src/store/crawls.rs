//! Public buckets that are crawled at regular intervals, and when each crawl is due.

use database::{DatabaseError, Db};
use diesel::prelude::*;
use serde::Serialize;

use super::crawl_turns::{self, KeyCrawl};
use super::schema::crawl;
use super::{buckets, crawl_confirmations, crawl_etags, crawl_pages, generations, removals};

/// Maximum age of a listing's last page, in seconds. An older listing starts over, because its
/// first pages are outdated.
pub const LONGEST_PAUSE: i64 = 86_400;

/// A bucket that is crawled at regular intervals.
#[derive(Clone, Debug, PartialEq, Eq, Queryable, Serialize)]
pub struct Crawl {
    /// Crawl id, as used by commands and clients.
    pub id: i64,
    /// Bucket URL.
    pub url: String,
    /// Bucket address in the index.
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
    /// Files with higher ids were added to the index after the current listing started.
    #[serde(skip)]
    pub begun_id: i64,
    /// Whether the current listing is done but hasn't been published yet.
    pub is_listed: bool,
    /// Why the current listing is incomplete, if it is.
    pub broken: Option<String>,
    /// Hide the bucket once it has refused access for this number of days.
    pub gone_after_days: Option<i64>,
    /// Unix time of the first refusal since the bucket was last listed.
    pub gone_since: Option<i64>,
    /// The last listing that was published completely, or 0. Later listings' ETags are compared
    /// with its ETags, except for files that an incomplete listing has since reported as changed.
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
    /// Bucket URL.
    pub url: String,
    /// Bucket address in the index.
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
    /// Crawls that are listing their bucket right now.
    pub running: i64,
    /// Seconds since the most overdue crawl became due. 0 if none is due.
    pub overdue_seconds: i64,
}

/// Counts the crawls. A crawl past its end date only counts while it is running.
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

/// Returns `true` if a crawl is paused.
pub fn is_paused(db: &mut Db, id: i64) -> Result<bool, DatabaseError> {
    let paused: Option<bool> = crawl::table.find(id).select(crawl::paused).first(db).optional()?;
    Ok(paused.unwrap_or(false))
}

/// Makes a crawl due immediately, but not within `least` seconds of its last run. Returns `false`
/// if it doesn't exist.
pub fn make_due(db: &mut Db, id: i64, least: i64, now: i64) -> Result<bool, DatabaseError> {
    let Some(found) = by_id(db, id)? else { return Ok(false) };
    let Crawl { bucket, prefix, .. } = &found;
    // The crawl might have been removed and added again since its last run.
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

/// Removes a crawl and its stored pages. If this crawl might have hidden the bucket and no other
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
    // If several crawls are removed at once, the last removal sees that the other crawls are gone.
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

/// Deletes the pages and ETags that crawls of a bucket have stored, except for crawls that only list
/// files outside `prefix`. The crawls have to start over, and any process that is running one of
/// them loses it.
pub fn drop_pages(db: &mut Db, bucket: &str, prefix: &str) -> Result<(), DatabaseError> {
    let crawls = crawl::table.filter(crawl::bucket.eq(bucket));
    let crawls: Vec<(i64, String)> =
        crawls.select((crawl::id, crawl::prefix)).order(crawl::id.asc()).load(db)?;
    for (id, _) in crawls.into_iter().filter(|(_, own)| removals::overlap(own, prefix)) {
        let empty = (
            crawl::holder.eq(None::<String>),
            crawl::pages.eq(0),
            crawl::place.eq(""),
            crawl::is_listed.eq(false),
            crawl::broken.eq(None::<String>),
        );
        // Waits for a process that is storing a page, as in `remove`.
        diesel::update(crawl::table.find(id)).set(empty).execute(db)?;
        crawl_pages::clear(db, id)?;
        crawl_etags::clear(db, id)?;
    }
    Ok(())
}
