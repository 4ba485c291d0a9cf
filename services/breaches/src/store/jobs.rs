//! Progress and results of long-running jobs, which can resume after a crash.

use std::collections::HashMap;

use database::{DatabaseError, Db};
use diesel::prelude::*;
use domain::Sha1Digest;

use super::schema::job;
use super::versions;
use crate::model::{REMOVED_RECORD, RemovedSet};

#[derive(Clone, Debug, PartialEq, Eq, Queryable, serde::Serialize)]
pub struct Job {
    /// Id used on the command line.
    pub id: i64,
    /// `accounts`, `pastes`, `stealer-logs`, `purge` or `index`.
    pub kind: String,
    /// Fingerprint of the input files, used to recognize them when a job is resumed.
    pub fingerprint: String,
    /// Options as JSON.
    pub params: String,
    /// `running`, `done`, `failed` or `cancelled`. A job can also be displayed as `interrupted`,
    /// but this is never stored.
    pub state: String,
    /// Last committed key or line of an unfinished job.
    #[serde(skip)]
    pub cursor: Option<Vec<u8>>,
    /// Rows read.
    pub read: i64,
    /// Rows accepted.
    pub accepted: i64,
    /// Rows skipped.
    pub skipped: i64,
    /// Number of new links, or of removed ones in the case of a purge.
    pub added: i64,
    /// Start time in Unix seconds.
    pub started_at: i64,
    /// Last heartbeat or state change, in Unix seconds.
    pub updated_at: i64,
    /// Line numbers and reasons of the first skipped rows, as JSON.
    pub skips: String,
    /// Error message if the job failed.
    pub error: Option<String>,
    /// Addresses and links that were removed during an unfinished load; see [`RemovedSet`].
    #[serde(skip)]
    pub removed: Option<Vec<u8>>,
}

/// A job without a heartbeat for this many seconds is no longer running: it's displayed as
/// interrupted, and other processes can continue its work.
pub const SILENT_SECONDS: i64 = 30;

impl Job {
    /// Displays a running job without a recent heartbeat as `interrupted`, since it was probably
    /// killed.
    #[must_use]
    pub fn seen_at(mut self, now: i64) -> Self {
        if self.state == "running" && now - self.updated_at > SILENT_SECONDS {
            "interrupted".clone_into(&mut self.state);
        }
        self
    }
}

/// Row counts of a job.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Counts {
    /// Rows read.
    pub read: i64,
    /// Rows accepted.
    pub accepted: i64,
    /// Rows skipped.
    pub skipped: i64,
}

/// Finds an unfinished job with the same input and options.
pub fn unfinished(
    db: &mut Db,
    kind: &str,
    fingerprint: &str,
    params: &str,
) -> Result<Option<Job>, DatabaseError> {
    Ok(job::table
        .filter(job::kind.eq(kind))
        .filter(job::fingerprint.eq(fingerprint).and(job::params.eq(params)))
        .filter(job::state.eq_any(["running", "failed"]))
        .order(job::id.desc())
        .first(db)
        .optional()?)
}

/// Starts a job.
pub fn begin(
    db: &mut Db,
    kind: &str,
    fingerprint: &str,
    params: &str,
    now: i64,
) -> Result<i64, DatabaseError> {
    Ok(diesel::insert_into(job::table)
        .values((
            job::kind.eq(kind),
            job::fingerprint.eq(fingerprint),
            job::params.eq(params),
            job::state.eq("running"),
            job::read.eq(0_i64),
            job::accepted.eq(0_i64),
            job::skipped.eq(0_i64),
            job::added.eq(0_i64),
            job::started_at.eq(now),
            job::updated_at.eq(now),
            job::skips.eq("[]"),
        ))
        .returning(job::id)
        .get_result(db)?)
}

