//! Detects a database where an export has only been loaded halfway.

use anyhow::ensure;
use database::Pools;

use crate::store::transfer;

/// Fails if an export has only been loaded halfway. Such a database would look complete.
///
/// # Errors
/// A load has not finished, or the database failed.
pub fn require_finished(pools: &Pools) -> anyhow::Result<()> {
    let found = pools.read_blocking(transfer::unfinished)?;
    let line = found.map_or(0, |found| found.line);
    ensure!(
        line == 0,
        "the load of an export into this database has not finished, and ended after line {line}; run \
         `calendar load FILE` again, or begin with an empty database"
    );
    Ok(())
}
