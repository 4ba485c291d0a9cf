//! Checks that the index is consistent, and that it matches the bucket table.

use super::context::JobContext;
use super::error::JobError;
use crate::engine::{EngineError, FileIndex};

/// Maximum number of attempts to check an index that other commands keep changing.
const ATTEMPTS: usize = 20;

/// Runs the checks and describes each problem.
///
/// # Errors
/// Returns [`EngineError::Locked`] if the index changes during each attempt.
pub fn verify(context: &JobContext) -> Result<Vec<String>, JobError> {
    for _ in 0..ATTEMPTS {
        let generation = context.generation()?;
        let found = faults(context);
        let is_sound = found.as_ref().is_ok_and(Vec::is_empty);
        // A rebuild might have replaced the generation that was checked.
        if is_sound || context.generation()? == generation {
            return found;
        }
    }
    Err(changing())
}

/// Checks the current generation.
fn faults(context: &JobContext) -> Result<Vec<String>, JobError> {
    let damage = context.damage()?;
    if !damage.is_empty() {
        return Ok(damage);
    }
    let index = context.open_index()?;
    let mut faults = index.verify()?;
    for _ in 0..ATTEMPTS {
        let unlisted = unlisted_buckets(context, &*index)?;
        // The index changes before the bucket table does. If there is a newer state, a removal might
        // have unlisted a bucket that still has files in this one.
        if unlisted.is_empty() || !index.refresh()? {
            faults.extend(unlisted);
            return Ok(faults);
        }
    }
    if faults.is_empty() { Err(changing()) } else { Ok(faults) }
}

fn changing() -> JobError {
    EngineError::Locked("it changed during each check; run verify again".to_owned()).into()
}

/// Describes buckets that have files but aren't listed.
fn unlisted_buckets(context: &JobContext, index: &dyn FileIndex) -> Result<Vec<String>, JobError> {
    let mut faults = Vec::new();
    let summary = index.summary();
    let buckets = context.buckets()?;
    let just_published: Vec<u64> = summary
        .journal
        .published
        .iter()
        .flat_map(|published| published.buckets.iter().map(|bucket| bucket.id))
        .collect();
    for (id, count) in summary.counts.iter() {
        match buckets.get(id).map(|bucket| bucket.first_indexed.is_some()) {
            None => faults.push(format!("bucket {id} has {count} files but no row")),
            Some(false) if !just_published.contains(id) => {
                faults.push(format!("bucket {id} has {count} files but is not listed"));
            }
            Some(_) => {}
        }
    }
    Ok(faults)
}
