//! The final step of loads of accounts and stealer logs.

use database::Db;

use super::sources::open_breach;
use crate::jobs::context::JobContext;
use crate::jobs::error::JobError;
use crate::jobs::job;
use crate::model::Breach;
use crate::store::{admin_events, breaches, jobs, versions};

/// The options for ending a load.
#[derive(Clone, Copy, Debug)]
pub struct Ending {
    /// The command name for the audit trail.
    pub command: &'static str,
    /// Whether the published count is kept.
    pub keep_count: bool,
    /// Whether the breach is activated.
    pub activate: bool,
}

/// Ends the job of a load: publishes the counts of its breaches and activates them if requested.
/// Returns the number of links that the job has added.
///
/// # Errors
/// Among others, [`JobError::DoneElsewhere`] if another process finished the job, and
/// [`JobError::Cancelled`].
pub fn finish(
    context: &JobContext,
    breaches: &[Breach],
    job: i64,
    ending: Ending,
) -> Result<i64, JobError> {
    let now = context.clock.unix();
    context.write(|db| {
        versions::lock_accounts(db)?;
        let is_open = jobs::finish(db, job, now)?;
        job::expect_open(db, job, is_open)?;
        let added = jobs::get(db, job)?.added;
        let mut changed = added > 0;
        for breach in breaches {
            changed |= reconcile(db, breach, ending, now)?;
            admin_events::add(db, now, ending.command, &breach.name, &format!("job {job}"))?;
        }
        // Domain searches are charged per version of the catalogue, and new accounts count as a
        // change.
        if changed {
            versions::bump_catalogue(db, now)?;
        }
        Ok(added)
    })
}

/// Updates the row of a breach. Returns whether it has changed.
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