/// Saves the input counts once the input has been sorted. Doesn't touch the state, which another
/// process may be changing at the same time.
pub fn set_input(db: &mut Db, id: i64, counts: Counts, skips: &str) -> Result<(), DatabaseError> {
    diesel::update(job::table.find(id))
        .set((
            job::read.eq(counts.read),
            job::accepted.eq(counts.accepted),
            job::skipped.eq(counts.skipped),
            job::skips.eq(skips),
        ))
        .execute(db)?;
    Ok(())
}

/// Resumes a job that stopped early. Returns `false` if it was cancelled or if another process has
/// finished it, which may have happened since the caller looked at it.
pub fn restart(db: &mut Db, id: i64, now: i64) -> Result<bool, DatabaseError> {
    let open = job::table.filter(job::id.eq(id).and(job::state.eq_any(["running", "failed"])));
    let rows = diesel::update(open)
        .set((job::state.eq("running"), job::error.eq(None::<String>), job::updated_at.eq(now)))
        .execute(db)?;
    Ok(rows == 1)
}

/// Records a heartbeat of a running job and updates its input counts.
pub fn note(db: &mut Db, id: i64, counts: Counts, now: i64) -> Result<(), DatabaseError> {
    let running = job::table.filter(job::id.eq(id).and(job::state.eq("running")));
    diesel::update(running)
        .set((
            job::read.eq(counts.read),
            job::accepted.eq(counts.accepted),
            job::skipped.eq(counts.skipped),
            job::updated_at.eq(now),
        ))
        .execute(db)?;
    Ok(())
}

/// Moves a job's checkpoint forward. Returns `false` if the job was cancelled or if another process
/// has finished it. If another process marked it as failed, it's set to running again.
pub fn advance(
    db: &mut Db,
    id: i64,
    cursor: &[u8],
    added: i64,
    now: i64,
) -> Result<bool, DatabaseError> {
    if !count(db, id, added, now)? {
        return Ok(false);
    }
    diesel::update(job::table.find(id)).set(job::cursor.eq(cursor)).execute(db)?;
    Ok(true)
}

/// Adds to the link count without moving the checkpoint. Returns `false` in the same cases as
/// [`advance`].
pub fn count(db: &mut Db, id: i64, links: i64, now: i64) -> Result<bool, DatabaseError> {
    let open = job::table.filter(job::id.eq(id).and(job::state.eq_any(["running", "failed"])));
    let rows = diesel::update(open)
        .set((
            job::state.eq("running"),
            job::error.eq(None::<String>),
            job::added.eq(job::added + links),
            job::updated_at.eq(now),
        ))
        .execute(db)?;
    Ok(rows == 1)
}

/// Takes over a job that has been silent since `silent` or that failed before `failed`. If two
/// processes race, only one gets it. Returns `None` if there is no such job.
pub fn take_over(
    db: &mut Db,
    kind: &str,
    silent: i64,
    failed: i64,
    now: i64,
) -> Result<Option<Job>, DatabaseError> {
    let is_silent = job::state.eq("running").and(job::updated_at.le(silent));
    let has_failed = job::state.eq("failed").and(job::updated_at.le(failed));
    let abandoned = job::kind.eq(kind).and(is_silent.or(has_failed));
    let found: Option<Job> = job::table.filter(abandoned).order(job::id).first(db).optional()?;
    let Some(found) = found else { return Ok(None) };
    let same = job::table
        .filter(job::id.eq(found.id).and(job::updated_at.eq(found.updated_at)))
        .filter(job::state.eq(&found.state));
    let taken = diesel::update(same)
        .set((job::state.eq("running"), job::updated_at.eq(now)))
        .execute(db)?;
    Ok((taken == 1).then_some(found))
}

/// Marks a job as done. Returns `false` if it was cancelled or if another process has finished it.
pub fn finish(db: &mut Db, id: i64, now: i64) -> Result<bool, DatabaseError> {
    let open = job::table.filter(job::id.eq(id).and(job::state.eq_any(["running", "failed"])));
    let rows = diesel::update(open)
        .set((
            job::state.eq("done"),
            job::cursor.eq(None::<Vec<u8>>),
            job::error.eq(None::<String>),
            job::removed.eq(None::<Vec<u8>>),
            job::updated_at.eq(now),
        ))
        .execute(db)?;
    Ok(rows == 1)
}

