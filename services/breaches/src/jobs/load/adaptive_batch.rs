//! Adapts the size of a load's transactions, so that other writers do not wait long.

use std::thread;
use std::time::{Duration, Instant};

use database::{Backend, WRITERS_GAP};

use crate::jobs::context::JobContext;

/// Number of records per transaction: the minimum on SQLite, the fixed number on PostgreSQL.
const MIN_RECORDS: usize = 5_000;
/// Maximum memory of a SQLite transaction, in MiB.
const MAX_MIB: usize = 256;
/// Number of records per transaction of staged rows, per MiB of the load's memory, and the maximum
/// number.
const STAGED_PER_MIB: usize = 1_024;
const MAX_STAGED: usize = 200_000;
/// The first transaction has the maximum size divided by this.
const FIRST: usize = 8;
/// Target duration of a SQLite transaction. Other writers wait until it ends, but for at most 5 s.
const TARGET: Duration = Duration::from_secs(2);

/// The size of the next transaction, derived from the duration of the last one.
#[derive(Debug)]
pub struct AdaptiveBatch {
    size: usize,
    most: usize,
}

impl AdaptiveBatch {
    /// Creates a batch size. On SQLite it allows up to `per_mib` records per MiB of the load's
    /// memory. PostgreSQL allows concurrent writers, so its transactions are small. If transactions
    /// are `quick`, starts at the maximum size.
    pub fn new(context: &JobContext, per_mib: usize, quick: bool) -> Self {
        match context.pools.backend() {
            Backend::Postgres => Self { size: MIN_RECORDS, most: MIN_RECORDS },
            Backend::Sqlite => {
                let sizes = Self::up_to(context.settings.load_memory_mb.min(MAX_MIB) * per_mib);
                if quick { Self { size: sizes.most, ..sizes } } else { sizes }
            }
        }
    }

    /// Creates the batch size for a distributed database, where the fixed cost of a transaction
    /// equals that of some 20,000 records.
    pub fn staged(context: &JobContext) -> Self {
        Self::up_to((context.settings.load_memory_mb * STAGED_PER_MIB).min(MAX_STAGED))
    }

    fn up_to(most: usize) -> Self {
        let most = most.max(MIN_RECORDS);
        Self { size: (most / FIRST).max(MIN_RECORDS), most }
    }

    /// Returns the number of records for the next transaction.
    pub fn records(&self) -> usize {
        self.size
    }

    /// Runs a transaction, adapts the size to its duration, and pauses for other writers.
    pub fn run<E>(&mut self, transaction: impl FnOnce() -> Result<(), E>) -> Result<(), E> {
        let begin = Instant::now();
        transaction()?;
        let took = begin.elapsed();
        self.learn(took);
        if took > TARGET / 4 && self.most > MIN_RECORDS {
            thread::sleep(WRITERS_GAP);
        }
        Ok(())
    }

    fn learn(&mut self, took: Duration) {
        let ratio = TARGET.as_secs_f64() / took.as_secs_f64().max(1e-6);
        let fitting = (self.size as f64 * ratio.min(2.0)) as usize;
        self.size = fitting.clamp(MIN_RECORDS, self.most);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn transaction_size_adapts_to_the_target_duration() {
        let mut batch = AdaptiveBatch::up_to(800_000);
        assert_eq!(batch.records(), 100_000);
        batch.learn(Duration::from_millis(10));
        assert_eq!(batch.records(), 200_000, "at most twice as many");
        batch.learn(Duration::from_millis(1_600));
        assert_eq!(batch.records(), 250_000);
        batch.learn(Duration::from_secs(10));
        assert_eq!(batch.records(), 50_000);
        batch.learn(Duration::from_secs(1_000));
        assert_eq!(batch.records(), MIN_RECORDS);
        for _ in 0..20 {
            batch.learn(Duration::ZERO);
        }
        assert_eq!(batch.records(), 800_000);
    }

    #[test]
    fn little_memory_allows_the_minimum_size() {
        assert_eq!(AdaptiveBatch::up_to(10).records(), MIN_RECORDS);
    }
}
