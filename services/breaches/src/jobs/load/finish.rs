//! How the loads of accounts and of stealer logs end.

use database::Db;

use super::sources::open_breach;
use crate::jobs::context::JobContext;
use crate::jobs::error::JobError;
use crate::jobs::job;
use crate::model::Breach;
use crate::store::{admin_events, breaches, jobs, versions};

/// How a load ends.
#[derive(Clone, Copy, Debug)]
pub struct Ending {
    /// The command, for the list of the operator's changes.
    pub command: &'static str,
    /// Leaves the published count as it is.
    pub keep_count: bool,
    /// Activates the breach.
    pub activate: bool,
}

/// Ends the job of a load: publishes the counts of its breaches and activates them, if wanted.
/// Returns how many links the job added.
///
/// # Errors
/// [`JobError::DoneElsewhere`] where another process did it first, [`JobError::Cancelled`], among others.
pub fn finish(
    context: &JobContext,
    breaches: &[Breach],
    job: i64,
    ending: Ending,
) -> Result<i64, JobError> {
    let now = context.clock.unix();
    context.write(|db| {
        versions::lock_accounts(db)?;
        let jobs::Job { added, state, .. } = jobs::get(db, job)?;
        job::expect_open(db, job, matches!(state.as_str(), "running" | "failed"))?;
        let mut changed = added > 0;
        for breach in breaches {
            changed |= reconcile(db, breach, ending, now)?;
            admin_events::add(db, now, ending.command, &breach.name, &format!("job {job}"))?;
        }
        // Domain searches are charged by catalogue version: new accounts count as a change.
        if changed {
            versions::bump_catalogue(db, now)?;
        }
        jobs::finish(db, job, now)?;
        Ok(added)
    })
}

/// Brings the row of a breach up to date; whether that changed it.
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
