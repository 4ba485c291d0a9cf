//! Stores ETag fingerprints for each listing page.

use database::{DatabaseError, Db};
use diesel::dsl::sql;
use diesel::prelude::*;
use diesel::sql_types::BigInt;

use super::crawl_pages::PageKey;
use super::schema::{crawl, crawl_etag};
use crate::model::file_etag::{ChangedFiles, FileEtag};

/// Adds the ETags of a page.
pub fn add(
    db: &mut Db,
    (crawl, listing, number): PageKey,
    body: &[u8],
) -> Result<(), DatabaseError> {
    diesel::insert_into(crawl_etag::table)
        .values((
            crawl_etag::crawl_id.eq(crawl),
            crawl_etag::listing.eq(listing),
            crawl_etag::number.eq(number),
            crawl_etag::body.eq(body),
        ))
        .execute(db)?;
    Ok(())
}

/// Reads the ETags of a page.
pub fn find(db: &mut Db, key: PageKey) -> Result<Option<Vec<u8>>, DatabaseError> {
    Ok(crawl_etag::table.find(key).select(crawl_etag::body).first(db).optional()?)
}

/// Returns the numbers of a listing's pages that have ETags.
pub fn numbers(db: &mut Db, crawl: i64, listing: i64) -> Result<Vec<i64>, DatabaseError> {
    let pages = crawl_etag::table
        .filter(crawl_etag::crawl_id.eq(crawl))
        .filter(crawl_etag::listing.eq(listing));
    Ok(pages.select(crawl_etag::number).order(crawl_etag::number.asc()).load(db)?)
}

/// Returns the total size of a listing's ETags, in bytes.
pub fn bytes(db: &mut Db, crawl: i64, listing: i64) -> Result<i64, DatabaseError> {
    let pages = crawl_etag::table
        .filter(crawl_etag::crawl_id.eq(crawl))
        .filter(crawl_etag::listing.eq(listing));
    Ok(pages.select(sql::<BigInt>("coalesce(sum(length(body)), 0)")).first(db)?)
}

/// Returns the total size of the ETags stored for a key's crawls, in bytes.
pub fn bytes_of_key(db: &mut Db, key: i64) -> Result<i64, DatabaseError> {
    let own = crawl::table.filter(crawl::key_id.eq(key)).select(crawl::id);
    let own: Vec<i64> = own.load(db)?;
    own.into_iter().try_fold(0, |sum, crawl| {
        let pages = crawl_etag::table.filter(crawl_etag::crawl_id.eq(crawl));
        let all = sql::<BigInt>("coalesce(sum(length(body)), 0)");
        Ok(sum + pages.select(all).first::<i64>(db)?)
    })
}

/// Keeps the ETags of a crawl's current listing for comparison with later listings.
pub fn keep(db: &mut Db, id: i64) -> Result<(), DatabaseError> {
    let current = crawl::etags_listing.eq(crawl::listing);
    diesel::update(crawl::table.find(id)).set(current).execute(db)?;
    Ok(())
}

/// Replaces the kept ETags of these files by the ETags in the crawl's current listing. There are
/// never more of them than before, even if the listing repeats a file with many ETags.
pub fn replace(db: &mut Db, id: i64, files: &ChangedFiles) -> Result<(), DatabaseError> {
    if files.count() == 0 {
        return Ok(());
    }
    let listings: Option<(i64, i64)> = crawl::table
        .find(id)
        .select((crawl::etags_listing, crawl::listing))
        .first(db)
        .optional()?;
    let Some((kept, current)) = listings else { return Ok(()) };
    let (mut last, mut room) = (0, 0);
    for number in numbers(db, id, kept)? {
        let key = (id, kept, number);
        let before = find(db, key)?.unwrap_or_default();
        let others = selected(&before, |file| !files.contain_fingerprint(file));
        if others.len() < before.len() {
            diesel::delete(crawl_etag::table.find(key)).execute(db)?;
            if !others.is_empty() {
                add(db, key, &others)?;
            }
        }
        room += before.len() - others.len();
        last = number;
    }
    for number in numbers(db, id, current)? {
        let page = find(db, (id, current, number))?.unwrap_or_default();
        let mut new = selected(&page, |file| files.contain_fingerprint(file));
        new.truncate(room);
        if !new.is_empty() {
            room -= new.len();
            last += 1;
            add(db, (id, kept, last), &new)?;
        }
    }
    Ok(())
}

/// Returns the ETags of the files for which `wanted` returns `true`.
fn selected(page: &[u8], wanted: impl Fn(u64) -> bool) -> Vec<u8> {
    let mut bytes = Vec::new();
    FileEtag::read(page).filter(|etag| wanted(etag.file)).for_each(|etag| etag.write(&mut bytes));
    bytes
}

/// Deletes a crawl's ETags, except those kept for later listings.
pub fn clear_others(db: &mut Db, id: i64) -> Result<(), DatabaseError> {
    let kept: Option<i64> =
        crawl::table.find(id).select(crawl::etags_listing).first(db).optional()?;
    let others = crawl_etag::table
        .filter(crawl_etag::crawl_id.eq(id))
        .filter(crawl_etag::listing.ne(kept.unwrap_or(0)));
    diesel::delete(others).execute(db)?;
    Ok(())
}

/// Deletes all ETags of a crawl.
pub fn clear(db: &mut Db, id: i64) -> Result<(), DatabaseError> {
    diesel::delete(crawl_etag::table.filter(crawl_etag::crawl_id.eq(id))).execute(db)?;
    Ok(())
}
