//! Reads and removes stored blocks of accounts.

use database::DatabaseError;
use diesel::connection::DefaultLoadingMode;
use diesel::dsl::max;
use diesel::prelude::*;

use crate::store::schema::account_block;

/// Number of blocks read per query.
const BLOCKS: i64 = 32;

#[derive(Debug, Queryable)]
pub struct StoredBlock {
    /// The lowest key at the time when it was written.
    pub first: i64,
    /// The encoded accounts.
    pub data: Vec<u8>,
}

/// Returns the first key of the block that may contain `key`.
pub fn start(conn: &mut SqliteConnection, run: i64, key: i64) -> Result<i64, DatabaseError> {
    let before = account_block::table
        .filter(account_block::run.eq(run))
        .filter(account_block::first.le(key))
        .select(max(account_block::first));
    Ok(before.first::<Option<i64>>(conn)?.unwrap_or(key))
}

/// Returns the blocks of a run in descending order, starting with the one that may contain `key`.
/// They are read lazily.
pub fn down_from(
    conn: &mut SqliteConnection,
    run: i64,
    key: i64,
) -> Result<impl Iterator<Item = QueryResult<StoredBlock>>, DatabaseError> {
    Ok(account_block::table
        .filter(account_block::run.eq(run))
        .filter(account_block::first.le(key))
        .order(account_block::first.desc())
        .select((account_block::first, account_block::data))
        .load_iter::<StoredBlock, DefaultLoadingMode>(conn)?)
}

/// Returns the block of a run that may contain `key`. There is at most one.
pub fn with_key(
    conn: &mut SqliteConnection,
    run: i64,
    key: i64,
) -> Result<Option<StoredBlock>, DatabaseError> {
    Ok(account_block::table
        .filter(account_block::run.eq(run))
        .filter(account_block::first.le(key))
        .order(account_block::first.desc())
        .select((account_block::first, account_block::data))
        .first(conn)
        .optional()?)
}

/// Returns the first blocks of a run that begin between two keys.
pub fn blocks(
    conn: &mut SqliteConnection,
    run: i64,
    from: i64,
    to: i64,
) -> Result<Vec<StoredBlock>, DatabaseError> {
    Ok(account_block::table
        .filter(account_block::run.eq(run))
        .filter(account_block::first.between(from, to))
        .order(account_block::first)
        .limit(BLOCKS)
        .select((account_block::first, account_block::data))
        .load(conn)?)
}

/// Removes the blocks of a run that begin between two keys.
pub fn remove_blocks(
    conn: &mut SqliteConnection,
    run: i64,
    from: i64,
    to: i64,
) -> Result<(), DatabaseError> {
    let blocks = account_block::table.filter(account_block::run.eq(run));
    diesel::delete(blocks.filter(account_block::first.between(from, to))).execute(conn)?;
    Ok(())
}
