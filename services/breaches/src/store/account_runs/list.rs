//! Which runs there are.

use database::{DatabaseError, Db};
use diesel::dsl::exists;
use diesel::prelude::*;
use diesel::sql_types::BigInt;

use crate::model::id_list;
use crate::store::schema::{account_block, account_run, domain_block, run_filter};

/// A run without its filter.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Queryable)]
pub struct Run {
    /// Number; never used again.
    pub id: i64,
    /// How many accounts it has.
    pub accounts: i64,
    /// The lowest key.
    pub low: i64,
    /// The highest key.
    pub high: i64,
}

/// The runs with keys between two keys, both included.
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

/// All runs.
pub fn all(conn: &mut SqliteConnection) -> Result<Vec<Run>, DatabaseError> {
    overlapping(conn, i64::MIN, i64::MAX)
}

/// Whether there are any.
pub fn any(conn: &mut SqliteConnection) -> Result<bool, DatabaseError> {
    Ok(account_run::table.select(account_run::id).first::<i64>(conn).optional()?.is_some())
}

/// A run with links to a breach; none in PostgreSQL.
pub fn first_with(db: &mut Db, breach: u16) -> Result<Option<i64>, DatabaseError> {
    let Db::Sqlite(conn) = db else { return Ok(None) };
    let runs: Vec<(i64, Vec<u8>)> =
        account_run::table.select((account_run::id, account_run::breaches)).load(conn)?;
    Ok(runs.into_iter().find(|(_, list)| id_list::contains(list, breach)).map(|(id, _)| id))
}

/// Forgets a run with all that is left of it.
pub fn remove(conn: &mut SqliteConnection, run: i64) -> Result<(), DatabaseError> {
    diesel::delete(account_block::table.filter(account_block::run.eq(run))).execute(conn)?;
    diesel::delete(domain_block::table.filter(domain_block::run.eq(run))).execute(conn)?;
    diesel::delete(run_filter::table.find(run)).execute(conn)?;
    diesel::delete(account_run::table.find(run)).execute(conn)?;
    Ok(())
}

/// Notes that accounts were taken out of a run, and forgets it if none is left.
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

/// Forgets a run if no account is left of it.
fn remove_if_empty(conn: &mut SqliteConnection, run: i64) -> Result<(), DatabaseError> {
    let blocks = account_block::table.filter(account_block::run.eq(run));
    match diesel::select(exists(blocks)).get_result(conn)? {
        true => Ok(()),
        false => remove(conn, run),
    }
}

/// How many accounts there are, roughly.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Weights {
    /// In runs.
    pub runs: i64,
    /// In the table, by the size of the file.
    pub table: i64,
}

/// What an account weighs in the table and by domain, in bytes.
const IN_TABLE: i64 = 58;
/// The same for a run.
const IN_RUN: i64 = 40;

#[derive(QueryableByName)]
struct Size {
    #[diesel(sql_type = BigInt)]
    bytes: i64,
}

/// How many accounts there are, without counting them.
pub fn weights(conn: &mut SqliteConnection) -> Result<Weights, DatabaseError> {
    let runs = all(conn)?.iter().map(|run| run.accounts).sum::<i64>();
    let size: Size = diesel::sql_query(
        "SELECT (p.page_count - f.freelist_count) * s.page_size AS bytes \
         FROM pragma_page_count p, pragma_freelist_count f, pragma_page_size s",
    )
    .get_result(conn)?;
    Ok(Weights { runs, table: (size.bytes - runs * IN_RUN).max(0) / IN_TABLE })
}
