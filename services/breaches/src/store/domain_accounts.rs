//! By-domain account index for SQLite: a separate table in domain order.
//!
//! Loads insert accounts in key order, so an ordinary index by domain would be updated at random
//! positions. Instead, we collect the accounts of a transaction, sort them by domain and insert
//! them all at once.

use database::{DatabaseError, Db};
use diesel::prelude::*;
use diesel::query_builder::{AstPass, QueryFragment, QueryId};
use diesel::sql_types::{BigInt, Integer};
use diesel::sqlite::Sqlite;

use super::schema::{account, domain_account};

/// Rows per statement. This is fixed so that the statement is prepared only once.
const GROUP: usize = 100;

/// An index entry.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Insertable, Queryable)]
#[diesel(table_name = domain_account)]
pub struct DomainAccount {
    pub domain_id: i32,
    /// Account key.
    pub k: i64,
    /// Sequence number among addresses with the same key.
    pub seq: i16,
}

/// Inserts accounts with `seq` 0 in a single statement; Diesel would insert them row by row.
struct InsertFirst<'a, const ROWS: usize>(&'a [DomainAccount; ROWS]);

impl<const ROWS: usize> QueryFragment<Sqlite> for InsertFirst<'_, ROWS> {
    fn walk_ast<'b>(&'b self, mut out: AstPass<'_, 'b, Sqlite>) -> QueryResult<()> {
        out.push_sql("INSERT OR IGNORE INTO domain_account (domain_id, k, seq) VALUES ");
        let mut mark = "(";
        for row in self.0 {
            out.push_sql(mark);
            out.push_bind_param::<Integer, _>(&row.domain_id)?;
            out.push_sql(", ");
            out.push_bind_param::<BigInt, _>(&row.k)?;
            out.push_sql(", 0)");
            mark = ", (";
        }
        Ok(())
    }
}

/// The SQL depends only on `ROWS`, so each size is prepared only once.
impl<const ROWS: usize> QueryId for InsertFirst<'_, ROWS> {
    type QueryId = InsertFirst<'static, ROWS>;
    const HAS_STATIC_QUERY_ID: bool = true;
}

impl<const ROWS: usize, C> RunQueryDsl<C> for InsertFirst<'_, ROWS> {}

/// Adds index entries, skipping duplicates. Does nothing on PostgreSQL.
pub fn add(db: &mut Db, rows: &mut [DomainAccount]) -> Result<(), DatabaseError> {
    let Db::Sqlite(conn) = db else { return Ok(()) };
    rows.sort_unstable();
    let (groups, rest) = rows.as_chunks::<GROUP>();
    for group in groups {
        if group.iter().all(|row| row.seq == 0) {
            InsertFirst(group).execute(conn)?;
        } else {
            add_singly(conn, group)?;
        }
    }
    add_singly(conn, rest)
}

fn add_singly(conn: &mut SqliteConnection, rows: &[DomainAccount]) -> Result<(), DatabaseError> {
    for row in rows {
        diesel::insert_or_ignore_into(domain_account::table).values(row).execute(conn)?;
    }
    Ok(())
}

/// Returns the difference between the numbers of index entries and accounts. Always 0 on
/// PostgreSQL.
pub fn unfiled(db: &mut Db) -> Result<i64, DatabaseError> {
    let Db::Sqlite(conn) = db else { return Ok(0) };
    let accounts: i64 = account::table.count().get_result(conn)?;
    let filed: i64 = domain_account::table.count().get_result(conn)?;
    Ok((accounts - filed).abs())
}
