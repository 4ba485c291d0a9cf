//! The list of runs.

use database::{DatabaseError, Db};
use diesel::dsl::exists;
use diesel::prelude::*;
use diesel::sql_types::BigInt;

use super::block::SIZE;
use super::stored;
use crate::model::id_list;
use crate::store::schema::{account_block, account_run, domain_block, run_filter};

/// A run without its filter.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Queryable)]
pub struct Run {
    /// Run id, never reused.
    pub id: i64,
    /// Number of accounts.
    pub accounts: i64,
    /// Lowest key.
    pub low: i64,
    /// Highest key.
    pub high: i64,
}

impl Run {
    /// Estimates how many blocks have keys from `low` to `high`, inclusive. Keys are hashes, so
    /// they're evenly distributed.
    pub fn blocks_between(&self, low: i64, high: i64) -> usize {
        let width = |low: i64, high: i64| i128::from(high) - i128::from(low);
        let wanted = width(low.max(self.low), high.min(self.high)).max(0);
        let accounts = i128::from(self.accounts) * wanted / width(self.low, self.high).max(1);
        usize::try_from(accounts * i128::from(IN_RUN)).unwrap_or(usize::MAX) / SIZE
    }
}

/// Lists runs whose keys overlap the range from `low` to `high`, inclusive.
pub fn overlapping(
    conn: &mut SqliteConnection,
    low: i64,
    high: i64,
) -> Result<Vec<Run>, DatabaseError> {
    Ok(account_run::table
        .filter(account_run::low.le(high).and(account_run::high.ge(low)))
        .order(account_run::id)
        .select((account_run::id, account_run::accounts, account_run::low, account_run::high))
        .load(conn)?)
}

/// Lists all runs.
pub fn all(conn: &mut SqliteConnection) -> Result<Vec<Run>, DatabaseError> {
    overlapping(conn, i64::MIN, i64::MAX)
}

/// True if there are any runs.
pub fn any(conn: &mut SqliteConnection) -> Result<bool, DatabaseError> {
    Ok(account_run::table.select(account_run::id).first::<i64>(conn).optional()?.is_some())
}

/// Returns the number of runs and the total size of their blocks in bytes. Always 0 on PostgreSQL.
pub fn figures(db: &mut Db) -> Result<(i64, i64), DatabaseError> {
    let Db::Sqlite(conn) = db else { return Ok((0, 0)) };
    let size: Size =
        diesel::sql_query("SELECT coalesce(sum(length(data)), 0) AS bytes FROM account_block")
            .get_result(conn)?;
    Ok((account_run::table.count().get_result(conn)?, size.bytes))
}

/// Finds a run with links to `breach`. Always `None` on PostgreSQL.
pub fn first_with(db: &mut Db, breach: u16) -> Result<Option<i64>, DatabaseError> {
    let Db::Sqlite(conn) = db else { return Ok(None) };
    let runs: Vec<(i64, Vec<u8>)> =
        account_run::table.select((account_run::id, account_run::breaches)).load(conn)?;
    Ok(runs.into_iter().find(|(_, list)| id_list::contains(list, breach)).map(|(id, _)| id))
}

/// Deletes a run along with any remaining blocks.
pub fn remove(conn: &mut SqliteConnection, run: i64) -> Result<(), DatabaseError> {
    let (first, last) = stored::bounds(run);
    stored::remove_blocks(conn, first, last)?;
    diesel::delete(domain_block::table.filter(domain_block::run.eq(run))).execute(conn)?;
    diesel::delete(run_filter::table.find(run)).execute(conn)?;
    diesel::delete(account_run::table.find(run)).execute(conn)?;
    Ok(())
}

/// Subtracts removed accounts from a run's count and deletes the run if it's empty now.
pub fn note_taken(
    conn: &mut SqliteConnection,
    run: i64,
    accounts: usize,
) -> Result<(), DatabaseError> {
    let accounts = i64::try_from(accounts).map_err(DatabaseError::broken)?;
    diesel::update(account_run::table.find(run))
        .set(account_run::accounts.eq(account_run::accounts - accounts))
        .execute(conn)?;
    remove_if_empty(conn, run)
}

/// Deletes a run if it has no blocks left.
fn remove_if_empty(conn: &mut SqliteConnection, run: i64) -> Result<(), DatabaseError> {
    let (first, last) = stored::bounds(run);
    let blocks = account_block::table.filter(account_block::id.between(first, last));
    match diesel::select(exists(blocks)).get_result(conn)? {
        true => Ok(()),
        false => remove(conn, run),
    }
}

/// Approximate numbers of accounts in the table and in runs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Weights {
    pub runs: i64,
    /// Accounts in the table, estimated from the file size.
    pub table: i64,
}

/// Bytes per account in the table and its by-domain index.
const IN_TABLE: i64 = 58;
/// Bytes per account in a run.
const IN_RUN: i64 = 40;

#[derive(QueryableByName)]
struct Size {
    #[diesel(sql_type = BigInt)]
    bytes: i64,
}

/// Estimates the numbers of accounts without counting them.
pub fn weights(conn: &mut SqliteConnection) -> Result<Weights, DatabaseError> {
    let runs = all(conn)?.iter().map(|run| run.accounts).sum::<i64>();
    let size: Size = diesel::sql_query(
        "SELECT (p.page_count - f.freelist_count) * s.page_size AS bytes \
         FROM pragma_page_count p, pragma_freelist_count f, pragma_page_size s",
    )
    .get_result(conn)?;
    Ok(Weights { runs, table: (size.bytes - runs * IN_RUN).max(0) / IN_TABLE })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn blocks_between_two_keys_are_estimated_from_their_share_of_the_run() {
        let run = Run { id: 1, accounts: 48_000, low: i64::MIN, high: i64::MAX };
        assert_eq!(run.blocks_between(i64::MIN, i64::MAX), 984);
        assert_eq!(run.blocks_between(0, i64::MAX), 492);
        assert_eq!(run.blocks_between(7, 7), 0);
        let half = Run { low: 0, ..run };
        assert_eq!(half.blocks_between(i64::MIN, i64::MAX / 2), 492);
        assert_eq!(Run { high: 0, ..half }.blocks_between(i64::MIN, i64::MAX), 0);
    }
}
