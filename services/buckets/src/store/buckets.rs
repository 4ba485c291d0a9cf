//! The bucket table.

use std::collections::HashSet;

use database::{DatabaseError, Db, on_backend};
use diesel::dsl::auto_type;
use diesel::prelude::*;

use super::schema::bucket;
use crate::model::address::BucketType;

/// A bucket in the database.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Bucket {
    /// Bucket id, as referenced by files.
    pub id: u64,
    /// Normalised address.
    pub address: String,
    /// Storage provider.
    pub kind: BucketType,
    /// Time of the first publish. `None` if the bucket isn't listed.
    pub first_indexed: Option<i64>,
    /// Whether the bucket's last listing was truncated.
    pub truncated: bool,
    /// Time at which the bucket was hidden because its provider kept refusing it. `None` if it
    /// isn't hidden.
    pub hidden_at: Option<i64>,
}

type Row = (i64, String, String, Option<i64>, bool, Option<i64>);

/// Columns of a [`Row`].
#[auto_type]
fn columns() -> _ {
    (
        bucket::id,
        bucket::address,
        bucket::kind,
        bucket::first_indexed,
        bucket::truncated,
        bucket::hidden_at,
    )
}

/// Returns all buckets, including unlisted ones, ordered by id.
pub fn all(db: &mut Db) -> Result<Vec<Bucket>, DatabaseError> {
    let rows: Vec<Row> = bucket::table.select(columns()).order(bucket::id.asc()).load(db)?;
    rows.into_iter().map(from_row).collect()
}

/// Buckets to read at a time.
const PAGE: i64 = 10_000;

/// Calls `take` for every bucket in ascending id order, without loading them all at once.
pub fn each(db: &mut Db, mut take: impl FnMut(Bucket)) -> Result<(), DatabaseError> {
    let mut last = 0;
    loop {
        let rows: Vec<Row> = bucket::table
            .filter(bucket::id.gt(last))
            .select(columns())
            .order(bucket::id.asc())
            .limit(PAGE)
            .load(db)?;
        let Some(row) = rows.last() else { return Ok(()) };
        last = row.0;
        rows.into_iter().try_for_each(|row| from_row(row).map(&mut take))?;
    }
}

/// Looks up buckets by id.
pub fn by_ids(db: &mut Db, ids: &[u64]) -> Result<Vec<Bucket>, DatabaseError> {
    let mut found = Vec::with_capacity(ids.len());
    for ids in ids.chunks(500) {
        let ids: Vec<i64> = ids.iter().map(|id| *id as i64).collect();
        let rows: Vec<Row> = on_backend!(db, conn => bucket::table
            .filter(bucket::id.eq_any(&ids))
            .select(columns())
            .load(conn))?;
        for row in rows {
            found.push(from_row(row)?);
        }
    }
    Ok(found)
}

/// Looks up a bucket by address.
pub fn by_address(db: &mut Db, address: &str) -> Result<Option<Bucket>, DatabaseError> {
    let row: Option<Row> =
        bucket::table.filter(bucket::address.eq(address)).select(columns()).first(db).optional()?;
    row.map(from_row).transpose()
}

/// Returns all addresses that begin with `name` and a dot, and possibly some others.
pub fn addresses_like(db: &mut Db, name: &str) -> Result<Vec<String>, DatabaseError> {
    let similar = bucket::table.filter(bucket::address.like(format!("{name}.%")));
    Ok(similar.select(bucket::address).order(bucket::id.asc()).load(db)?)
}

/// Returns the highest id, or 0 if there are no buckets.
pub fn largest_id(db: &mut Db) -> Result<u64, DatabaseError> {
    let largest: Option<i64> = bucket::table.select(diesel::dsl::max(bucket::id)).first(db)?;
    Ok(largest.unwrap_or(0) as u64)
}

/// Adds buckets. They aren't listed yet.
pub fn add(db: &mut Db, buckets: &[(u64, String, BucketType)]) -> Result<(), DatabaseError> {
    for buckets in buckets.chunks(500) {
        let rows: Vec<_> = buckets
            .iter()
            .map(|(id, address, kind)| {
                (
                    bucket::id.eq(*id as i64),
                    bucket::address.eq(address),
                    bucket::kind.eq(kind.as_str()),
                )
            })
            .collect();
        on_backend!(db, conn => diesel::insert_into(bucket::table).values(&rows).execute(conn))?;
    }
    Ok(())
}

