//! Final step of account and stealer log loads.

use database::Db;

use super::sources::open_breach;
use crate::jobs::context::JobContext;
use crate::jobs::error::JobError;
use crate::jobs::job;
use crate::model::Breach;
use crate::store::{admin_events, breaches, cluster, jobs, versions};

/// How to finish a load.
#[derive(Clone, Copy, Debug)]
pub struct Ending {
    /// Command name for the audit log.
    pub command: &'static str,
    /// Don't change the published count.
    pub keep_count: bool,
    /// Activate the breach.
    pub activate: bool,
}

/// Finishes a load's job. Publishes the counts of its breaches and activates them if requested.
/// Returns the number of links that the job added.
///
/// # Errors
/// [`JobError::DoneElsewhere`] if another process finished the job, [`JobError::Cancelled`], or any
/// other error.
pub fn finish(
    context: &JobContext,
    breaches: &[Breach],
    job: i64,
    ending: Ending,
) -> Result<i64, JobError> {
    let now = context.clock.unix();
    context.write(|db| {
        versions::lock_accounts(db)?;
        job::expect_unfinished(db, job)?;
        // The next count of a domain, and the notices, would miss what is committed later.
        cluster::complete_all_commits(db)?;
        let is_open = jobs::finish(db, job, now)?;
        job::expect_open(db, job, is_open)?;
        let added = jobs::get(db, job)?.added;
        let mut changed = added > 0;
        for breach in breaches {
            changed |= reconcile(db, breach, ending, now)?;
            admin_events::add(db, now, ending.command, &breach.name, &format!("job {job}"))?;
        }
        // Domain searches are charged per catalogue version, and new accounts are a reason to
        // search again.
        if changed {
            versions::bump_catalogue(db, now)?;
        }
        Ok(added)
    })
}

/// Updates a breach's row. Returns `true` if anything changed.
fn reconcile(db: &mut Db, breach: &Breach, ending: Ending, now: i64) -> Result<bool, JobError> {
    let loaded = open_breach(db, &breach.name)?;
    let mut changed = loaded.clone();
    if !ending.keep_count {
        changed.pwn_count = changed.loaded_count;
    }
    if ending.activate && !changed.active {
        changed.activate(false, now);
    }
    if changed != loaded {
        breaches::update(db, &changed)?;
    }
    Ok(changed != loaded)
}
