//! Detects a database in which an export has only been partially loaded.

use anyhow::ensure;
use database::Pools;

use crate::store::transfer;

/// Fails if an export has only been partially loaded, because the database would look complete.
///
/// # Errors
/// Returns an error if a load has not finished, or the database fails.
pub fn require_finished(pools: &Pools) -> anyhow::Result<()> {
    let found = pools.read_blocking(transfer::unfinished)?;
    let line = found.map_or(0, |found| found.line);
    ensure!(
        line == 0,
        "the load of an export into this database has not finished, and ended after line {line}; \
         run `calendar load FILE` again, or start with an empty database"
    );
    Ok(())
}
