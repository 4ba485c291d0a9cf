//! What all loads share: jobs that resume after a crash, skipped rows, batches in key order.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::path::PathBuf;

use batch::{ProgressReporter, Sorted, Unit};
use database::{DatabaseError, Db, transaction};
use domain::EmailAddress;

use super::adaptive_batch::AdaptiveBatch;
use super::context::JobContext;
use super::error::JobError;
use super::fingerprint;
use super::input::details;
use super::skip_reason::SkipReason;
use crate::model::{AccountKey, OptOut, address_text};
use crate::store::jobs::{self, Counts};
use crate::store::opt_outs::OptOuts;
use crate::store::{load_connections, versions};

/// Records between two checks whether a report is due.
const REPORT_EVERY: u64 = 4_096;
/// Skipped rows whose line and reason are kept.
const KEPT_SKIPS: usize = 1_000;

/// How a load ended.
#[derive(Clone, Debug, PartialEq, Eq, serde::Serialize)]
pub struct Outcome {
    /// Number of the job.
    pub job: i64,
    /// Rows read.
    pub read: i64,
    /// Rows taken.
    pub accepted: i64,
    /// Rows not taken.
    pub skipped: i64,
    /// Links that did not exist before.
    pub added: i64,
    /// How many rows were not taken for each reason.
    pub reasons: BTreeMap<SkipReason, i64>,
    /// Line and reason of the first skipped rows.
    pub skips: Vec<(u64, SkipReason)>,
}

impl Outcome {
    /// The outcome of a job that is done.
    pub fn new(job: i64, added: i64, tally: Tally) -> Self {
        let Counts { read, accepted, skipped } = tally.counts;
        let Tally { reasons, first: skips, .. } = tally;
        Self { job, read, accepted, skipped, added, reasons, skips }
    }
}

/// Counts rows and keeps why some were not taken; never what they said.
#[derive(Debug, Default)]
pub struct Tally {
    /// Rows.
    pub counts: Counts,
    reasons: BTreeMap<SkipReason, i64>,
    first: Vec<(u64, SkipReason)>,
}

impl Tally {
    /// A row was taken.
    pub fn accept(&mut self) {
        self.counts.read += 1;
        self.counts.accepted += 1;
    }

    /// A row was not taken.
    pub fn skip(&mut self, line: u64, reason: SkipReason) {
        self.counts.read += 1;
        self.counts.skipped += 1;
        *self.reasons.entry(reason).or_default() += 1;
        if self.first.len() < KEPT_SKIPS {
            self.first.push((line, reason));
        }
    }

    /// The kept skips as JSON.
    pub fn skips(&self) -> String {
        serde_json::to_string(&self.first).unwrap_or_else(|_| "[]".to_owned())
    }
}

/// A job that runs.
pub struct Running {
    /// Its number.
    pub id: i64,
    /// The last key, or line, that an earlier run committed.
    pub after: Option<i64>,
}

/// Begins a job, or resumes an unfinished one with the same input and options.
pub fn begin(
    context: &JobContext,
    kind: &str,
    files: &[PathBuf],
    params: &str,
) -> Result<Running, JobError> {
    let now = context.clock.unix();
    let fingerprint = fingerprint::of_all(files, now)?;
    context.pools.write_blocking(|db| {
        if let Some(job) = jobs::unfinished(db, kind, &fingerprint, params)? {
            let cursor = job.cursor.and_then(|bytes| bytes.try_into().ok());
            return Ok(Running { id: job.id, after: cursor.map(i64::from_le_bytes) });
        }
        let id = jobs::begin(db, kind, &fingerprint, params, now)?;
        Ok(Running { id, after: None })
    })
}

/// Runs the body of a job and notes a failure in its row; a cancelled job stays cancelled.
pub fn noted<T>(
    context: &JobContext,
    id: i64,
    body: impl FnOnce() -> Result<T, JobError>,
) -> Result<T, JobError> {
    let result = body();
    if let Err(error) = &result
        && !matches!(error, JobError::Cancelled)
    {
        let (text, now) = (error.to_string(), context.clock.unix());
        let noted =
            context.pools.write_blocking(|db| jobs::finish(db, id, "failed", Some(&text), now));
        if let Err(failed) = noted {
            log::warn!("the failure of job {id} could not be noted: {failed}");
        }
    }
    result
}

