//! Decides whether a load writes to the table or to a run, and moves accounts from runs to the table.

use database::{DatabaseError, Db};

use super::runs::{self, Stripped, Weights};
use crate::store::layout::Layout;
use crate::store::{account_links, versions};

/// A load writes to a run if the table has at least this multiple of the load's accounts. Otherwise
/// the load would touch every page of the table anyway.
const TIMES: i64 = 4;
/// Runs may have this multiple of the accounts of the table before some are moved to it. Moving touches most
/// pages of the index by domain, so it costs a load several times what its run costs.
const MAX_TIMES_TABLE: i64 = 4;
/// Maximum number of accounts in runs before some are moved to the table. Their filters take 2.25
/// bytes of memory per account.
const MAX_IN_RUNS: i64 = 32 << 20;
/// Maximum number of accounts in a merged run, per MiB of a load's memory.
const PER_MIB: usize = 16_384;
/// Number of accounts moved to the table per transaction.
const PIECE: i64 = 100_000;
/// The name under which the key is stored up to which accounts have been moved to the table.
const MERGED_TO: &str = "runs_merged_to";

/// The place to which a load writes its accounts.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Placement {
    /// The account table.
    #[default]
    Table,
    /// A run. Only on SQLite.
    Appended,
    /// The table, by way of the staging table (distributed databases only).
    Staged,
}

fn weights(db: &mut Db) -> Result<Option<Weights>, DatabaseError> {
    match db {
        Db::Sqlite(conn) => runs::weights(conn).map(Some),
        Db::Pg(_) => Ok(None),
    }
}

/// Chooses the placement for a load whose accounts need rows in the table.
pub fn placement_in_table(db: &mut Db) -> Result<Placement, DatabaseError> {
    let is_distributed = Layout::of(db)?.is_distributed();
    Ok(if is_distributed { Placement::Staged } else { Placement::Table })
}

/// Chooses the placement for a load with this number of accounts.
pub fn placement(db: &mut Db, accounts: i64) -> Result<Placement, DatabaseError> {
    let small = |found: Weights| accounts.saturating_mul(TIMES) <= found.table + found.runs;
    Ok(if weights(db)?.is_some_and(small) { Placement::Appended } else { placement_in_table(db)? })
}

/// Returns whether all accounts are in the table.
pub fn is_compact(db: &mut Db) -> Result<bool, DatabaseError> {
    Ok(weights(db)?.is_none_or(|found| found.runs == 0))
}

/// Joins two runs into one. Must be called in a write transaction. Returns false if there are few
/// runs, or if no two fit into the memory of a load (in MiB).
pub fn join_two(db: &mut Db, memory_mb: usize) -> Result<bool, DatabaseError> {
    let most = i64::try_from(memory_mb * PER_MIB).unwrap_or(i64::MAX);
    match db {
        Db::Sqlite(conn) => runs::merge_two(conn, most),
        Db::Pg(_) => Ok(false),
    }
}

/// Moves the appended accounts in the next range of keys to the table. Must be called in a write
/// transaction. Returns their number, which is at least a tenth of a full batch, or `None` if the
/// runs are small.
pub fn move_some(db: &mut Db) -> Result<Option<i64>, DatabaseError> {
    let Some(found) = weights(db)? else { return Ok(None) };
    if found.runs <= MAX_IN_RUNS.min(found.table.saturating_mul(MAX_TIMES_TABLE)) {
        return Ok(None);
    }
    versions::lock_accounts(db)?;
    let low = versions::get(db, MERGED_TO)?.unwrap_or(i64::MIN);
    // Keys are evenly distributed.
    let width = u64::MAX / u64::try_from(found.runs / PIECE).unwrap_or(0).max(1);
    let high = low.checked_add_unsigned(width).unwrap_or(i64::MAX);
    let moved = account_links::merge_between(db, low, high)?;
    let next = high.checked_add(1).unwrap_or(i64::MIN);
    versions::set(db, MERGED_TO, next)?;
    Ok(Some(i64::try_from(moved).unwrap_or(i64::MAX).max(PIECE / 10)))
}

/// The place in the runs that a purge has reached: the run and the block from which to continue.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct StripPlace(Option<(i64, i64)>);

/// Removes the links to a breach from some blocks of one run. Must be called in a write
/// transaction. Returns their number and the next position, or `None` if no run has any. A run that
/// has been joined with another in the meantime is read from its beginning again.
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

/// Returns whether a domain has accounts in runs.
pub fn has_accounts_in_runs(db: &mut Db, domain_id: i32) -> Result<bool, DatabaseError> {
    match db {
        Db::Sqlite(conn) => Ok(runs::at_domain(conn, domain_id)?.next(conn)?.is_some()),
        Db::Pg(_) => Ok(false),
    }
}
