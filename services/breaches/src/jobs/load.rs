//! What all loads share: jobs that go on after a crash, skipped rows, batches in key order.

use std::collections::HashMap;
use std::fs::File;
use std::io::{self, Read};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use domain::{EmailAddress, Sha1Digest};
use store::{Db, StoreError, transaction};

use super::addresses::Reason;
use super::progress::{Counting, Progress};
use super::sorter::Merge;
use super::{Context, JobError, fingerprint};
use crate::model::{AccountKey, OptOut, address_text};
use crate::store::job::{self, Counts};
use crate::store::opt_out::OptOuts;
use crate::store::{mail_domain, meta};

/// Records of one transaction.
const BATCH: usize = 5_000;
/// Skipped rows whose line and reason are kept.
const KEPT_SKIPS: usize = 1_000;
/// Domains whose ids are kept in memory.
const KEPT_DOMAINS: usize = 400_000;

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
    /// Line and reason of the first skipped rows.
    pub skips: Vec<(u64, Reason)>,
}

/// Counts rows and keeps why some were not taken; never what they said.
#[derive(Debug, Default)]
pub struct Tally {
    /// Rows.
    pub counts: Counts,
    first: Vec<(u64, Reason)>,
}

impl Tally {
    /// A row was taken.
    pub fn accept(&mut self) {
        self.counts.read += 1;
        self.counts.accepted += 1;
    }

    /// A row was not taken.
    pub fn skip(&mut self, line: u64, reason: Reason) {
        self.counts.read += 1;
        self.counts.skipped += 1;
        if self.first.len() < KEPT_SKIPS {
            self.first.push((line, reason));
        }
    }

    /// The kept skips as JSON.
    pub fn skips(&self) -> String {
        serde_json::to_string(&self.first).unwrap_or_else(|_| "[]".to_owned())
    }

    /// The kept skips.
    pub fn into_skips(self) -> Vec<(u64, Reason)> {
        self.first
    }
}

/// A job that runs.
pub struct Running {
    /// Its number.
    pub id: i64,
    /// The last key, or line, that an earlier run committed.
    pub after: Option<i64>,
}

/// Begins a job, or goes on with an unfinished one of the same input and wish.
pub fn begin(
    context: &Context,
    kind: &str,
    files: &[PathBuf],
    params: &str,
) -> Result<Running, JobError> {
    let now = context.clock.unix();
    let fingerprint = fingerprint::of_all(files, now)?;
    context.pools.write_blocking(|db| {
        if let Some(job) = job::unfinished(db, kind, &fingerprint, params)? {
            let cursor = job.cursor.and_then(|bytes| bytes.try_into().ok());
            return Ok(Running { id: job.id, after: cursor.map(i64::from_le_bytes) });
        }
        let id = job::begin(db, kind, &fingerprint, params, now)?;
        Ok(Running { id, after: None })
    })
}

/// Runs the body of a job and notes a failure in its row; a cancelled job stays cancelled.
pub fn noted<T>(
    context: &Context,
    id: i64,
    body: impl FnOnce() -> Result<T, JobError>,
) -> Result<T, JobError> {
    let result = body();
    if let Err(error) = &result
        && !matches!(error, JobError::Cancelled)
    {
        let (text, now) = (error.to_string(), context.clock.unix());
        let noted =
            context.pools.write_blocking(|db| job::finish(db, id, "failed", Some(&text), now));
        if let Err(failed) = noted {
            log::warn!("the failure of job {id} could not be noted: {failed}");
        }
    }
    result
}

/// An open input, its size, which is 0 where nobody knows it, and the bytes read so far.
pub type Input = (Box<dyn Read>, u64, Arc<AtomicU64>);

/// Opens a file, or standard input for `-`; tells its size and counts what is read.
pub fn open(path: &Path) -> Result<Input, JobError> {
    let bytes = Arc::new(AtomicU64::new(0));
    if path.as_os_str() == "-" {
        let input = Counting::new(io::stdin(), Arc::clone(&bytes));
        return Ok((Box::new(input), 0, bytes));
    }
    let file = File::open(path).map_err(JobError::file(path.display().to_string()))?;
    let size = file.metadata().map_or(0, |about| about.len());
    Ok((Box::new(Counting::new(file, Arc::clone(&bytes))), size, bytes))
}

/// Bytes read so far.
pub fn position(bytes: &AtomicU64) -> u64 {
    bytes.load(Ordering::Relaxed)
}

