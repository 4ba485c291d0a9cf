//! Applies sorted records in batches. Each batch's transaction also moves the job's checkpoint.

use batch::{ProgressReporter, Sorted, Unit};
use database::{DatabaseError, Db};

use super::adaptive_batch::AdaptiveBatch;
use super::input::details;
use super::tally::Tally;
use crate::jobs::context::JobContext;
use crate::jobs::error::JobError;
use crate::jobs::job::{self, Running};
use crate::jobs::retry::RetryingConnection;
use crate::store::{cluster, jobs, load_connections, versions};

/// Update the progress report after this many records.
const REPORT_EVERY: u64 = 4_096;

/// A sorted record: an account key with some text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Record<'b> {
    /// Account key.
    pub k: i64,
    /// Address plus suffix; see `sorted_text`.
    pub text: &'b str,
}

/// Records that keep their text in a shared buffer.
#[derive(Debug, Default)]
struct Batch {
    texts: Vec<u8>,
    /// The keys, along with where the text of each one ends in the buffer.
    ends: Vec<(i64, usize)>,
}

impl Batch {
    fn push(&mut self, k: i64, text: &[u8]) {
        self.texts.extend_from_slice(text);
        self.ends.push((k, self.texts.len()));
    }

    fn clear(&mut self) {
        self.texts.clear();
        self.ends.clear();
    }

    fn last_key(&self) -> Option<i64> {
        self.ends.last().map(|(k, _)| *k)
    }

    fn records(&self) -> Result<Vec<Record<'_>>, DatabaseError> {
        let texts = std::str::from_utf8(&self.texts).map_err(DatabaseError::broken)?;
        let mut start = 0;
        let records = self.ends.iter().map(|&(k, end)| {
            let text = texts.get(start..end).unwrap_or_default();
            start = end;
            Record { k, text }
        });
        Ok(records.collect())
    }
}

/// Writes a load's sorted records to the database.
pub trait Apply {
    /// Prepares for the first batch. Called in its transaction, and again if that is repeated, so a
    /// load that stops before it has written anything leaves no preparations behind.
    fn begin(&mut self, _db: &mut Db, _now: i64) -> Result<(), JobError> {
        Ok(())
    }