/// Marks a job as failed unless it was cancelled or another process has finished it.
pub fn fail(db: &mut Db, id: i64, error: &str, now: i64) -> Result<(), DatabaseError> {
    let open = job::table.filter(job::id.eq(id).and(job::state.eq_any(["running", "failed"])));
    diesel::update(open)
        .set((job::state.eq("failed"), job::error.eq(Some(error)), job::updated_at.eq(now)))
        .execute(db)?;
    Ok(())
}

/// Returns whether a job is unfinished, i.e. neither done nor cancelled.
pub fn is_open(db: &mut Db, id: i64) -> Result<bool, DatabaseError> {
    let state: String = job::table.find(id).select(job::state).first(db)?;
    Ok(matches!(state.as_str(), "running" | "failed"))
}

/// Cancels an unfinished job.
pub fn cancel(db: &mut Db, id: i64, now: i64) -> Result<(), DatabaseError> {
    let open = job::table.filter(job::id.eq(id).and(job::state.eq_any(["running", "failed"])));
    let rows = diesel::update(open)
        .set((
            job::state.eq("cancelled"),
            job::cursor.eq(None::<Vec<u8>>),
            job::removed.eq(None::<Vec<u8>>),
            job::updated_at.eq(now),
        ))
        .execute(db)?;
    if rows == 0 { Err(DatabaseError::NotFound) } else { Ok(()) }
}

/// Clears the checkpoints of finished jobs, which earlier versions kept. A load's checkpoint is an
/// account key, i.e. personal data.
pub fn clear_finished(db: &mut Db) -> Result<(), DatabaseError> {
    let finished = job::table.filter(job::state.eq_any(["done", "cancelled"]));
    diesel::update(finished.filter(job::cursor.is_not_null()))
        .set(job::cursor.eq(None::<Vec<u8>>))
        .execute(db)?;
    Ok(())
}

/// Number of low bits of an account key to clear so that it no longer identifies an address. What
/// remains is the hash prefix used in range searches.
const IDENTIFYING_BITS: u32 = 40;

/// Removes an account key from all checkpoints. Unfinished jobs go back a little and repeat some of
/// their work. Repeating it has no effect.
pub fn forget_key(db: &mut Db, k: i64) -> Result<(), DatabaseError> {
    clear_finished(db)?;
    let (key, earlier) = (k.to_le_bytes(), (k >> IDENTIFYING_BITS) << IDENTIFYING_BITS);
    let jobs = job::table.filter(job::cursor.eq(&key[..])).filter(job::kind.ne("pastes"));
    diesel::update(jobs).set(job::cursor.eq(&earlier.to_le_bytes()[..])).execute(db)?;
    Ok(())
}

/// Makes all unfinished loads skip an address that has just been removed, since their input may
/// contain it. If it was removed from only one breach, they skip that link. Call this while
/// accounts are locked.
pub fn exclude(db: &mut Db, digest: &Sha1Digest, breach: Option<u16>) -> Result<(), DatabaseError> {
    let is_load = || job::kind.ne("purge").and(job::kind.ne("index"));
    let is_open = || job::state.eq_any(["running", "failed"]).and(is_load());
    let open = job::table.filter(is_open()).select((job::id, job::kind, job::removed));
    let (record, mut is_new) = (RemovedSet::record(digest, breach), false);
    for (id, kind, removed) in open.load::<(i64, String, Option<Vec<u8>>)>(db)? {
        // Pastes have no links to breaches.
        if kind == "pastes" && breach.is_some() {
            continue;
        }
        let mut removed = removed.unwrap_or_default();
        if !removed.as_chunks::<REMOVED_RECORD>().0.contains(&record) {
            removed.extend(record);
            // The job may have been cancelled.
            let row = job::table.filter(job::id.eq(id).and(is_open()));
            diesel::update(row).set(job::removed.eq(Some(removed))).execute(db)?;
            is_new = true;
        }
    }
    // Loads read the records again when this version changes.
    if is_new { versions::bump_opt_out(db) } else { Ok(()) }
}