/// A sorted record: the key of an account and the text that the load put there.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Record {
    /// Key of the account.
    pub k: i64,
    /// Text.
    pub text: String,
}

/// The text under which an address is sorted: local part as stored, `@`, domain as A-labels.
pub fn sorted_text(address: &EmailAddress) -> String {
    format!("{}@{}", address_text::stored_local(address), address.domain())
}

/// Local part as stored and domain of [`sorted_text`].
pub fn split_text(text: &str) -> (&str, &str) {
    text.rsplit_once('@').unwrap_or((text, ""))
}

/// Walks sorted records in batches, each in one transaction that also notes how far the job is.
///
/// A batch never ends between records of one key, so that the key alone says where to go on.
pub fn walk(
    context: &Context,
    running: &Running,
    mut merge: Merge,
    tally: &Tally,
    mut apply: impl FnMut(&mut Db, &[Record]) -> Result<i64, JobError>,
) -> Result<(), JobError> {
    let spilled = || JobError::file("a temporary file");
    let mut db = context.pools.connect()?;
    let total = u64::try_from(tally.counts.accepted).unwrap_or(0);
    let mut progress = Progress::begin("loading", "accounts", total);
    let mut batch: Vec<Record> = Vec::with_capacity(BATCH + 8);
    let mut done = 0;
    loop {
        let next = merge.next_record().map_err(spilled())?;
        let complete = match (&next, batch.last()) {
            (Some((key, _)), Some(last)) => batch.len() >= BATCH && last.k != *key,
            (None, _) => true,
            (_, None) => false,
        };
        if complete && !batch.is_empty() {
            commit(context, running.id, &mut db, &batch, &mut apply)?;
            done += batch.len() as u64;
            progress.tell(done, tally.counts.accepted, tally.counts.skipped);
            batch.clear();
        }
        let Some((k, text)) = next else { break };
        if running.after.is_some_and(|after| k <= after) {
            continue;
        }
        let text = String::from_utf8_lossy(text).into_owned();
        batch.push(Record { k, text });
    }
    progress.end();
    Ok(())
}

fn commit(
    context: &Context,
    id: i64,
    db: &mut Db,
    batch: &[Record],
    apply: &mut impl FnMut(&mut Db, &[Record]) -> Result<i64, JobError>,
) -> Result<(), JobError> {
    let Some(last) = batch.last() else { return Ok(()) };
    let cursor = last.k.to_le_bytes();
    let now = context.clock.unix();
    transaction(db, |db| {
        meta::lock_accounts(db)?;
        let added = apply(db, batch)?;
        if job::advance(db, id, &cursor, added, now)? { Ok(()) } else { Err(JobError::Cancelled) }
    })
}

/// Ids of domains, most of them from memory.
#[derive(Debug, Default)]
pub struct DomainIds {
    known: HashMap<String, i32>,
}

impl DomainIds {
    /// Makes the ids of some domains known; new domains are filed.
    pub fn learn<'a>(
        &mut self,
        db: &mut Db,
        names: impl Iterator<Item = &'a str>,
    ) -> Result<(), StoreError> {
        let mut unknown: Vec<&str> = names.filter(|name| !self.known.contains_key(*name)).collect();
        unknown.sort_unstable();
        unknown.dedup();
        if self.known.len() + unknown.len() > KEPT_DOMAINS {
            self.known.clear();
        }
        self.known.extend(mail_domain::ids(db, &unknown)?);
        Ok(())
    }

    /// Forgets everything, for a transaction that filed domains was rolled back.
    pub fn forget(&mut self) {
        self.known.clear();
    }

    /// The id of a domain that was made known.
    pub fn get(&self, name: &str) -> Result<i32, StoreError> {
        self.known.get(name).copied().ok_or(StoreError::NotFound)
    }
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
    pub fn refresh(&mut self, db: &mut Db) -> Result<(), StoreError> {
        let version = meta::versions(db)?.opt_out;
        if version != self.version {
            self.opt_outs = OptOuts::load(db, self.max)?;
            self.version = version;
        }
        Ok(())
    }

    /// Whether an address must never be stored again.
    pub fn holds(&self, db: &mut Db, k: i64, sorted_text: &str) -> Result<bool, StoreError> {
        if !self.opt_outs.may_hold(AccountKey(k)) {
            return Ok(false);
        }
        let (local, domain) = split_text(sorted_text);
        let digest = Sha1Digest::of(address_text::full_text(local, domain));
        Ok(self.opt_outs.get(db, &digest)? == Some(OptOut::Breaches))
    }
}