/// Reads and sorts the input of a job and notes in its row what was read.
pub fn sorted(
    context: &JobContext,
    id: i64,
    sort: impl FnOnce(&mut Tally) -> Result<Sorted, JobError>,
) -> Result<(Sorted, Tally), JobError> {
    let mut tally = Tally::default();
    let merge = sort(&mut tally)?;
    let (counts, skips) = (tally.counts, tally.skips());
    context.pools.write_blocking(|db| jobs::set_input(db, id, counts, &skips))?;
    Ok((merge, tally))
}

/// A sorted record: the key of an account and the text that the load put there.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Record<'b> {
    /// Key of the account.
    pub k: i64,
    /// Text.
    pub text: &'b str,
}

/// Records with their texts in one buffer.
#[derive(Debug, Default)]
struct Batch {
    texts: Vec<u8>,
    /// Keys, and where their texts end.
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

/// The text under which an address is sorted: local part as stored, `@`, domain as A-labels.
pub fn sorted_text(address: &EmailAddress) -> Cow<'_, str> {
    match address_text::stored_local(address) {
        Cow::Borrowed(_) => Cow::Borrowed(address.as_str()),
        Cow::Owned(local) => Cow::Owned(format!("{local}@{}", address.domain())),
    }
}

/// Local part as stored and domain of [`sorted_text`].
pub fn split_text(text: &str) -> (&str, &str) {
    text.rsplit_once('@').unwrap_or((text, ""))
}

/// Walks sorted records in batches, each in one transaction that also notes how far the job is.
///
/// A batch never ends between records of one key, so that the key alone says where to resume. On SQLite
/// it has up to `per_mib` records for each MiB of memory: a transaction rewrites the pages of accounts
/// by domain that it touches, nearly as many for a small batch as for a large one.
pub fn walk(
    context: &JobContext,
    running: &Running,
    mut sorted: Sorted,
    tally: &Tally,
    per_mib: usize,
    mut apply: impl FnMut(&mut Db, &[Record<'_>]) -> Result<i64, JobError>,
) -> Result<(), JobError> {
    let spilled = || JobError::file("a temporary file");
    let mut db = load_connections::connect(&context.pools)?;
    load_connections::set_cache(&mut db, cache_kib(context, sorted.is_in_memory()))?;
    let mut batch_size = AdaptiveBatch::new(&db, context, per_mib);
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
            batch_size.run(|| commit(context, running.id, &mut db, &batch, &mut apply))?;
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

/// The page cache of a sorted load in KiB: what sorting leaves of the load's memory.
fn cache_kib(context: &JobContext, sorted_in_memory: bool) -> usize {
    let share = if sorted_in_memory { 2 } else { 6 };
    (context.settings.load_memory_mb * 1_024 / 10 * share).max(2_048)
}

fn commit(
    context: &JobContext,
    id: i64,
    db: &mut Db,
    batch: &Batch,
    apply: &mut impl FnMut(&mut Db, &[Record<'_>]) -> Result<i64, JobError>,
) -> Result<(), JobError> {
    let Some(last) = batch.last_key() else { return Ok(()) };
    let (cursor, records) = (last.to_le_bytes(), batch.records()?);
    let now = context.clock.unix();
    transaction(db, |db| {
        versions::lock_accounts(db)?;
        let added = apply(db, &records)?;
        if jobs::advance(db, id, &cursor, added, now)? { Ok(()) } else { Err(JobError::Cancelled) }
    })
}

/// The opt-outs as a load sees them: read again whenever they changed.
pub struct Excluded {
    opt_outs: OptOuts,
    version: i64,
    max: i64,
}

impl Excluded {
    /// Holds up to `max` in memory.
    pub fn new(max: i64) -> Self {
        Self { opt_outs: OptOuts::default(), version: -1, max }
    }

    /// Looks whether they changed; called inside the transaction of a batch, which no opt-out can
    /// overtake.
    pub fn refresh(&mut self, db: &mut Db) -> Result<(), DatabaseError> {
        let version = versions::current(db)?.opt_out;
        if version != self.version {
            self.opt_outs = OptOuts::load(db, self.max)?;
            self.version = version;
        }
        Ok(())
    }

    /// Whether an address must never be stored again.
    pub fn holds(&self, db: &mut Db, k: i64, sorted_text: &str) -> Result<bool, DatabaseError> {
        if !self.opt_outs.may_hold(AccountKey(k)) {
            return Ok(false);
        }
        let (local, domain) = split_text(sorted_text);
        let digest = address_text::digest(local, domain);
        Ok(self.opt_outs.get(db, &digest)? == Some(OptOut::Breaches))
    }
}
