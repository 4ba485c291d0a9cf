//! Updates the SQL rows to match the journal of the index, which is authoritative for publishes.

use database::{DatabaseError, Pools};

use crate::engine::Journal;
use crate::store::{buckets, generations, load_runs};

/// Updates the SQL rows after a publish whose second commit is missing because the process was
/// killed.
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
        // Another process may have updated them since, and a later removal may have unlisted a
        // bucket.
        if load_runs::publish(db, published.run, report, now)? {
            buckets::published(db, &buckets, published.at)?;
            generations::published(db, &journal.identity)?;
        }
        Ok(())
    })
}