/// Returns the addresses and links that have been removed since a load began.
pub fn excluded(db: &mut Db, id: i64) -> Result<RemovedSet, DatabaseError> {
    let removed: Option<Vec<u8>> = job::table.find(id).select(job::removed).first(db)?;
    Ok(RemovedSet::of_records(&removed.unwrap_or_default()))
}

/// Returns the ids of the unfinished loads that have recorded the digest of a removed address.
pub fn keeping_digest(db: &mut Db, digest: &Sha1Digest) -> Result<Vec<i64>, DatabaseError> {
    let removed = job::table.filter(job::removed.is_not_null()).order(job::id);
    let removed: Vec<(i64, Option<Vec<u8>>)> = removed.select((job::id, job::removed)).load(db)?;
    let has_digest = |removed: &Vec<u8>| {
        let records = removed.as_chunks::<REMOVED_RECORD>().0;
        records.iter().any(|record| record.starts_with(&digest.0))
    };
    let keeping = removed.iter().filter(|(_, removed)| removed.as_ref().is_some_and(has_digest));
    Ok(keeping.map(|(id, _)| *id).collect())
}

/// Counts jobs whose checkpoint is this account key. Paste loads don't count because their
/// checkpoints are line numbers.
pub fn with_key(db: &mut Db, k: i64) -> Result<i64, DatabaseError> {
    let key = k.to_le_bytes();
    let jobs = job::table.filter(job::cursor.eq(&key[..])).filter(job::kind.ne("pastes"));
    Ok(jobs.count().get_result(db)?)
}

pub fn get(db: &mut Db, id: i64) -> Result<Job, DatabaseError> {
    Ok(job::table.find(id).first(db)?)
}

/// Returns the number of jobs in each displayed state, and seconds since the oldest unfinished one
/// started.
pub fn figures(db: &mut Db, now: i64) -> Result<HashMap<String, (i64, i64)>, DatabaseError> {
    let mut figures = HashMap::new();
    for state in ["done", "cancelled"] {
        let jobs = job::table.filter(job::state.eq(state)).count().get_result(db)?;
        figures.insert(state.to_owned(), (jobs, 0));
    }
    let open = job::table.filter(job::state.eq_any(["running", "failed"]));
    for job in open.load::<Job>(db)? {
        let job = job.seen_at(now);
        let (jobs, oldest) = figures.entry(job.state).or_default();
        *jobs += 1;
        *oldest = (*oldest).max(now - job.started_at);
    }
    Ok(figures)
}

/// Returns whether a job other than `id` is running and has had a heartbeat since `since`.
pub fn another_runs(db: &mut Db, id: i64, since: i64) -> Result<bool, DatabaseError> {
    let others = job::table
        .filter(job::id.ne(id))
        .filter(job::state.eq("running"))
        .filter(job::updated_at.ge(since));
    Ok(diesel::select(diesel::dsl::exists(others)).get_result(db)?)
}

/// Returns whether a load of accounts is running and has had a heartbeat after `since`.
pub fn accounts_load_runs(db: &mut Db, since: i64) -> Result<bool, DatabaseError> {
    let loads = job::table
        .filter(job::kind.eq("accounts"))
        .filter(job::state.eq("running"))
        .filter(job::updated_at.gt(since));
    Ok(diesel::select(diesel::dsl::exists(loads)).get_result(db)?)
}

/// Lists all jobs, newest first.
pub fn all(db: &mut Db) -> Result<Vec<Job>, DatabaseError> {
    Ok(job::table.order(job::id.desc()).load(db)?)
}
