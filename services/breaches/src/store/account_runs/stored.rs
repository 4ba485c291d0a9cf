//! Blocks of accounts in the database.

use database::DatabaseError;
use diesel::connection::DefaultLoadingMode;
use diesel::dsl::max;
use diesel::prelude::*;

use crate::store::schema::account_block;

/// Blocks that are read at once.
const BLOCKS: i64 = 32;

/// A block as it is stored.
#[derive(Debug, Queryable)]
pub struct StoredBlock {
    /// Its lowest key when it was written.
    pub first: i64,
    /// Its accounts.
    pub data: Vec<u8>,
}

/// The block of a run that may have a key.
pub fn start(conn: &mut SqliteConnection, run: i64, key: i64) -> Result<i64, DatabaseError> {
    let before = account_block::table
        .filter(account_block::run.eq(run))
        .filter(account_block::first.le(key))
        .select(max(account_block::first));
    Ok(before.first::<Option<i64>>(conn)?.unwrap_or(key))
}

/// The blocks of a run from the one that may have the accounts with a key down, read one by one.
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

/// The block of a run that may have the accounts with a key: never more than one has them.
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

/// Some blocks of a run that begin between two keys.
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