/// Records that buckets were published. A bucket's flag is set if its listing was truncated.
pub fn published(db: &mut Db, buckets: &[(u64, bool)], at: i64) -> Result<(), DatabaseError> {
    for truncated in [false, true] {
        let ids: Vec<i64> =
            buckets.iter().filter(|b| b.1 == truncated).map(|b| b.0 as i64).collect();
        for ids in ids.chunks(500) {
            on_backend!(db, conn => diesel::update(bucket::table.filter(bucket::id.eq_any(ids)))
                .set((
                    bucket::last_listed.eq(at),
                    bucket::truncated.eq(truncated),
                    bucket::hidden_at.eq(None::<i64>),
                ))
                .execute(conn))?;
            let new = bucket::table
                .filter(bucket::id.eq_any(ids))
                .filter(bucket::first_indexed.is_null());
            on_backend!(db, conn => diesel::update(new)
                .set(bucket::first_indexed.eq(at))
                .execute(conn))?;
        }
    }
    Ok(())
}

/// Records that complete bucket listings were published, i.e. that any files missing from the
/// listings were removed.
pub fn replaced(db: &mut Db, buckets: &[u64], at: i64) -> Result<(), DatabaseError> {
    for ids in buckets.chunks(500) {
        let ids: Vec<i64> = ids.iter().map(|id| *id as i64).collect();
        on_backend!(db, conn => diesel::update(bucket::table.filter(bucket::id.eq_any(&ids)))
            .set(bucket::last_replaced.eq(at))
            .execute(conn))?;
    }
    Ok(())
}

/// Records that exactly these buckets were published and unlists all others. A bucket's flag is set
/// if its listing was truncated.
pub fn relist(db: &mut Db, buckets: &[(u64, bool)], at: i64) -> Result<(), DatabaseError> {
    let named: HashSet<u64> = buckets.iter().map(|bucket| bucket.0).collect();
    let listed: Vec<i64> =
        bucket::table.filter(bucket::first_indexed.is_not_null()).select(bucket::id).load(db)?;
    let gone: Vec<i64> = listed.into_iter().filter(|id| !named.contains(&(*id as u64))).collect();
    for ids in gone.chunks(500) {
        on_backend!(db, conn => diesel::update(bucket::table.filter(bucket::id.eq_any(ids)))
            .set(bucket::first_indexed.eq(None::<i64>))
            .execute(conn))?;
    }
    published(db, buckets, at)
}

/// Unix times of a bucket's publishes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Queryable)]
pub struct PublishTimes {
    /// The last publish.
    pub listed: Option<i64>,
    /// The last publish of a complete listing.
    pub replaced: Option<i64>,
}

/// Returns when a bucket was last published.
pub fn publish_times(db: &mut Db, address: &str) -> Result<PublishTimes, DatabaseError> {
    let times = bucket::table
        .filter(bucket::address.eq(address))
        .select((bucket::last_listed, bucket::last_replaced));
    Ok(times.first(db).optional()?.unwrap_or_default())
}

/// Locks a bucket until the transaction ends. SQLite has a single writer and doesn't need a lock.
pub fn lock(db: &mut Db, address: &str) -> Result<(), DatabaseError> {
    if let Db::Pg(conn) = db {
        let own = bucket::table.filter(bucket::address.eq(address)).select(bucket::id);
        own.for_update().first::<i64>(conn).optional()?;
    }
    Ok(())
}

/// Unlists a bucket. It keeps its id.
pub fn unlist(db: &mut Db, address: &str) -> Result<(), DatabaseError> {
    diesel::update(bucket::table.filter(bucket::address.eq(address)))
        .set(bucket::first_indexed.eq(None::<i64>))
        .execute(db)?;
    Ok(())
}

/// Hides a bucket without removing its files. Returns `false` if there is no such bucket, or if it
/// is already hidden.
pub fn hide(db: &mut Db, address: &str, at: i64) -> Result<bool, DatabaseError> {
    let shown =
        bucket::table.filter(bucket::address.eq(address)).filter(bucket::hidden_at.is_null());
    Ok(diesel::update(shown).set(bucket::hidden_at.eq(at)).execute(db)? > 0)
}

/// Makes a hidden bucket visible again. Returns `false` if it isn't hidden.
pub fn show(db: &mut Db, address: &str) -> Result<bool, DatabaseError> {
    let hidden =
        bucket::table.filter(bucket::address.eq(address)).filter(bucket::hidden_at.is_not_null());
    Ok(diesel::update(hidden).set(bucket::hidden_at.eq(None::<i64>)).execute(db)? > 0)
}

fn from_row(row: Row) -> Result<Bucket, DatabaseError> {
    let (id, address, kind, first_indexed, truncated, hidden_at) = row;
    let kind = kind.parse().map_err(DatabaseError::broken)?;
    Ok(Bucket { id: id as u64, address, kind, first_indexed, truncated, hidden_at })
}
