//! Appends accounts to a run.

use database::DatabaseError;
use diesel::SqliteConnection;

use super::changes::Linked;
use super::sqlite;
use crate::model::id_list;
use crate::store::accounts::new_account::NewAccount;
use crate::store::accounts::runs::{self, RunAccount, RunWriter};

/// Appends accounts to a run. They must be sorted by key and unique.
///
/// If `has_links` is `false`, none of the breaches has any links yet, so nothing needs to be read.
/// Otherwise, links that already exist are left out.
pub fn append(
    conn: &mut SqliteConnection,
    new: &[NewAccount<'_>],
    has_links: bool,
    run: &mut RunWriter,
    linked: &mut Linked,
) -> Result<(), DatabaseError> {
    if has_links {
        for group in new.chunks(sqlite::GROUP) {
            append_unlinked(conn, group, run, linked)?;
        }
        return Ok(());
    }
    for same in new.chunk_by(|a, b| a.breaches == b.breaches) {
        if let Some(first) = same.first() {
            linked.count(first.breaches, i64::try_from(same.len()).unwrap_or(i64::MAX));
        }
    }
    new.iter().try_for_each(|account| run.push(conn, *account))
}

fn append_unlinked(
    conn: &mut SqliteConnection,
    group: &[NewAccount<'_>],
    run: &mut RunWriter,
    linked: &mut Linked,
) -> Result<(), DatabaseError> {
    let stored = sqlite::with_keys(conn, group)?;
    let keys: Vec<i64> = group.iter().map(|account| account.k).collect();
    let run_rows = runs::with_keys(conn, &keys)?;
    for account in group {
        let is_own =
            |domain_id: i32, local: &str| domain_id == account.domain_id && local == account.local;
        let from = stored.partition_point(|row| row.k < account.k);
        let rows = stored[from..].iter().take_while(|row| row.k == account.k);
        let in_table = rows
            .filter(|row| is_own(row.domain_id, &row.local))
            .flat_map(|row| id_list::ids(&row.breaches));
        let from = run_rows.partition_point(|row| row.k < account.k);
        let rows = run_rows[from..].iter().take_while(|row| row.k == account.k);
        let in_runs = rows
            .filter(|row: &&RunAccount| is_own(row.domain_id, &row.local))
            .flat_map(|row| id_list::ids(&row.breaches));
        let known: Vec<u16> = in_table.chain(in_runs).collect();
        let missing: Vec<u16> =
            id_list::ids(account.breaches).filter(|id| !known.contains(id)).collect();
        if !missing.is_empty() {
            let breaches = id_list::pack(&missing);
            linked.count(&breaches, 1);
            run.push(conn, NewAccount { breaches: &breaches, ..*account })?;
        }
    }
    Ok(())
}
