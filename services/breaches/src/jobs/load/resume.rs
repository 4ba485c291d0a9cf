//! `job resume`: runs a load again with its stored options.

use database::DatabaseError;
use serde::de::DeserializeOwned;

use super::accounts;
use super::pastes;
use super::stealer_logs;
use super::tally::Outcome;
use crate::jobs::context::JobContext;
use crate::jobs::error::JobError;
use crate::store::jobs::Job;

/// Resumes a load from its checkpoint. Returns `None` if the job isn't a load.
///
/// # Errors
/// Fails if the load stops early, or with [`JobError::Rejected`] if its input has changed.
pub fn resume_load(context: &JobContext, job: &Job) -> Result<Option<Outcome>, JobError> {
    let number = Some(job.id);
    Ok(Some(match job.kind.as_str() {
        "accounts" => accounts::load(context, &options(job)?, number)?,
        "pastes" => pastes::load(context, &options(job)?, number)?,
        "stealer-logs" => stealer_logs::load(context, &options(job)?, number)?,
        _ => return Ok(None),
    }))
}

fn options<O: DeserializeOwned>(job: &Job) -> Result<O, JobError> {
    Ok(serde_json::from_str(&job.params).map_err(DatabaseError::broken)?)
}
