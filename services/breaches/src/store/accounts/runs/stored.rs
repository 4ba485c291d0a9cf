//! Reads and deletes blocks of accounts.

use database::DatabaseError;
use diesel::connection::DefaultLoadingMode;
use diesel::dsl::max;
use diesel::prelude::*;

use super::block::number;
use crate::store::schema::account_block;

/// How many blocks to read per query.
const BLOCKS: i64 = 32;

#[derive(Debug, Queryable)]
pub struct StoredBlock {
    /// Block number; see [`number`].
    pub id: i64,
    /// Encoded accounts.
    pub data: Vec<u8>,
}

/// Returns the lowest and highest possible block number in a run.
pub fn bounds(run: i64) -> (i64, i64) {
    (number(run, i64::MIN), number(run, i64::MAX))
}

/// Returns the number of the block that may contain `key`.
pub fn start(conn: &mut SqliteConnection, run: i64, key: i64) -> Result<i64, DatabaseError> {
    let place = number(run, key);
    let before = account_block::table
        .filter(account_block::id.between(bounds(run).0, place))
        .select(max(account_block::id));
    Ok(before.first::<Option<i64>>(conn)?.unwrap_or(place))
}

/// Lazily reads a run's blocks in reverse, starting with the one that may contain `key`.
pub fn down_from(
    conn: &mut SqliteConnection,
    run: i64,
    key: i64,
) -> Result<impl Iterator<Item = QueryResult<StoredBlock>>, DatabaseError> {
    Ok(account_block::table
        .filter(account_block::id.between(bounds(run).0, number(run, key)))
        .order(account_block::id.desc())
        .load_iter::<StoredBlock, DefaultLoadingMode>(conn)?)
}

/// Reads the one block of a run that may contain `key`.
pub fn with_key(
    conn: &mut SqliteConnection,
    run: i64,
    key: i64,
) -> Result<Option<StoredBlock>, DatabaseError> {
    Ok(account_block::table
        .filter(account_block::id.between(bounds(run).0, number(run, key)))
        .order(account_block::id.desc())
        .first(conn)
        .optional()?)
}

/// Reads the first few blocks with numbers in the given range.
pub fn blocks(
    conn: &mut SqliteConnection,
    from: i64,
    to: i64,
) -> Result<Vec<StoredBlock>, DatabaseError> {
    Ok(account_block::table
        .filter(account_block::id.between(from, to))
        .order(account_block::id)
        .limit(BLOCKS)
        .load(conn)?)
}

/// Deletes the blocks with numbers in the given range.
pub fn remove_blocks(conn: &mut SqliteConnection, from: i64, to: i64) -> Result<(), DatabaseError> {
    let blocks = account_block::table.filter(account_block::id.between(from, to));
    diesel::delete(blocks).execute(conn)?;
    Ok(())
}
