//! Removes links to a breach from ranges of keys.

use database::{Backend, DatabaseError, Db};
use diesel::prelude::*;
use diesel::sql_types::BigInt;

use crate::model::id_list;
use crate::store::layout::Layout;
use crate::store::shard;

#[derive(QueryableByName)]
struct Number {
    #[diesel(sql_type = BigInt)]
    number: i64,
}

/// SQL condition for keys of `table` from `low` to `high`. On a distributed database it includes
/// the shards, so that a range within one shard goes to just one server.
fn place(table: &str, layout: Layout, low: i64, high: i64) -> String {
    let keys = format!("{table}.k BETWEEN {low} AND {high}");
    if !layout.is_distributed() {
        return keys;
    }
    let shards = shard::of_key(low)..=shard::of_key(high);
    let list: Vec<String> = shards.map(|shard| shard.to_string()).collect();
    format!("{table}.shard IN ({}) AND {keys}", list.join(", "))
}

/// The part of the work on a key range that one transaction does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum StripStep {
    /// All of it.
    Everything,
    /// Stealer log entries, and accounts that have no other data.
    Deletions,
    /// Links of the remaining accounts in this part, numbered from 0.
    Links(i64),
}

impl StripStep {
    /// Returns the transactions for each range, in order.
    ///
    /// On a single PostgreSQL server, an account whose new version fits in its page needs no new
    /// index entries, which halves the cost. Full pages have space only once the versions that an
    /// earlier transaction replaced or deleted can be overwritten.
    pub fn in_order(backend: Backend, layout: Layout) -> &'static [Self] {
        match (backend, layout) {
            (Backend::Postgres, Layout::OneServer) => {
                &[Self::Deletions, Self::Links(0), Self::Links(1), Self::Links(2), Self::Links(3)]
            }
            _ => &[Self::Everything],
        }
    }
}

/// Number of [`StripStep::Links`] steps per range, a power of two.
const PARTS: i64 = 4;

/// The statements of [`strip_between`], in the order they're run.
#[derive(Debug)]
pub struct StripStatements {
    /// Deletes stealer log entries.
    pub pairs: String,
    /// Counts links to the breach. Only needed on distributed databases, where we don't rely on the
    /// other statements' row counts.
    pub count: String,
    /// Deletes accounts that have no other data.
    pub accounts: String,
    /// Removes the links of all other accounts, or just the ones in the step's part.
    pub links: String,
}

impl StripStatements {
    /// Builds the statements for keys from `low` to `high`.
    pub fn new(layout: Layout, breach: u16, (low, high): (i64, i64), step: StripStep) -> Self {
        let [first, second] = breach.to_le_bytes();
        let id = format!(r"'\x{first:02x}{second:02x}'::BYTEA");
        let (pairs, accounts) = (place("p", layout, low, high), place("a", layout, low, high));
        // The function is rarely called, because a first match that straddles two ids is rare.
        let first_match = format!("position({id} IN a.breaches)");
        let odd = format!("{first_match} % 2 = 1");
        let exact = format!("breach_place(a.breaches, {id})");
        let linked = format!("{first_match} > 0 AND ({odd} OR {exact} > 0)");
        // Check the part first, because the list is more expensive to check.
        let part = match step {
            StripStep::Links(part) => format!(" AND a.k & {} = {part}", PARTS - 1),
            StripStep::Everything | StripStep::Deletions => String::new(),
        };
        let same = "x.shard = a.shard AND x.k = a.k AND x.seq = a.seq";
        Self {
            pairs: format!("DELETE FROM stealer_log p WHERE {pairs} AND p.breach_id = {breach}"),
            count: format!(
                "SELECT count(*) AS number FROM account a WHERE {accounts} AND {linked}"
            ),
            accounts: format!(
                "DELETE FROM account a WHERE {accounts} AND a.breaches = {id} \
                 AND NOT EXISTS (SELECT 1 FROM stealer_log x WHERE {same}) \
                 AND NOT EXISTS (SELECT 1 FROM paste_account x WHERE {same})"
            ),
            links: format!(
                "UPDATE account a SET breaches = \
                 overlay(a.breaches PLACING ''::BYTEA \
                 FROM CASE WHEN {odd} THEN {first_match} ELSE {exact} END FOR 2) \
                 WHERE {accounts}{part} AND {linked}"
            ),
        }
    }
}

