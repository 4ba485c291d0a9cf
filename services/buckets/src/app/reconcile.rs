//! Makes the SQL rows match the index. The journal in the index is the source of truth for
//! publishes and removals.

use database::{DatabaseError, Db, Pools};

use crate::engine::{Journal, Publish};
use crate::store::{buckets, crawls, generations, load_runs, removals};

/// Updates the SQL rows after a publish or removal that was killed between its two commits.
pub fn reconcile(
    pools: &Pools,
    journal: &Journal,
    report: &str,
    now: i64,
) -> Result<(), DatabaseError> {
    reconcile_publish(pools, journal, report, now)?;
    reconcile_removal(pools, journal)
}

/// Completes a removal that the index already counts but that is still pending in SQL. Its data may
/// not be erased yet; the next write session does that.
fn reconcile_removal(pools: &Pools, journal: &Journal) -> Result<(), DatabaseError> {
    let Some(removal) = journal.removal else { return Ok(()) };
    let behind = |db: &mut Db| -> Result<bool, DatabaseError> {
        let own = generations::identity(db)?.publishes;
        Ok(own + 1 == journal.identity.publishes && removals::is_pending(db, removal)?)
    };
    if !pools.read_blocking(behind)? {
        return Ok(());
    }
    pools.write_blocking(|db| -> Result<(), DatabaseError> {
        if behind(db)? { generations::catch_up(db, &journal.identity) } else { Ok(()) }
    })
}

fn reconcile_publish(
    pools: &Pools,
    journal: &Journal,
    report: &str,
    now: i64,
) -> Result<(), DatabaseError> {
    let Some(published) = &journal.published else {
        return Ok(());
    };
    let run = pools.read_blocking(|db| load_runs::find(db, published.run))?;
    let Some(run) = run.filter(|run| run.state != "published") else { return Ok(()) };
    let buckets: Vec<(u64, bool)> =
        published.buckets.iter().map(|bucket| (bucket.id, bucket.truncated)).collect();
    let complete =
        published.buckets.iter().filter(|bucket| run.mode == "replace" && !bucket.partial);
    let complete: Vec<u64> = complete.map(|bucket| bucket.id).collect();
    confirm(pools, published, now)?;
    pools.write_blocking(|db| -> Result<(), DatabaseError> {
        // Another process may have done this already, and a bucket may have been unlisted by a
        // removal since.
        if load_runs::publish(db, published.run, report, now)? {
            buckets::published(db, &buckets, published.at)?;
            buckets::replaced(db, &complete, published.at)?;
            generations::published(db, &journal.identity)?;
        }
        Ok(())
    })
}

/// Records the files that a run found unchanged for all crawls that are listing their buckets and began
/// before it. Each crawl has a transaction of its own, so that it does not wait for a crawl while it has locked another one. If
/// the process is killed, the next one repeats this, which changes nothing.
fn confirm(pools: &Pools, published: &Publish, now: i64) -> Result<(), DatabaseError> {
    if published.confirmed.is_empty() {
        return Ok(());
    }
    let (listing, generation) = pools.read_blocking(|db| -> Result<_, DatabaseError> {
        let is_named = |id: u64| published.buckets.iter().any(|bucket| bucket.id == id);
        let mut listing = Vec::new();
        for (crawl, address) in crawls::listing(db, published.begun_at, now)? {
            if buckets::by_address(db, &address)?.is_some_and(|bucket| is_named(bucket.id)) {
                listing.push(crawl);
            }
        }
        Ok((listing, i64::from(generations::read(db)?.generation)))
    })?;
    let begun = (generation, published.begun_at);
    for crawl in listing {
        pools.write_blocking(|db| crawls::confirm(db, crawl, &published.confirmed, begun))?;
    }
    Ok(())
}
