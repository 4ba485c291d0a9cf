//! How many records a load puts into one transaction, so that other writers are not kept waiting.

use std::thread;
use std::time::{Duration, Instant};

use database::{Backend, WRITERS_GAP};

use crate::jobs::context::JobContext;

/// Records of one transaction, at least on SQLite and exactly on PostgreSQL.
const LEAST: usize = 5_000;
/// Memory beyond which a SQLite transaction takes no more records, in MiB.
const MOST_MIB: usize = 256;
/// The part of the largest transaction that the first one takes, before anything is known.
const FIRST: usize = 8;
/// How long a SQLite transaction should take: other writers wait for it, at most 5 s.
const TARGET: Duration = Duration::from_secs(2);

/// The size of the next transaction, by how long the last one took.
#[derive(Debug)]
pub struct AdaptiveBatch {
    size: usize,
    most: usize,
}

impl AdaptiveBatch {
    /// A size of up to `per_mib` records for each MiB of the load's memory on SQLite. PostgreSQL has
    /// many writers and keeps to small transactions. Quick transactions are the largest at once.
    pub fn new(context: &JobContext, per_mib: usize, quick: bool) -> Self {
        match context.pools.backend() {
            Backend::Postgres => Self { size: LEAST, most: LEAST },
            Backend::Sqlite => {
                let sizes = Self::up_to(context.settings.load_memory_mb.min(MOST_MIB) * per_mib);
                if quick { Self { size: sizes.most, ..sizes } } else { sizes }
            }
        }
    }

    fn up_to(most: usize) -> Self {
        let most = most.max(LEAST);
        Self { size: (most / FIRST).max(LEAST), most }
    }

    /// Records of the next transaction.
    pub fn records(&self) -> usize {
        self.size
    }

    /// Runs a transaction, learns from the time that it took, and leaves room for other writers.
    pub fn run<E>(&mut self, transaction: impl FnOnce() -> Result<(), E>) -> Result<(), E> {
        let begin = Instant::now();
        transaction()?;
        let took = begin.elapsed();
        self.learn(took);
        if took > TARGET / 4 && self.most > LEAST {
            thread::sleep(WRITERS_GAP);
        }
        Ok(())
    }

    fn learn(&mut self, took: Duration) {
        let ratio = TARGET.as_secs_f64() / took.as_secs_f64().max(1e-6);
        let fitting = (self.size as f64 * ratio.min(2.0)) as usize;
        self.size = fitting.clamp(LEAST, self.most);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn transactions_grow_and_shrink_towards_their_time() {
        let mut batch = AdaptiveBatch::up_to(800_000);
        assert_eq!(batch.records(), 100_000);
        batch.learn(Duration::from_millis(10));
        assert_eq!(batch.records(), 200_000, "at most twice as many");
        batch.learn(Duration::from_millis(1_600));
        assert_eq!(batch.records(), 250_000);
        batch.learn(Duration::from_secs(10));
        assert_eq!(batch.records(), 50_000);
        batch.learn(Duration::from_secs(1_000));
        assert_eq!(batch.records(), LEAST);
        for _ in 0..20 {
            batch.learn(Duration::ZERO);
        }
        assert_eq!(batch.records(), 800_000);
    }

    #[test]
    fn little_memory_still_fills_a_transaction() {
        assert_eq!(AdaptiveBatch::up_to(10).records(), LEAST);
    }
}
