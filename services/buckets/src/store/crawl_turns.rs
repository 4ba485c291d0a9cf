//! Records when each key's crawls were last claimed. A turn outlives its crawl, so a key can't get
//! more turns by removing crawls and adding them again.

use database::{DatabaseError, Db, on_backend};
use diesel::prelude::*;

use super::schema::crawl_turn;

/// Number of seconds to keep turns. Longer than the minimum interval of a key's crawls.
const KEPT: i64 = 86_400;

/// A crawl that belongs to a key.
#[derive(Clone, Copy, Debug)]
pub struct KeyCrawl<'a> {
    /// The key that the crawl belongs to.
    pub key: i64,
    /// Bucket address in the index.
    pub bucket: &'a str,
    pub prefix: &'a str,
}

/// Records that a crawl was claimed, and deletes old turns of all keys.
pub fn note(db: &mut Db, crawl: KeyCrawl<'_>, now: i64) -> Result<(), DatabaseError> {
    let KeyCrawl { key, bucket, prefix } = crawl;
    let old = crawl_turn::table.filter(crawl_turn::last_at.lt(now - KEPT));
    diesel::delete(old).execute(db)?;
    let row = (
        crawl_turn::key_id.eq(key),
        crawl_turn::bucket.eq(bucket),
        crawl_turn::prefix.eq(prefix),
        crawl_turn::last_at.eq(now),
    );
    on_backend!(db, conn => diesel::insert_into(crawl_turn::table)
        .values(row)
        .on_conflict((crawl_turn::key_id, crawl_turn::bucket, crawl_turn::prefix))
        .do_update()
        .set(crawl_turn::last_at.eq(now))
        .execute(conn))?;
    Ok(())
}

/// Returns the time at which a crawl was last claimed, even if it has been removed and added again.
pub fn last_of(db: &mut Db, crawl: KeyCrawl<'_>) -> Result<Option<i64>, DatabaseError> {
    let own = crawl_turn::table.find((crawl.key, crawl.bucket, crawl.prefix));
    Ok(own.select(crawl_turn::last_at).first(db).optional()?)
}

/// Returns the time at which each key's crawls were last claimed.
pub fn last_of_keys(db: &mut Db) -> Result<Vec<(i64, Option<i64>)>, DatabaseError> {
    Ok(crawl_turn::table
        .group_by(crawl_turn::key_id)
        .select((crawl_turn::key_id, diesel::dsl::max(crawl_turn::last_at)))
        .load(db)?)
}
