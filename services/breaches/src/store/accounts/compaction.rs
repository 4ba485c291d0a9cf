//! Decides whether a load writes to the table or a run, and merges runs into the table.

use database::{DatabaseError, Db};
use roaring::RoaringBitmap;

use super::runs::{self, Stripped, Weights};
use crate::store::layout::Layout;
use crate::store::{account_links, versions};

/// A load writes to a run if the database already has at least this many times as many accounts as
/// the load. A larger load would touch every page of the table anyway.
const TIMES: i64 = 4;
/// Accounts are moved to the table once runs contain more than this many times as many accounts as
/// the table. Moving them touches most pages of the by-domain index, so it costs several times as
/// much as writing a run.
const MAX_TIMES_TABLE: i64 = 4;
/// Accounts are moved to the table once runs contain more than this many. Run filters take 2.25
/// bytes of memory per account.
const MAX_IN_RUNS: i64 = 32 << 20;
/// Maximum size of a merged run in accounts, per MiB of load memory.
const PER_MIB: usize = 16_384;
/// Accounts to move per transaction.
const PIECE: i64 = 100_000;
/// Meta entry for the key at which the next move to the table starts.
const MERGED_TO: &str = "runs_merged_to";

/// The place a load writes its accounts to.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Placement {
    /// The account table.
    #[default]
    Table,
    /// A run. SQLite only.
    Appended,
    /// The account table by way of the staging table. Distributed databases only.
    Staged,
}

fn weights(db: &mut Db) -> Result<Option<Weights>, DatabaseError> {
    match db {
        Db::Sqlite(conn) => runs::weights(conn).map(Some),
        Db::Pg(_) => Ok(None),
    }
}

/// Picks the placement for a load whose accounts must be in the table.
pub fn placement_in_table(db: &mut Db) -> Result<Placement, DatabaseError> {
    let is_distributed = Layout::of(db)?.is_distributed();
    Ok(if is_distributed { Placement::Staged } else { Placement::Table })
}

/// Picks the placement for a load of `accounts` accounts.
pub fn placement(db: &mut Db, accounts: i64) -> Result<Placement, DatabaseError> {
    let small = |found: Weights| accounts.saturating_mul(TIMES) <= found.table + found.runs;
    Ok(if weights(db)?.is_some_and(small) { Placement::Appended } else { placement_in_table(db)? })
}

/// True if all accounts are in the table, i.e. there are no runs.
pub fn is_compact(db: &mut Db) -> Result<bool, DatabaseError> {
    Ok(weights(db)?.is_none_or(|found| found.runs == 0))
}

/// Merges two runs. Returns `false` if there are only a few runs or if no two of them fit in a
/// load's memory. Call this in a write transaction.
pub fn join_two(db: &mut Db, memory_mb: usize) -> Result<bool, DatabaseError> {
    let most = i64::try_from(memory_mb * PER_MIB).unwrap_or(i64::MAX);
    match db {
        Db::Sqlite(conn) => runs::merge_two(conn, most),
        Db::Pg(_) => Ok(false),
    }
}

/// Moves the next range of accounts from runs to the table. Call this in a write transaction.
///
/// Returns `None` if the runs are small enough, otherwise the number of accounts moved. This is at
/// least a tenth of a full batch, so callers always make progress.
pub fn move_some(db: &mut Db) -> Result<Option<i64>, DatabaseError> {
    let Some(found) = weights(db)? else { return Ok(None) };
    if found.runs <= MAX_IN_RUNS.min(found.table.saturating_mul(MAX_TIMES_TABLE)) {
        return Ok(None);
    }
    versions::lock_accounts(db)?;
    let low = versions::get(db, MERGED_TO)?.unwrap_or(i64::MIN);
    // Keys are hashes, so they're evenly distributed.
    let width = u64::MAX / u64::try_from(found.runs / PIECE).unwrap_or(0).max(1);
    let high = low.checked_add_unsigned(width).unwrap_or(i64::MAX);
    let moved = account_links::merge_between(db, low, high)?;
    let next = high.checked_add(1).unwrap_or(i64::MIN);
    versions::set(db, MERGED_TO, next)?;
    Ok(Some(i64::try_from(moved).unwrap_or(i64::MAX).max(PIECE / 10)))
}

/// A purge's position: the run, and the block to continue from.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct StripPlace(Option<(i64, i64)>);

/// Removes links to `breach` from a few blocks of a run. Call this in a write transaction.
///
/// Returns the number of links removed and the position to continue from, or `None` if no run has
/// any. If the run at `place` has been merged in the meantime, the run it was merged into is read
/// from the start.
pub fn strip_some(
    db: &mut Db,
    breach: u16,
    place: StripPlace,
) -> Result<Option<(i64, StripPlace)>, DatabaseError> {
    let Some(run) = runs::first_with(db, breach)? else { return Ok(None) };
    let Db::Sqlite(conn) = db else { return Ok(None) };
    let from = place.0.filter(|(known, _)| *known == run).map(|(_, block)| block);
    let Stripped { links, next } = runs::strip(conn, run, breach, from)?;
    Ok(Some((links, StripPlace(next.map(|block| (run, block))))))
}

/// Returns `true` if the domain has any accounts in runs.
pub fn has_accounts_in_runs(db: &mut Db, domain_id: i32) -> Result<bool, DatabaseError> {
    match db {
        Db::Sqlite(conn) => Ok(runs::at_domain(conn, domain_id)?.next(conn)?.is_some()),
        Db::Pg(_) => Ok(false),
    }
}

/// Returns the domains that have accounts in runs. Since runs may change at any time, a domain that
/// isn't included may have some by now. Empty on PostgreSQL.
pub fn domains_in_runs(db: &mut Db) -> Result<RoaringBitmap, DatabaseError> {
    match db {
        Db::Sqlite(conn) => runs::domains(conn),
        Db::Pg(_) => Ok(RoaringBitmap::new()),
    }
}
