//! Links accounts to breaches, a group at a time.

use database::{DatabaseError, Db};
use diesel::SqliteConnection;

use super::changes::Linked;
use super::{postgres, sqlite};
use crate::store::accounts::new_account::NewAccount;
use crate::store::accounts::runs::{self, RunAccount};

/// Links accounts to their breaches. They must be sorted by key and unique.
///
/// Adds new links and missing index entries to `linked`. Accounts in runs are moved to the table
/// first. Only one transaction at a time may call this; see `versions::lock_accounts`.
pub fn link(db: &mut Db, new: &[NewAccount<'_>], linked: &mut Linked) -> Result<(), DatabaseError> {
    match db {
        Db::Sqlite(conn) => {
            let has_runs = runs::any(conn)?;
            groups(new, sqlite::GROUP).try_for_each(|group| {
                if has_runs {
                    let keys: Vec<i64> = group.iter().map(|account| account.k).collect();
                    let taken = runs::take_keys(conn, &keys)?;
                    put_back(conn, &taken, linked)?;
                }
                sqlite::link(conn, group, linked)
            })
        }
        Db::Pg(conn) => {
            groups(new, postgres::GROUP).try_for_each(|group| postgres::link(conn, group, linked))
        }
    }
}

/// Moves the accounts in a key range from runs to the table and returns how many were moved. Always
/// 0 on PostgreSQL, which doesn't have runs.
///
/// The caller still has to add the by-domain index entries.
pub fn merge(
    db: &mut Db,
    low: i64,
    high: i64,
    linked: &mut Linked,
) -> Result<usize, DatabaseError> {
    let Db::Sqlite(conn) = db else { return Ok(0) };
    let taken = runs::take(conn, low, high)?;
    put_back(conn, &taken, linked)?;
    Ok(taken.len())
}

/// Writes accounts from runs to the table without counting their links as new.
fn put_back(
    conn: &mut SqliteConnection,
    taken: &[RunAccount],
    linked: &mut Linked,
) -> Result<(), DatabaseError> {
    let accounts: Vec<NewAccount<'_>> = taken.iter().map(RunAccount::as_new).collect();
    let mut moved = Linked { meets_known: linked.meets_known, ..Linked::default() };
    groups(&accounts, sqlite::GROUP).try_for_each(|group| sqlite::link(conn, group, &mut moved))?;
    linked.filings.append(&mut moved.filings);
    Ok(())
}

/// Splits accounts into groups with unique keys. If two addresses share a key, the first one must
/// be stored before the second is looked up.
fn groups<'s, 'a>(
    new: &'s [NewAccount<'a>],
    size: usize,
) -> impl Iterator<Item = &'s [NewAccount<'a>]> {
    new.chunk_by(|a, b| a.k != b.k).flat_map(move |distinct| distinct.chunks(size))
}
