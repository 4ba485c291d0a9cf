//! `job list`, `show`, `resume`, `cancel`.

use std::process::ExitCode;

use anyhow::bail;
use database::DatabaseError;
use serde_json::json;

use super::output::Output;
use crate::jobs::{self, JobContext, JobError};
use crate::model::instant;
use crate::store::jobs::{self as job_rows, Job};

/// The subcommand `job`.
#[derive(clap::Subcommand)]
pub enum JobCommand {
    /// List all jobs, newest first
    List {
        #[command(flatten)]
        output: Output,
    },
    /// Show a job, including the line numbers of skipped rows and the reasons
    Show {
        /// Job ID, as shown by `job list`
        id: i64,
        #[command(flatten)]
        output: Output,
    },
    /// Resume an interrupted job
    Resume {
        /// Job ID, as shown by `job list`
        id: i64,
        #[command(flatten)]
        output: Output,
    },
    /// Stop a job after its current batch. Committed batches are kept, and PwnCount becomes the
    /// number of linked accounts
    Cancel {
        /// Job ID, as shown by `job list`
        id: i64,
        #[command(flatten)]
        output: Output,
    },
}

impl JobCommand {
    pub fn run(self, context: &JobContext) -> anyhow::Result<ExitCode> {
        match self {
            Self::List { output } => {
                let now = context.clock.unix();
                let jobs = context.pools.read_blocking(job_rows::all)?;
                let jobs: Vec<Job> = jobs.into_iter().map(|job| job.seen_at(now)).collect();
                output.print_list(&jobs, line)
            }
            Self::Show { id, output } => {
                let job = get(context, id)?;
                output.print(&job, serde_json::to_string_pretty(&job)?)
            }
            Self::Resume { id, output } => resume(context, &get(context, id)?, output),
            Self::Cancel { id, output } => {
                let cancelled = match jobs::cancel(context, id) {
                    Err(JobError::Database(DatabaseError::NotFound)) => {
                        bail!("job {id} is not running")
                    }
                    other => other?,
                };
                let job = get(context, id)?;
                output.print(&cancelled, cancellation(&job, &cancelled.breaches))
            }
        }
    }
}

fn get(context: &JobContext, id: i64) -> anyhow::Result<Job> {
    match context.pools.read_blocking(|db| job_rows::get(db, id)) {
        Err(DatabaseError::NotFound) => bail!("job {id} does not exist"),
        other => Ok(other?.seen_at(context.clock.unix())),
    }
}

/// Describes a cancelled job, and what it leaves behind.
fn cancellation(job: &Job, breaches: &[(String, i64)]) -> String {
    let Job { id, added, .. } = job;
    if *added == 0 {
        return format!("cancelled job {id}");
    }
    if job.kind == "purge" {
        return format!("cancelled job {id}; the {added} links that it removed cannot be restored");
    }
    let counts: String =
        breaches.iter().map(|(name, count)| format!("; PwnCount of {name} is {count}")).collect();
    format!(
        "cancelled job {id}; the {added} links that it added are kept and served{counts}. A new \
         load of the same files adds the others"
    )
}

fn line(job: &Job) -> String {
    let changed = if job.kind == "purge" { "removed" } else { "added" };
    format!(
        "{}\t{}\t{}\t{} read, {} accepted, {} skipped, {} {changed}\t{}",
        job.id,
        job.kind,
        job.state,
        job.read,
        job.accepted,
        job.skipped,
        job.added,
        instant::without_zone(job.updated_at)
    )
}

/// Runs a job again with its stored options, starting from its checkpoint. Its input must be
/// unchanged.
fn resume(context: &JobContext, job: &Job, output: Output) -> anyhow::Result<ExitCode> {
    if matches!(job.state.as_str(), "done" | "cancelled") {
        bail!("job {} is {}", job.id, job.state);
    }
    if job.kind == "purge" {
        let id = jobs::retire(context, &job.params)?;
        return output.print(&json!({ "id": id, "state": "done" }), format!("finished job {id}"));
    }
    if job.kind == "index" {
        if !jobs::index_domains(context)? {
            bail!("a load is running, which continues job {} when it ends", job.id);
        }
        let done = json!({ "id": job.id, "state": "done" });
        return output.print(&done, format!("finished job {}", job.id));
    }
    match jobs::resume_load(context, job)? {
        Some(outcome) => output.print_outcome(&outcome),
        None => bail!("jobs of the kind {} cannot be resumed", job.kind),
    }
}
