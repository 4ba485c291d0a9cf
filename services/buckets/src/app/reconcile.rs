//! Makes the SQL rows match the index. The journal in the index is the source of truth for
//! publishes and removals.

use database::{DatabaseError, Db, Pools};

use crate::engine::{Journal, Publish};
use crate::store::load_runs::{self, LoadRun};
use crate::store::{buckets, crawl_listings, generations, removals};

/// Updates the SQL rows after a publish or removal that was killed between its two commits. Only
/// the process that executed the run has its complete `report`. Other processes record the counts
/// from the journal.
pub fn reconcile(
    pools: &Pools,
    journal: &Journal,
    report: Option<&str>,
    now: i64,
) -> Result<(), DatabaseError> {
    reconcile_publish(pools, journal, report, now)?;
    reconcile_removal(pools, journal)
}

/// Completes a removal that is in the index but still pending in SQL. If its data hasn't been
/// erased yet, the next write session does that.
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
    report: Option<&str>,
    now: i64,
) -> Result<(), DatabaseError> {
    let Some(published) = &journal.published else {
        return Ok(());
    };
    let run = pools.read_blocking(|db| load_runs::find(db, published.run))?;
    // A server might have seen and marked the publish before the run's process could record it.
    let is_open = |run: &LoadRun| run.state != "published" || report.is_some();
    let Some(run) = run.filter(is_open) else { return Ok(()) };
    let counts = serde_json::to_string(&published.counts).map_err(DatabaseError::broken)?;
    let buckets: Vec<(u64, bool)> =
        published.buckets.iter().map(|bucket| (bucket.id, bucket.truncated)).collect();
    let complete =
        published.buckets.iter().filter(|bucket| run.mode == "replace" && !bucket.partial);
    let complete: Vec<u64> = complete.map(|bucket| bucket.id).collect();
    confirm(pools, published, now)?;
    pools.write_blocking(|db| -> Result<(), DatabaseError> {
        // Another process might have done this already, and a removal might have unlisted a bucket
        // since.
        if load_runs::publish(db, published.run, report.unwrap_or(&counts), now)? {
            buckets::published(db, &buckets, published.at)?;
            buckets::replaced(db, &complete, published.at)?;
            generations::published(db, &journal.identity)?;
        } else if let Some(report) = report {
            load_runs::set_report(db, published.run, report)?;
        }
        Ok(())
    })
}

/// Records the files that a run found unchanged, for all crawls of the same buckets whose current
/// listing began before the run's listing. Each crawl gets its own transaction, so this never waits
/// for one crawl while another is locked. If the process is killed, the next process harmlessly
/// repeats all of this.
fn confirm(pools: &Pools, published: &Publish, now: i64) -> Result<(), DatabaseError> {
    if published.confirmed.is_empty() {
        return Ok(());
    }
    let (listing, generation) = pools.read_blocking(|db| -> Result<_, DatabaseError> {
        let is_named = |id: u64| published.buckets.iter().any(|bucket| bucket.id == id);
        let mut listing = Vec::new();
        for (crawl, address) in crawl_listings::listing(db, published.begun_at, now)? {
            if buckets::by_address(db, &address)?.is_some_and(|bucket| is_named(bucket.id)) {
                listing.push(crawl);
            }
        }
        Ok((listing, i64::from(generations::read(db)?.generation)))
    })?;
    let begun = (generation, published.begun_at);
    for crawl in listing {
        pools
            .write_blocking(|db| crawl_listings::confirm(db, crawl, &published.confirmed, begun))?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use testkit::Database;

    use super::*;
    use crate::engine::PublishCounts;
    use crate::store::MIGRATIONS;

    #[test]
    fn run_already_marked_as_published_by_a_server_gets_its_report() {
        let database = Database::new();
        let pools = database.open(&[&auth::MIGRATIONS, &MIGRATIONS]);
        let run = pools.write_blocking(|db| load_runs::begin(db, 0, "replace", "{}", 1)).unwrap();
        let counts = PublishCounts { added: 3, ..PublishCounts::default() };
        let (buckets, confirmed) = (Vec::new(), crate::model::id_ranges::IdRanges::default());
        let publish = Publish { run, at: 2, buckets, counts, confirmed, begun_at: 1 };
        let journal = Journal::default().with_publish(publish);
        let report = |known: Option<&str>| {
            reconcile(&pools, &journal, known, 3).unwrap();
            pools.read_blocking(|db| load_runs::find(db, run)).unwrap().unwrap().report
        };
        assert!(report(None).contains("\"added\":3"));
        assert_eq!(report(Some("whole")), "whole");
        assert_eq!(report(None), "whole");
    }
}
