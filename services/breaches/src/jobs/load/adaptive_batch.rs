//! Adapts the transaction size of a load so that other writers don't have to wait too long.

use std::thread;
use std::time::{Duration, Instant};

use database::{Backend, WRITERS_GAP};

use crate::jobs::context::JobContext;

/// Number of records per transaction: the minimum on SQLite, and a fixed number on PostgreSQL.
const MIN_RECORDS: usize = 5_000;
/// Load memory beyond this many MiB doesn't make batches any larger. SQLite only.
const MAX_MIB: usize = 256;
/// Number of records per transaction with staged rows: per MiB of load memory, and the maximum.
const STAGED_PER_MIB: usize = 1_024;
const MAX_STAGED: usize = 200_000;
/// Ratio of the maximum size to the size of the first transaction.
const FIRST: usize = 8;
/// Target duration of a SQLite transaction. Other writers have to wait until it ends, and they give
/// up after 5 s.
const TARGET: Duration = Duration::from_secs(2);

/// Size of the next transaction, based on how long the last one took.
#[derive(Debug)]
pub struct AdaptiveBatch {
    size: usize,
    least: usize,
    most: usize,
    /// Whether to let other writers in after a while.
    pauses: bool,
    /// Time spent in transactions since the last pause.
    busy: Duration,
}

impl AdaptiveBatch {
    /// Chooses the initial size. On SQLite, a transaction can have up to `per_mib` records per MiB
    /// of load memory. If transactions are expected to be `quick`, the first one already has the
    /// maximum size. On PostgreSQL, which supports concurrent writers, transactions are always
    /// small.
    pub fn new(context: &JobContext, per_mib: usize, quick: bool) -> Self {
        match context.pools.backend() {
            Backend::Postgres => Self { pauses: false, ..Self::up_to(MIN_RECORDS) },
            Backend::Sqlite => {
                let sizes = Self::up_to(context.settings.load_memory_mb.min(MAX_MIB) * per_mib);
                if quick { Self { size: sizes.most, ..sizes } } else { sizes }
            }
        }
    }

    /// Chooses the initial size for a distributed database, where the fixed cost of a transaction
    /// equals the cost of about 20,000 records. Transactions don't get smaller than the first one.
    /// On a slow cluster, the fixed cost alone can exceed the target, and making transactions even
    /// smaller would only add to it.
    pub fn staged(context: &JobContext) -> Self {
        Self::staged_up_to((context.settings.load_memory_mb * STAGED_PER_MIB).min(MAX_STAGED))
    }

    fn staged_up_to(most: usize) -> Self {
        let sizes = Self::up_to(most);
        Self { least: sizes.size, ..sizes }
    }

    fn up_to(most: usize) -> Self {
        let most = most.max(MIN_RECORDS);
        let size = (most / FIRST).max(MIN_RECORDS);
        Self { size, least: MIN_RECORDS, most, pauses: true, busy: Duration::ZERO }
    }

    /// Returns the number of records in the next transaction.
    pub fn records(&self) -> usize {
        self.size
    }

    /// Returns the highest possible number of records in a transaction.
    pub fn largest(&self) -> usize {
        self.most
    }

    /// Runs a transaction, adjusts the size based on its duration, and pauses to let other writers
    /// in. Short transactions without a pause in between would also keep them out.
    pub fn run<E>(&mut self, transaction: impl FnOnce() -> Result<(), E>) -> Result<(), E> {
        let begin = Instant::now();
        transaction()?;
        let took = begin.elapsed();
        self.learn(took);
        self.busy += took;
        if self.pauses && self.busy > TARGET / 4 {
            thread::sleep(WRITERS_GAP);
            self.busy = Duration::ZERO;
        }
        Ok(())
    }

    fn learn(&mut self, took: Duration) {
        let ratio = TARGET.as_secs_f64() / took.as_secs_f64().max(1e-6);
        let fitting = (self.size as f64 * ratio.min(2.0)) as usize;
        self.size = fitting.clamp(self.least, self.most);
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
    fn transactions_of_a_slow_cluster_stay_as_large_as_the_first() {
        let mut batch = AdaptiveBatch::staged_up_to(200_000);
        assert_eq!(batch.records(), 25_000);
        batch.learn(Duration::from_secs(1_000));
        assert_eq!(batch.records(), 25_000);
        batch.learn(Duration::from_secs(1));
        assert_eq!(batch.records(), 50_000);
        assert_eq!(AdaptiveBatch::staged_up_to(10).records(), MIN_RECORDS);
    }

    #[test]
    fn little_memory_allows_the_minimum_size() {
        assert_eq!(AdaptiveBatch::up_to(10).records(), MIN_RECORDS);
    }
}
