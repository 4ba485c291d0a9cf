//! Checks that the index is consistent, and that it matches the bucket table.

use super::context::JobContext;
use super::error::JobError;

/// Runs the checks and describes each problem.
pub fn verify(context: &JobContext) -> Result<Vec<String>, JobError> {
    let damage = context.damage()?;
    if !damage.is_empty() {
        return Ok(damage);
    }
    let index = context.open_index()?;
    let mut faults = index.verify()?;
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
