//! Processes sorted records in batches. The transaction of each batch also moves the job's
//! checkpoint.

use batch::{ProgressReporter, Sorted, Unit};
use database::{DatabaseError, Db};

use super::adaptive_batch::AdaptiveBatch;
use super::input::details;
use super::tally::Tally;
use crate::jobs::context::JobContext;
use crate::jobs::error::JobError;
use crate::jobs::job::{self, Running};
use crate::jobs::retry::RetryingConnection;
use crate::store::{jobs, load_connections, versions};

/// Number of records between two checks for a due progress report.
const REPORT_EVERY: u64 = 4_096;

/// A sorted record: the key of an account, and the text that the load stored with it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Record<'b> {
    /// Key of the account.
    pub k: i64,
    /// The text that the load stored.
    pub text: &'b str,
}

/// Records whose text is stored in a shared buffer.
#[derive(Debug, Default)]
struct Batch {
    texts: Vec<u8>,
    /// Keys, each with the end of its text in the buffer.
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

/// Applies the sorted records of a load to the database.
pub trait Apply {
    /// Applies a batch in its transaction. Must be idempotent. Returns the number of new links.
    fn apply(&mut self, db: &mut Db, batch: &[Record<'_>]) -> Result<i64, JobError>;

    /// Clears caches of database content. Called after a possible rollback.
    fn forget(&mut self);

    /// Returns whether the accounts of a transaction are staged, which only pays off for many
    /// accounts.
    fn is_staged(&self) -> bool {
        false
    }

    /// Returns whether even the largest transaction is quick, so that the size need not be adapted.
    fn is_quick(&self) -> bool {
        false
    }
}

/// Processes sorted records.
///
/// A batch never ends between records with the same key, so the key alone can serve as the
/// checkpoint. On SQLite, a batch has up to `per_mib` records per MiB of memory, because a small
/// batch rewrites nearly as many pages of the index by domain as a large one.
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
    let mut done = 0;
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
            batch_size.run(|| commit(context, running.id, &mut connection, &batch, target))?;
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

/// Returns the size of a load's page cache in KiB: the memory that sorting leaves.
fn cache_kib(context: &JobContext, sorted_in_memory: bool) -> usize {
    let share = if sorted_in_memory { 2 } else { 6 };
    (context.settings.load_memory_mb * 1_024 / 10 * share).max(2_048)
}

fn commit(
    context: &JobContext,
    id: i64,
    connection: &mut RetryingConnection,
    batch: &Batch,
    target: &mut impl Apply,
) -> Result<(), JobError> {
    let Some(last) = batch.last_key() else { return Ok(()) };
    let (cursor, records) = (last.to_le_bytes(), batch.records()?);
    let now = context.clock.unix();
    let mut attempts = 0;
    connection.transaction(|db| {
        if attempts > 0 {
            target.forget();
        }
        attempts += 1;
        versions::lock_accounts(db)?;
        let added = target.apply(db, &records)?;
        let moved = jobs::advance(db, id, &cursor, added, now)?;
        job::expect_open(db, id, moved)
    })
}
