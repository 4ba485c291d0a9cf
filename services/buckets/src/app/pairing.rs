//! Checks that the database and the index match.

use database::{DatabaseError, Db, Pools};

use super::error::SnapshotError;
use crate::engine::{EngineError, FileIndex};
use crate::store::{generations, load_runs, removals};

/// Number of comparisons before we report a mismatch. A single comparison isn't conclusive, since a
/// publish or removal might happen between the two reads.
const ATTEMPTS: u32 = 4;

/// Compares a generation's index with the database. Returns `false` if the database has since
/// switched to another generation.
///
/// # Errors
/// Returns [`EngineError::Mismatch`] if they don't match.
pub fn is_paired(
    pools: &Pools,
    index: &dyn FileIndex,
    generation: u32,
) -> Result<bool, SnapshotError> {
    let mut attempt = 1;
    loop {
        let journal = &index.summary().journal;
        let published = journal.published.as_ref().map_or(0, |published| published.run);
        let (searched, own, unsettled) =
            pools.read_blocking(|db: &mut Db| -> Result<_, DatabaseError> {
                let run = load_runs::find(db, published)?;
                let unsettled = run.is_some_and(|run| run.state != "published")
                    || removals::is_pending(db, journal.removal.unwrap_or(0))?;
                Ok((generations::read(db)?.generation, generations::identity(db)?, unsettled))
            })?;
        if searched != generation {
            return Ok(false);
        }
        let Some(reason) = own.mismatch(&journal.identity, unsettled) else { return Ok(true) };
        if attempt == ATTEMPTS {
            return Err(EngineError::Mismatch(reason).into());
        }
        attempt += 1;
        index.refresh()?;
    }
}
