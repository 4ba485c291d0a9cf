//! `job cancel`: stops a load and publishes what it has already linked.

use database::{DatabaseError, Db};
use serde::Serialize;

use super::accounts::AccountsOptions;
use super::pastes::PastesOptions;
use super::sources::Sources;
use super::stealer_logs::StealerLogsOptions;
use crate::app;
use crate::jobs::context::JobContext;
use crate::jobs::error::JobError;
use crate::jobs::maintenance::domain_index;
use crate::model::Breach;
use crate::store::jobs::{self, Job};
use crate::store::{admin_events, breaches, cluster, versions};

/// A cancelled job. The links that it added are kept.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Cancelled {
    pub id: i64,
    pub state: &'static str,
    /// Links that the job added.
    pub added: i64,
    /// Names of the breaches it linked addresses to, with their published counts.
    pub breaches: Vec<(String, i64)>,
}

/// Cancels a job. A process that is still running it stops at its next batch. If this was the last
/// load, the by-domain index is completed.
///
/// # Errors
/// Fails with `NotFound` if the job isn't running or failed.
pub fn cancel(context: &JobContext, id: i64) -> Result<Cancelled, JobError> {
    let cancelled = cancel_only(context, id)?;
    if let Err(error) = domain_index::index_domains(context) {
        log::warn!("the accounts were not indexed by domain: {error}");
    }
    Ok(cancelled)
}

fn cancel_only(context: &JobContext, id: i64) -> Result<Cancelled, JobError> {
    let now = context.clock.unix();
    let mut is_repeated = false;
    context.write(|db| attempt(db, id, std::mem::replace(&mut is_repeated, true), now))
}

/// Cancels a job in the current transaction. If the transaction is repeated because a connection
/// was lost, the first attempt may have been committed.
fn attempt(db: &mut Db, id: i64, is_repeated: bool, now: i64) -> Result<Cancelled, JobError> {
    versions::lock_accounts(db)?;
    // Domain counts and notices would miss links that are committed later. If a server is down, the
    // job must be cancelled nevertheless.
    cluster::complete_commits(db)?;
    let is_done = is_repeated && jobs::get(db, id)?.state == "cancelled";
    if !is_done {
        jobs::cancel(db, id, now)?;
    }
    let job = jobs::get(db, id)?;
    if job.kind == domain_index::KIND {
        return Err(JobError::Rejected(format!(
            "job {id} was not cancelled: domains cannot be searched until it is done"
        )));
    }
    let mut cancelled =
        Cancelled { id, state: "cancelled", added: job.added, breaches: Vec::new() };
    if job.added > 0 {
        cancelled.breaches = publish(db, &job)?;
    }
    if is_done {
        return Ok(cancelled);
    }
    if job.added > 0 {
        // The links are already being served.
        match job.kind.as_str() {
            "pastes" => announce_pastes(db, &job, now)?,
            _ => versions::bump_catalogue(db, now)?,
        }
    }
    let detail = format!("{}, {} added", job.kind, job.added);
    admin_events::add(db, now, "job cancel", &format!("job {id}"), &detail)?;
    Ok(cancelled)
}

/// Posts the notices of a load of pastes, unless it was supposed to suppress them.
fn announce_pastes(db: &mut Db, job: &Job, now: i64) -> Result<(), DatabaseError> {
    let options = serde_json::from_str::<PastesOptions>(&job.params);
    if options.is_ok_and(|options| !options.no_notify) {
        app::post_paste_notices(db, job.id, now)?;
    }
    versions::bump_pastes(db)
}

/// Updates the published counts of a load's breaches, unless it was supposed to keep them.
fn publish(db: &mut Db, job: &Job) -> Result<Vec<(String, i64)>, JobError> {
    let (targets, keep_count) = targets(db, job);
    let mut published = Vec::with_capacity(targets.len());
    for breach in targets {
        let count = if keep_count { breach.pwn_count } else { breach.loaded_count };
        if count != breach.pwn_count {
            breaches::update(db, &Breach { pwn_count: count, ..breach.clone() })?;
        }
        published.push((breach.name, count));
    }
    Ok(published)
}

/// Returns the breaches of a load, and whether it keeps their published counts. Empty for other
/// jobs, or if the manifest of the load can't be read anymore.
fn targets(db: &mut Db, job: &Job) -> (Vec<Breach>, bool) {
    let found = match job.kind.as_str() {
        "accounts" => serde_json::from_str::<AccountsOptions>(&job.params).ok().map(|options| {
            let sources = match &options.manifest {
                Some(manifest) => Sources::of_manifest(db, manifest),
                None => Sources::of_breach(db, &options.breach, &[]),
            };
            (sources, options.keep_count)
        }),
        "stealer-logs" => serde_json::from_str::<StealerLogsOptions>(&job.params)
            .ok()
            .map(|options| (Sources::of_breach(db, &options.breach, &[]), options.keep_count)),
        _ => None,
    };
    match found {
        None => (Vec::new(), true),
        Some((Ok(sources), keep_count)) => (sources.breaches, keep_count),
        Some((Err(error), keep_count)) => {
            log::warn!("the published counts of job {} are unchanged: {error}", job.id);
            (Vec::new(), keep_count)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn repeated_cancellation_succeeds_after_an_unacknowledged_commit() {
        let database = testkit::Database::new();
        let pools = database.open(&[&auth::MIGRATIONS, &crate::store::MIGRATIONS]);
        let begin = |db: &mut Db| jobs::begin(db, "accounts", "", "{}", 1);
        let id = pools.write_blocking(begin).unwrap();
        let cancel = |is_repeated| pools.write_blocking(|db| attempt(db, id, is_repeated, 2));
        let first = cancel(false).unwrap();
        assert_eq!(cancel(true).unwrap(), first);
        let other = cancel(false).unwrap_err();
        assert!(matches!(other, JobError::Database(DatabaseError::NotFound)), "{other:?}");
    }
}
