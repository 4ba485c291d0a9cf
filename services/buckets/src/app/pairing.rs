//! Checks that the database and the index belong together.

use database::{DatabaseError, Db, Pools};

use super::error::SnapshotError;
use crate::engine::{EngineError, FileIndex};
use crate::store::{generations, load_runs};

/// Comparisons before a mismatch is reported, because a publish may fall between the two reads.
const ATTEMPTS: u32 = 4;

/// Compares the index of a generation with the database. Returns false if the database has switched
/// to another generation.
///
/// # Errors
/// [`EngineError::Mismatch`] if they do not match.
pub fn is_paired(
    pools: &Pools,
    index: &dyn FileIndex,
    generation: u32,
) -> Result<bool, SnapshotError> {
    let mut attempt = 1;
    loop {
        let journal = &index.summary().journal;
        let published = journal.published.as_ref().map_or(0, |published| published.run);
        let (searched, own, run) =
            pools.read_blocking(|db: &mut Db| -> Result<_, DatabaseError> {
                let run = load_runs::find(db, published)?;
                Ok((generations::read(db)?.generation, generations::identity(db)?, run))
            })?;
        if searched != generation {
            return Ok(false);
        }
        let unsettled = run.is_some_and(|run| run.state != "published");
        let Some(reason) = own.mismatch(&journal.identity, unsettled) else { return Ok(true) };
        if attempt == ATTEMPTS {
            return Err(EngineError::Mismatch(reason).into());
        }
        attempt += 1;
        index.refresh()?;
    }
}
