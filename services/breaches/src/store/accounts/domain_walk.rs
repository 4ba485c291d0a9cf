//! Reads a domain's accounts a few thousand at a time.

use database::{DatabaseError, Db};
use diesel::prelude::*;
use diesel::sql_types::{BigInt, Binary, SmallInt, Text};

use super::read::by_domain;
use super::rows::AccountRow;
use super::runs;
use crate::store::schema::domain_account;
use crate::store::{mail_domains, unfiled_accounts};

/// How many accounts to read per query.
const PAGE: i64 = 5_000;

/// An account without its domain, which the caller knows.
type DomainRow = (i64, i16, String, Vec<u8>);

/// Reads all accounts at a domain into memory. Subdomains aren't included.
pub fn at_domain(db: &mut Db, domain: &str) -> Result<Vec<AccountRow>, DatabaseError> {
    let mut rows = Vec::new();
    each_at_domain(db, domain, |_, row| {
        rows.push(row);
        Ok::<(), DatabaseError>(())
    })?;
    Ok(rows)
}

/// Runs several reads on a single snapshot. Don't call this inside a transaction.
pub fn in_one_snapshot<T, E: From<DatabaseError>>(
    db: &mut Db,
    read: impl FnOnce(&mut Db) -> Result<T, E>,
) -> Result<T, E> {
    let done: Result<Result<T, E>, diesel::result::Error> = db.transaction(|db| {
        if let Db::Pg(conn) = db {
            diesel::sql_query("SET TRANSACTION ISOLATION LEVEL REPEATABLE READ").execute(conn)?;
        }
        Ok(read(db))
    });
    done.map_err(DatabaseError::from)?
}

/// Visits the accounts at a domain while keeping only a few thousand in memory. Subdomains aren't
/// included. Fails with [`DatabaseError::NotReady`] while the by-domain index is incomplete.
pub fn each_at_domain<E: From<DatabaseError>>(
    db: &mut Db,
    domain: &str,
    mut visit: impl FnMut(&mut Db, AccountRow) -> Result<(), E>,
) -> Result<(), E> {
    let Some(id) = mail_domains::id(db, domain)? else { return Ok(()) };
    unfiled_accounts::expect_none(db)?;
    // The transaction keeps the cursor open and the runs consistent, regardless of what the visitor
    // does.
    let visited: Result<Result<(), E>, diesel::result::Error> = db.transaction(|db| {
        Ok(match db {
            Db::Sqlite(_) => each_page(db, (id, domain), &mut visit),
            Db::Pg(_) => fetch_domain(db, id, &mut |db, rows| {
                for (k, seq, local, breaches) in rows {
                    visit(db, AccountRow { k, seq, local, domain: domain.to_owned(), breaches })?;
                }
                Ok(())
            }),
        })
    });
    visited.map_err(DatabaseError::from)?
}

/// Pages through the by-domain index in key order and merges in accounts from runs.
fn each_page<E: From<DatabaseError>>(
    db: &mut Db,
    (id, domain): (i32, &str),
    visit: &mut impl FnMut(&mut Db, AccountRow) -> Result<(), E>,
) -> Result<(), E> {
    let Db::Sqlite(conn) = db else { return Ok(()) };
    let mut others = runs::at_domain(conn, id)?;
    let mut after = (i64::MIN, -1_i16);
    loop {
        let rows = page(db, id, after)?;
        let Some(last) = rows.last() else { break };
        after = (last.0, last.1);
        for (k, seq, local, breaches) in rows {
            while let Db::Sqlite(conn) = db
                && let Some(account) = others.next_below(conn, k)?
            {
                visit(db, AccountRow::of_run(account, domain.to_owned()))?;
            }
            let mut row = AccountRow { k, seq, local, domain: domain.to_owned(), breaches };
            if let Db::Sqlite(conn) = db
                && let Some(more) = others.take_same(conn, k, id, &row.local)?
            {
                row.add(&more.breaches);
            }
            visit(db, row)?;
        }
    }
    while let Db::Sqlite(conn) = db
        && let Some(account) = others.next(conn)?
    {
        visit(db, AccountRow::of_run(account, domain.to_owned()))?;
    }
    Ok(())
}

fn page(db: &mut Db, id: i32, (k, seq): (i64, i16)) -> Result<Vec<DomainRow>, DatabaseError> {
    let later =
        domain_account::k.ge(k).and(domain_account::k.gt(k).or(domain_account::seq.gt(seq)));
    let page =
        by_domain(id).filter(later).order((domain_account::k, domain_account::seq)).limit(PAGE);
    Ok(page.load(db)?)
}

/// Reads accounts with a cursor. Used on PostgreSQL, since its index isn't in key order.
fn fetch_domain<E: From<DatabaseError>>(
    db: &mut Db,
    id: i32,
    visit: &mut impl FnMut(&mut Db, Vec<DomainRow>) -> Result<(), E>,
) -> Result<(), E> {
    let run = |db: &mut Db, statement: String| -> Result<Vec<FetchedRow>, DatabaseError> {
        Ok(diesel::sql_query(statement).load(db)?)
    };
    let select = "SELECT k, seq, local, breaches FROM account WHERE domain_id";
    let declare = format!("DECLARE at_domain NO SCROLL CURSOR FOR {select} = {id}");
    diesel::sql_query(declare).execute(db).map_err(DatabaseError::from)?;
    loop {
        let rows = run(db, format!("FETCH {PAGE} FROM at_domain"))?;
        if rows.is_empty() {
            break;
        }
        visit(db, rows.into_iter().map(|row| (row.k, row.seq, row.local, row.breaches)).collect())?;
    }
    diesel::sql_query("CLOSE at_domain").execute(db).map_err(DatabaseError::from)?;
    Ok(())
}

/// A row returned by a cursor.
#[derive(QueryableByName)]
struct FetchedRow {
    #[diesel(sql_type = BigInt)]
    k: i64,
    #[diesel(sql_type = SmallInt)]
    seq: i16,
    #[diesel(sql_type = Text)]
    local: String,
    #[diesel(sql_type = Binary)]
    breaches: Vec<u8>,
}
