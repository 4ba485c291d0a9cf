//! Public buckets that are listed regularly.

use database::{DatabaseError, Db};
use diesel::prelude::*;
use serde::Serialize;

use super::schema::crawl;

/// A bucket that is listed regularly.
#[derive(Clone, Debug, PartialEq, Eq, Queryable, Serialize)]
pub struct Crawl {
    /// Identifier.
    pub id: i64,
    /// URL of the bucket.
    pub url: String,
    /// Address of the bucket in the index.
    pub bucket: String,
    /// API of a host whose provider is unknown.
    pub format: Option<String>,
    /// Type of a bucket whose provider is unknown.
    pub kind: Option<String>,
    /// Only files whose path begins with this are listed.
    pub prefix: String,
    /// Seconds between the beginnings of two runs.
    pub every_seconds: i64,
    /// Unix seconds after which it does not run.
    pub ends_at: Option<i64>,
    /// Whether it only runs by its id.
    pub paused: bool,
    /// Unix seconds of the next run.
    pub due_at: i64,
    /// Unix seconds of the last run.
    pub last_at: Option<i64>,
    /// Outcome of the last run.
    pub outcome: String,
}

/// A crawl to add.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NewCrawl {
    /// URL of the bucket.
    pub url: String,
    /// Address of the bucket in the index.
    pub bucket: String,
    /// API of a host whose provider is unknown.
    pub format: Option<String>,
    /// Type of a bucket whose provider is unknown.
    pub kind: Option<String>,
    /// Only files whose path begins with this are listed.
    pub prefix: String,
    /// Seconds between the beginnings of two runs.
    pub every_seconds: i64,
    /// Unix seconds after which it does not run.
    pub ends_at: Option<i64>,
}

/// Adds a crawl, which is due immediately, and returns its id.
pub fn add(db: &mut Db, new: &NewCrawl, now: i64) -> Result<i64, DatabaseError> {
    Ok(diesel::insert_into(crawl::table)
        .values((
            crawl::url.eq(&new.url),
            crawl::bucket.eq(&new.bucket),
            crawl::format.eq(&new.format),
            crawl::kind.eq(&new.kind),
            crawl::prefix.eq(&new.prefix),
            crawl::every_seconds.eq(new.every_seconds),
            crawl::ends_at.eq(new.ends_at),
            crawl::due_at.eq(now),
        ))
        .returning(crawl::id)
        .get_result(db)?)
}

/// Returns all crawls in the order of their ids.
pub fn all(db: &mut Db) -> Result<Vec<Crawl>, DatabaseError> {
    Ok(crawl::table.order(crawl::id.asc()).load(db)?)
}

/// Crawls in numbers.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct CrawlFigures {
    /// Crawls that run when they are due.
    pub active: i64,
    /// Paused crawls.
    pub paused: i64,
    /// Seconds since the longest due crawl was due; 0 if none is due.
    pub overdue_seconds: i64,
}

/// Counts the crawls that have not ended.
pub fn figures(db: &mut Db, now: i64) -> Result<CrawlFigures, DatabaseError> {
    let open = crawl::table.filter(crawl::ends_at.is_null().or(crawl::ends_at.ge(now)));
    let paused = open.filter(crawl::paused).count().get_result(db)?;
    let running = open.filter(diesel::dsl::not(crawl::paused));
    let (active, due): (i64, Option<i64>) =
        running.select((diesel::dsl::count_star(), diesel::dsl::min(crawl::due_at))).first(db)?;
    let overdue_seconds = due.map_or(0, |due| (now - due).max(0));
    Ok(CrawlFigures { active, paused, overdue_seconds })
}

/// Returns the id of the crawl of a bucket and prefix.
pub fn find(db: &mut Db, bucket: &str, prefix: &str) -> Result<Option<i64>, DatabaseError> {
    let same = crawl::table.filter(crawl::bucket.eq(bucket)).filter(crawl::prefix.eq(prefix));
    Ok(same.select(crawl::id).first(db).optional()?)
}

/// Pauses or continues a crawl. Returns false if it does not exist.
pub fn set_paused(db: &mut Db, id: i64, paused: bool) -> Result<bool, DatabaseError> {
    let changed =
        diesel::update(crawl::table.find(id)).set(crawl::paused.eq(paused)).execute(db)?;
    Ok(changed > 0)
}

/// Removes a crawl. Returns false if it does not exist.
pub fn remove(db: &mut Db, id: i64) -> Result<bool, DatabaseError> {
    Ok(diesel::delete(crawl::table.find(id)).execute(db)? > 0)
}

/// Records a run and when the next one is due.
pub fn record(
    db: &mut Db,
    id: i64,
    (last_at, due_at): (i64, i64),
    outcome: &str,
) -> Result<(), DatabaseError> {
    diesel::update(crawl::table.find(id))
        .set((crawl::last_at.eq(last_at), crawl::due_at.eq(due_at), crawl::outcome.eq(outcome)))
        .execute(db)?;
    Ok(())
}
