//! The index is the truth about publishes; the rows in SQL follow it.

use database::{DatabaseError, Pools};

use crate::engine::Journal;
use crate::store::{buckets, generations, load_runs};

/// Brings the SQL rows to what the journal says; a process may have been killed between the two
/// commits of a publish.
pub fn reconcile(
    pools: &Pools,
    journal: &Journal,
    report: &str,
    now: i64,
) -> Result<(), DatabaseError> {
    let Some(published) = &journal.published else {
        return Ok(());
    };
    let agrees = pools.read_blocking(|db| -> Result<bool, DatabaseError> {
        Ok(load_runs::find(db, published.run)?.is_none_or(|run| run.state == "published"))
    })?;
    if agrees {
        return Ok(());
    }
    let buckets: Vec<(u64, bool)> =
        published.buckets.iter().map(|bucket| (bucket.id, bucket.truncated)).collect();
    pools.write_blocking(|db| -> Result<(), DatabaseError> {
        // Another process may have done it since, and a removal after it has taken a bucket off the
        // list again.
        if load_runs::publish(db, published.run, report, now)? {
            buckets::published(db, &buckets, published.at)?;
            generations::published(db, &journal.identity)?;
        }
        Ok(())
    })
}