    /// Applies a batch within its transaction, and returns the number of new links. Must be
    /// idempotent.
    fn apply(&mut self, db: &mut Db, batch: &[Record<'_>]) -> Result<i64, JobError>;

    /// Drops cached database content. Called if a transaction may have been rolled back.
    fn forget(&mut self);

    /// Whether accounts go through the staging table. This pays off only for large numbers of
    /// accounts.
    fn is_staged(&self) -> bool {
        false
    }

    /// Whether even the largest transaction is fast, which makes adapting the size unnecessary.
    fn is_quick(&self) -> bool {
        false
    }
}

/// Applies all sorted records.
///
/// Records with the same key are always in the same batch, so the key alone can serve as the
/// checkpoint. On SQLite, a batch has up to `per_mib` records per MiB of memory, because a small
/// batch rewrites nearly as many pages of the by-domain index as a large one.
pub fn walk(
    context: &JobContext,
    running: &Running,
    mut sorted: Sorted,
    tally: &Tally,
    per_mib: usize,
    target: &mut impl Apply,
) -> Result<(), JobError> {
    let spilled = || JobError::file("a temporary file");
    let mut connection = RetryingConnection::open(&context.pools)?;
    load_connections::set_cache(connection.db(), cache_kib(context, sorted.is_in_memory()))?;
    let mut batch_size = match target.is_staged() {
        true => AdaptiveBatch::staged(context),
        false => AdaptiveBatch::new(context, per_mib, target.is_quick()),
    };
    let total = u64::try_from(tally.counts.accepted).ok();
    let progress = ProgressReporter::new("loading", Unit::Items("accounts"), total);
    let report = |done| progress.set_with(done, || details(tally.counts));
    let mut batch = Batch::default();
    let (mut is_first, mut done) = (true, 0);
    loop {
        let next = sorted.next_record().map_err(spilled())?;
        let complete = match (&next, batch.last_key()) {
            (Some((key, _)), Some(last)) => {
                batch.ends.len() >= batch_size.records() && last != *key
            }
            (None, last) => last.is_some(),
            (_, None) => false,
        };
        if complete {
            batch_size
                .run(|| commit(context, running.id, &mut connection, &batch, is_first, target))?;
            is_first = false;
            batch.clear();
        }
        let Some((k, text)) = next else { break };
        done += 1;
        if complete || done % REPORT_EVERY == 0 {
            report(done);
        }
        if running.after.is_some_and(|after| k <= after) {
            continue;
        }
        batch.push(k, text);
    }
    report(done);
    progress.finish();
    Ok(())
}

/// Returns the size of a load's page cache in KiB, i.e. the memory that isn't needed for sorting.
fn cache_kib(context: &JobContext, sorted_in_memory: bool) -> usize {
    let share = if sorted_in_memory { 2 } else { 6 };
    (context.settings.load_memory_mb * 1_024 / 10 * share).max(2_048)
}

fn commit(
    context: &JobContext,
    id: i64,
    connection: &mut RetryingConnection,
    batch: &Batch,
    is_first: bool,
    target: &mut impl Apply,
) -> Result<(), JobError> {
    let Some(last) = batch.last_key() else { return Ok(()) };
    let (cursor, records) = (last.to_le_bytes(), batch.records()?);
    let mut attempts = 0;
    connection.transaction(|db| {
        if attempts > 0 {
            target.forget();
        }
        attempts += 1;
        versions::lock_accounts(db)?;
        job::expect_unfinished(db, id)?;
        // Links that a failed server has not committed would be counted again, also if another
        // process added them after the last batch.
        cluster::complete_all_commits(db)?;
        if is_first {
            target.begin(db, context.clock.unix())?;
        }
        let added = target.apply(db, &records)?;
        // This is also a heartbeat, and the transaction may have waited for a long time.
        let moved = jobs::advance(db, id, &cursor, added, context.clock.unix())?;
        job::expect_open(db, id, moved)
    })
}

#[cfg(test)]
mod tests {
    use domain::ManualClock;
    use testkit::Database;

    use super::*;
    use crate::config::Settings;

    /// Can't write anything.
    struct Unreachable;

    impl Apply for Unreachable {
        fn apply(&mut self, _: &mut Db, _: &[Record<'_>]) -> Result<i64, JobError> {
            Err(DatabaseError::NotFound.into())
        }

        fn forget(&mut self) {}
    }

    /// Waits for ten minutes before each write.
    struct Slow(ManualClock);

    impl Apply for Slow {
        fn apply(&mut self, _: &mut Db, _: &[Record<'_>]) -> Result<i64, JobError> {
            self.0.advance(600);
            Ok(1)
        }

        fn forget(&mut self) {}
    }

    #[test]
    fn load_counts_as_running_after_it_has_waited_for_the_database() {
        let database = Database::new();
        let pools = database.open(&[&auth::MIGRATIONS, &crate::store::MIGRATIONS]);
        let clock = testkit::clock("2026-03-01T12:00:00Z");
        let settings = Settings::for_tests();
        let context = JobContext { pools, clock: clock.shared(), settings };
        let begin = |db: &mut Db| jobs::begin(db, "accounts", "", "{}", context.clock.unix());
        let id = context.pools.write_blocking(begin).unwrap();
        let mut sorter = job::sorter(&context);
        sorter.push(1, b"ada@corp.example").unwrap();
        let (running, tally) = (Running { id, after: None }, Tally::default());
        let sorted = sorter.finish().unwrap();
        walk(&context, &running, sorted, &tally, 1, &mut Slow(clock)).unwrap();
        let found = context.pools.read_blocking(|db| jobs::get(db, id)).unwrap();
        assert_eq!((found.added, found.updated_at), (1, context.clock.unix()));
    }

    #[test]
    fn load_that_cannot_write_can_be_cancelled() {
        let database = Database::new();
        let pools = database.open(&[&auth::MIGRATIONS, &crate::store::MIGRATIONS]);
        let clock = testkit::clock("2026-03-01T12:00:00Z").shared();
        let context = JobContext { pools, clock, settings: Settings::for_tests() };
        let cancel = |db: &mut Db| {
            let id = jobs::begin(db, "accounts", "", "{}", 1)?;
            jobs::cancel(db, id, 1)?;
            Ok::<_, DatabaseError>(id)
        };
        let id = context.pools.write_blocking(cancel).unwrap();
        let mut sorter = job::sorter(&context);
        sorter.push(1, b"ada@corp.example").unwrap();
        let (running, tally) = (Running { id, after: None }, Tally::default());
        let sorted = sorter.finish().unwrap();
        let ended = walk(&context, &running, sorted, &tally, 1, &mut Unreachable);
        assert!(matches!(ended, Err(JobError::Cancelled)), "{ended:?}");
    }
}
