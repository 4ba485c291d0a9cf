//! Stores listing pages until they are published.

use database::{DatabaseError, Db};
use diesel::dsl::sql;
use diesel::prelude::*;
use diesel::sql_types::BigInt;

use super::schema::{crawl, crawl_page};

/// Crawl id, listing id and page number.
pub type PageKey = (i64, i64, i64);

/// Reads a compressed page.
pub fn find(db: &mut Db, key: PageKey) -> Result<Option<Vec<u8>>, DatabaseError> {
    Ok(crawl_page::table.find(key).select(crawl_page::body).first(db).optional()?)
}

/// Adds a compressed page.
pub fn add(
    db: &mut Db,
    (crawl, listing, number): PageKey,
    body: &[u8],
) -> Result<(), DatabaseError> {
    diesel::insert_into(crawl_page::table)
        .values((
            crawl_page::crawl_id.eq(crawl),
            crawl_page::listing.eq(listing),
            crawl_page::number.eq(number),
            crawl_page::body.eq(body),
        ))
        .execute(db)?;
    Ok(())
}

/// Returns the total size of a crawl's pages, in bytes.
pub fn bytes(db: &mut Db, crawl: i64) -> Result<i64, DatabaseError> {
    let all = sql::<BigInt>("coalesce(sum(length(body)), 0)");
    let own = crawl_page::table.filter(crawl_page::crawl_id.eq(crawl));
    Ok(own.select(all).first(db)?)
}

/// Returns the total size of the pages stored for a key's crawls, in bytes.
pub fn bytes_of_key(db: &mut Db, key: i64) -> Result<i64, DatabaseError> {
    let own = crawl::table.filter(crawl::key_id.eq(key)).select(crawl::id);
    let own: Vec<i64> = own.load(db)?;
    own.into_iter().try_fold(0, |sum, crawl| Ok(sum + bytes(db, crawl)?))
}

/// Deletes all pages of a crawl.
pub fn clear(db: &mut Db, crawl: i64) -> Result<(), DatabaseError> {
    diesel::delete(crawl_page::table.filter(crawl_page::crawl_id.eq(crawl))).execute(db)?;
    Ok(())
}
