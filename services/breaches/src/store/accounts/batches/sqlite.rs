//! Links groups of accounts on SQLite.

use database::DatabaseError;
use diesel::prelude::*;
use diesel::query_builder::{AstPass, Query, QueryFragment, QueryId};
use diesel::sql_types::{BigInt, Binary, Integer, SmallInt, Text};
use diesel::sqlite::Sqlite;

use super::changes::{Change, Linked, Stored, changes, filed};
use crate::store::accounts::new_account::NewAccount;
use crate::store::schema::account;

/// Accounts per group.
pub(super) const GROUP: usize = 400;
/// Rows per `INSERT`.
const ROWS: usize = 100;
/// Rows per `INSERT` for the remainder.
const FEW: usize = 10;

/// Links a group.
///
/// Unless keys of the previous group were already stored, we insert this one right away and compare
/// it with the stored rows only if some keys already existed. This requires all accounts to have
/// the same list: a stored row with that list is then either newly inserted or unchanged.
pub(super) fn link(
    conn: &mut SqliteConnection,
    group: &[NewAccount<'_>],
    linked: &mut Linked,
) -> Result<(), DatabaseError> {
    let Some(list) = group.first().map(|account| account.breaches) else { return Ok(()) };
    let inserts_first = !linked.meets_known && group.iter().all(|each| each.breaches == list);
    if inserts_first {
        let inserted = insert(conn, group)?;
        linked.count(list, i64::try_from(inserted).map_err(DatabaseError::broken)?);
        if inserted == group.len() {
            linked.filings.extend(group.iter().map(|account| filed(*account, 0)));
            return Ok(());
        }
    }
    let stored = with_keys(conn, group)?;
    linked.meets_known = !stored.is_empty();
    if inserts_first {
        file_equal(group, &stored, linked);
    }
    let changes = changes(group, &stored, linked);
    let first: Vec<NewAccount<'_>> = changes
        .iter()
        .filter(|change| !change.exists && change.seq == 0)
        .map(|change| change.account)
        .collect();
    insert(conn, &first)?;
    for change in changes.iter().filter(|change| change.exists || change.seq > 0) {
        write(conn, change)?;
    }
    Ok(())
}

/// Adds index entries for stored accounts whose list equals the one in the group. These include all
/// newly inserted rows; entries that already exist are skipped later.
fn file_equal(group: &[NewAccount<'_>], stored: &[Stored], linked: &mut Linked) {
    for row in stored {
        let place = group.binary_search_by_key(&row.k, |account| account.k);
        let account = place.ok().and_then(|place| group.get(place));
        let is_own = |account: &&NewAccount<'_>| {
            row.domain_id == account.domain_id
                && row.local == account.local
                && row.breaches == account.breaches
        };
        linked.filings.extend(account.filter(is_own).map(|account| filed(*account, row.seq)));
    }
}

/// Writes an account that is already stored or shares its key with another address.
fn write(conn: &mut SqliteConnection, change: &Change<'_>) -> Result<(), DatabaseError> {
    let Change { account: new, seq, list, exists } = change;
    let list: &[u8] = list;
    if *exists {
        diesel::update(account::table.find((new.k, seq)))
            .set(account::breaches.eq(list))
            .execute(conn)?;
    } else {
        diesel::insert_into(account::table)
            .values((
                account::k.eq(new.k),
                account::seq.eq(seq),
                account::domain_id.eq(new.domain_id),
                account::local.eq(new.local),
                account::breaches.eq(list),
            ))
            .execute(conn)?;
    }
    Ok(())
}

/// Inserts rows with `seq` 0, skipping existing keys. Returns the number of rows inserted.
fn insert(conn: &mut SqliteConnection, rows: &[NewAccount<'_>]) -> Result<usize, DatabaseError> {
    let mut inserted = 0;
    let (many, rest) = rows.as_chunks::<ROWS>();
    for rows in many {
        inserted += InsertNew(rows).execute(conn)?;
    }
    let (few, rest) = rest.as_chunks::<FEW>();
    for rows in few {
        inserted += InsertNew(rows).execute(conn)?;
    }
    for row in rest {
        inserted += InsertNew(std::array::from_ref(row)).execute(conn)?;
    }
    Ok(inserted)
}

/// With `OR IGNORE`, the statement can't fail halfway. Otherwise, SQLite would journal every page
/// it touches to be able to undo it.
struct InsertNew<'a, const ROWS: usize>(&'a [NewAccount<'a>; ROWS]);

impl<const ROWS: usize> QueryFragment<Sqlite> for InsertNew<'_, ROWS> {
    fn walk_ast<'b>(&'b self, mut out: AstPass<'_, 'b, Sqlite>) -> QueryResult<()> {
        out.push_sql("INSERT OR IGNORE INTO account (seq, k, domain_id, local, breaches) VALUES ");
        let mut mark = "(0, ";
        for row in self.0 {
            out.push_sql(mark);
            out.push_bind_param::<BigInt, _>(&row.k)?;
            out.push_sql(", ");
            out.push_bind_param::<Integer, _>(&row.domain_id)?;
            out.push_sql(", ");
            out.push_bind_param::<Text, _>(row.local)?;
            out.push_sql(", ");
            out.push_bind_param::<Binary, _>(row.breaches)?;
            out.push_sql(")");
            mark = ", (0, ";
        }
        Ok(())
    }
}

/// The SQL depends only on `ROWS`, so each size is prepared only once.
impl<const ROWS: usize> QueryId for InsertNew<'_, ROWS> {
    type QueryId = InsertNew<'static, ROWS>;
    const HAS_STATIC_QUERY_ID: bool = true;
}

impl<const ROWS: usize, C> RunQueryDsl<C> for InsertNew<'_, ROWS> {}

/// Reads stored accounts with the group's keys, sorted by key.
pub(super) fn with_keys(
    conn: &mut SqliteConnection,
    group: &[NewAccount<'_>],
) -> Result<Vec<Stored>, DatabaseError> {
    let last = group.last().map_or(0, |account| account.k);
    let mut keys = [last; GROUP];
    for (key, account) in keys.iter_mut().zip(group) {
        *key = account.k;
    }
    let mut stored: Vec<Stored> = WithKeys(&keys).load(conn)?;
    stored.sort_unstable_by_key(|row| (row.k, row.seq));
    Ok(stored)
}

/// Query for accounts by key. Unused placeholders repeat a key.
struct WithKeys<'a>(&'a [i64; GROUP]);

impl Query for WithKeys<'_> {
    type SqlType = (BigInt, SmallInt, Integer, Text, Binary);
}

impl QueryFragment<Sqlite> for WithKeys<'_> {
    fn walk_ast<'b>(&'b self, mut out: AstPass<'_, 'b, Sqlite>) -> QueryResult<()> {
        out.push_sql("SELECT k, seq, domain_id, local, breaches FROM account WHERE k IN (");
        let mut mark = "";
        for key in self.0 {
            out.push_sql(mark);
            out.push_bind_param::<BigInt, _>(key)?;
            mark = ", ";
        }
        out.push_sql(")");
        Ok(())
    }
}

impl QueryId for WithKeys<'_> {
    type QueryId = WithKeys<'static>;
    const HAS_STATIC_QUERY_ID: bool = true;
}

impl RunQueryDsl<SqliteConnection> for WithKeys<'_> {}