/// Performs one step of removing a breach's links and stealer log entries in a key range
/// (inclusive), along with accounts that have no other data; see [`StripStep::in_order`]. Returns
/// the number of links removed. Doesn't touch runs.
pub fn strip_between(
    db: &mut Db,
    layout: Layout,
    breach: u16,
    range: (i64, i64),
    step: StripStep,
) -> Result<i64, DatabaseError> {
    match (db, layout) {
        (Db::Sqlite(conn), _) => strip_rows(conn, breach, range),
        (Db::Pg(conn), Layout::OneServer) => {
            strip_on_server(conn, StripStatements::new(layout, breach, range, step), step)
        }
        (Db::Pg(conn), Layout::Distributed) => {
            strip_distributed(conn, StripStatements::new(layout, breach, range, step))
        }
    }
}

#[diesel::declare_sql_function]
extern "SQL" {
    /// SQL expression for the packed list without an id. Null if the id isn't in the list.
    fn id_without(
        list: diesel::sql_types::Binary,
        id: diesel::sql_types::Integer,
    ) -> diesel::sql_types::Nullable<diesel::sql_types::Binary>;
}

/// Prepares a SQLite connection for [`strip_between`].
pub fn prepare_strip(db: &mut Db) -> Result<(), DatabaseError> {
    let Db::Sqlite(conn) = db else { return Ok(()) };
    let without = |list: Vec<u8>, id: i32| -> Option<Vec<u8>> {
        id_list::without(&list, u16::try_from(id).ok()?)
    };
    Ok(id_without_utils::register_impl(conn, without)?)
}

/// `OR IGNORE` statements can't fail halfway. With anything else, SQLite would back up every page
/// that the statement changes.
fn strip_rows(
    conn: &mut SqliteConnection,
    breach: u16,
    (low, high): (i64, i64),
) -> Result<i64, DatabaseError> {
    let [first, second] = breach.to_le_bytes();
    let id = format!("x'{first:02x}{second:02x}'");
    let keys = format!("k BETWEEN {low} AND {high}");
    let condition = |table: &str| {
        format!("SELECT 1 FROM {table} x WHERE x.k = account.k AND x.seq = account.seq")
    };
    let pairs = format!("DELETE FROM stealer_log WHERE {keys} AND breach_id = {breach}");
    let accounts = format!(
        "DELETE FROM account WHERE {keys} AND breaches = {id} AND NOT EXISTS ({}) \
         AND NOT EXISTS ({})",
        condition("stealer_log"),
        condition("paste_account")
    );
    // The cheaper condition comes first.
    let links = format!(
        "UPDATE OR IGNORE account SET breaches = id_without(breaches, {breach}) \
         WHERE {keys} AND instr(breaches, {id}) > 0 AND id_without(breaches, {breach}) IS NOT NULL"
    );
    diesel::sql_query(pairs).execute(conn)?;
    let removed = diesel::sql_query(accounts).execute(conn)?;
    let shortened = diesel::sql_query(links).execute(conn)?;
    i64::try_from(removed + shortened).map_err(DatabaseError::broken)
}

fn strip_on_server(
    conn: &mut PgConnection,
    statements: StripStatements,
    step: StripStep,
) -> Result<i64, DatabaseError> {
    let StripStatements { pairs, accounts, links, .. } = statements;
    let mut stripped = 0;
    if !matches!(step, StripStep::Links(_)) {
        diesel::sql_query(pairs).execute(conn)?;
        stripped += diesel::sql_query(accounts).execute(conn)?;
    }
    if step != StripStep::Deletions {
        stripped += diesel::sql_query(links).execute(conn)?;
    }
    i64::try_from(stripped).map_err(DatabaseError::broken)
}

fn strip_distributed(
    conn: &mut PgConnection,
    statements: StripStatements,
) -> Result<i64, DatabaseError> {
    let StripStatements { pairs, count, accounts, links } = statements;
    diesel::sql_query(pairs).execute(conn)?;
    let found: Number = diesel::sql_query(count).get_result(conn)?;
    if found.number > 0 {
        diesel::sql_query(accounts).execute(conn)?;
        diesel::sql_query(links).execute(conn)?;
    }
    Ok(found.number)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn steps_on_postgres_cover_all_accounts() {
        let steps = StripStep::in_order(Backend::Postgres, Layout::OneServer);
        let parts: Vec<StripStep> = (0..PARTS).map(StripStep::Links).collect();
        assert_eq!(steps, [&[StripStep::Deletions], &parts[..]].concat());
    }
}
