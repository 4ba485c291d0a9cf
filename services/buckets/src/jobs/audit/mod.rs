//! Audits public buckets: lists all addresses in a file and compares the listings with the index.

mod addresses;
mod report;

use std::time::Instant;

use database::DatabaseError;

pub use addresses::{AuditAddress, Endpoint, InvalidLine, addresses_of};
pub use report::{AuditReport, AuditState, BucketAudit};

use super::context::JobContext;
use super::error::{JobError, losses_text};
use super::load::{abort_stopped, load_audited};
use super::max_errors::MaxErrors;
use super::options::{CheckpointPolicy, LoadOptions};
use super::remote::{Refusal, RemoteOptions};
use super::report::{Report, Tally};
use super::source_paths::sources_of;
use crate::engine::{EngineError, FileIndex, Limits, Mode, RemovalLimit};
use crate::model::file_query::{FileQuery, Position, SortKey};
use crate::store::{buckets, removals};

#[derive(Clone, Debug)]
pub struct AuditOptions {
    /// Buckets to audit, in this order. Invalid lines end up in the report.
    pub addresses: Vec<Result<AuditAddress, InvalidLine>>,
    /// How to list buckets.
    pub remote: RemoteOptions,
    /// Limit on removed files, or `None` with `--accept-removals`.
    pub removal_limit: Option<RemovalLimit>,
    /// Maximum number of new and changed paths to report per bucket.
    pub shown: usize,
}

/// Lists each address and publishes the changes. Each bucket is a separate run, so a bucket that
/// can't be listed or would lose too many files doesn't hold up the others. Nor does a bucket whose
/// files can't be published because another command is writing.
///
/// # Errors
/// Returns an error if the index or the database fails, or if there's a stopped run that can be
/// resumed.
pub fn audit(
    context: &JobContext,
    options: &AuditOptions,
    checkpoints: CheckpointPolicy,
) -> Result<AuditReport, JobError> {
    let started = Instant::now();
    // Checked for each bucket, because audits are slow and removals don't wait for them.
    let is_removed = |address: &AuditAddress| {
        context.pools.read_blocking(|db| removals::hides_bucket(db, &address.bucket))
    };
    let mut report = AuditReport::default();
    for address in &options.addresses {
        let bucket = match address {
            Err(line) => BucketAudit::invalid(line),
            Ok(address) if is_removed(address)? => {
                BucketAudit::new(&address.bucket, AuditState::Removed)
            }
            Ok(address) => match audit_bucket(context, address, options, checkpoints) {
                Err(JobError::Stopped(run)) if report.buckets.is_empty() => {
                    return Err(JobError::Invalid(stopped_text(run)));
                }
                // Another command was stopped after the audit began.
                Err(JobError::Stopped(run)) => {
                    let reason = Some(stopped_text(run));
                    let state = AuditState::Unreachable;
                    BucketAudit { reason, ..BucketAudit::new(&address.bucket, state) }
                }
                audited => audited?,
            },
        };
        report.buckets.push(bucket);
    }
    let counts = context.open_index()?.summary().counts.clone();
    for bucket in report.buckets.iter_mut().filter(|one| one.state != AuditState::Invalid) {
        let id = id_of(context, &bucket.bucket)?;
        bucket.indexed = id.and_then(|id| counts.get(&id).copied()).unwrap_or(0);
    }
    report.seconds = started.elapsed().as_secs_f64();
    Ok(report)
}

fn audit_bucket(
    context: &JobContext,
    address: &AuditAddress,
    options: &AuditOptions,
    checkpoints: CheckpointPolicy,
) -> Result<BucketAudit, JobError> {
    let failed = |state, error: &JobError| {
        let reason = Some(error.to_string());
        BucketAudit { reason, ..BucketAudit::new(&address.bucket, state) }
    };
    let loading = match load_options(address, options) {
        Ok(loading) => loading,
        Err(error) => return Ok(failed(AuditState::Invalid, &error)),
    };
    let before = newest_id(&*context.open_index()?);
    let known = context.pools.read_blocking(|db| buckets::by_address(db, &address.bucket))?;
    let was_hidden = known.is_some_and(|bucket| bucket.hidden_at.is_some());
    let loaded = load_audited(context, &loading, checkpoints);
    let bucket = match loaded {
        Ok(report) => {
            let bucket = listed(context, address, &report, before, options.shown)?;
            // Hidden buckets are still in the index. This bucket was closed and is now open again.
            return Ok(BucketAudit { new_bucket: bucket.new_bucket || was_hidden, ..bucket });
        }
        Err(JobError::Refused { refusal: Refusal { status, reason }, .. }) => {
            let state = match status {
                Some(401 | 403) => AuditState::Closed,
                Some(404) => AuditState::Missing,
                _ => AuditState::Unreachable,
            };
            let reason = Some(reason);
            return Ok(BucketAudit { reason, ..BucketAudit::new(&address.bucket, state) });
        }
        // Stopping here would lose the report of the buckets before, and the next audit wouldn't
        // report their new files again.
        Err(error @ JobError::Index(EngineError::Locked(_))) => {
            return Ok(failed(AuditState::Unreachable, &error));
        }
        Err(error @ (JobError::Unreachable { .. } | JobError::Source { .. })) => {
            failed(AuditState::Unreachable, &error)
        }
        Err(error @ (JobError::Invalid(_) | JobError::TooManyBad { .. })) => {
            failed(AuditState::Incomplete, &error)
        }
        Err(JobError::TooManyRemoved { buckets, .. }) => {
            let held = BucketAudit::new(&address.bucket, AuditState::Held);
            BucketAudit { reason: Some(losses_text(&buckets)), ..held }
        }
        Err(error) => return Err(error),
    };
    // The next load would abort the run too, but might not start for a long time.
    match abort_stopped(context) {
        Err(JobError::Index(EngineError::Locked(_))) => {}
        done => done?,
    }
    Ok(bucket)
}

/// Explains that an audit would abandon a stopped run.
fn stopped_text(run: u64) -> String {
    format!(
        "run {run} was stopped and can be resumed: buckets load --resume {run}; to abandon it, start \
         another load, then repeat the audit"
    )
}

/// Describes a run that was published.
fn listed(
    context: &JobContext,
    address: &AuditAddress,
    report: &Report,
    before: u64,
    shown: usize,
) -> Result<BucketAudit, JobError> {
    let Tally { incomplete, partial, .. } = &report.tally;
    let incomplete = incomplete.first().or(report.truncated.first()).or(partial.first());
    let state = match incomplete {
        Some(_) => AuditState::Incomplete,
        None => AuditState::Listed,
    };
    let mut bucket = BucketAudit {
        new_bucket: report.buckets_new > 0,
        new: report.counts.added,
        changed: report.counts.replaced,
        gone: report.counts.removed,
        unchanged: report.counts.unchanged,
        reason: incomplete.cloned(),
        ..BucketAudit::new(&address.bucket, state)
    };
    if shown > 0
        && bucket.new + bucket.changed > 0
        && let Some(id) = id_of(context, &address.bucket)?
    {
        let query = FileQuery {
            buckets: Some(vec![id]),
            // New and changed files always get higher ids than existing ones.
            position: Position::After(SortKey { value: 0, id: before }),
            limit: shown,
            ..FileQuery::default()
        };
        let rows = context.open_index()?.search(&query, &Limits::none())?.rows;
        bucket.files = rows.into_iter().map(|row| row.path).collect();
    }
    Ok(bucket)
}

fn load_options(address: &AuditAddress, options: &AuditOptions) -> Result<LoadOptions, JobError> {
    let endpoint = address.kind.is_some();
    let options = LoadOptions {
        format: endpoint.then(|| "s3".to_owned()),
        bucket: endpoint.then(|| address.bucket.clone()),
        kind: address.kind.map(|kind| kind.to_string()),
        mode: Mode::Replace,
        newer: None,
        replaces_rejected: false,
        max_errors: MaxErrors::Percent(1.0),
        reject: None,
        remote: options.remote.clone(),
        removal_limit: options.removal_limit,
        sources: sources_of(&[address.url.clone().into()])?,
    };
    options.check()?;
    Ok(options)
}

fn id_of(context: &JobContext, address: &str) -> Result<Option<u64>, DatabaseError> {
    let bucket = context.pools.read_blocking(|db| buckets::by_address(db, address))?;
    Ok(bucket.map(|bucket| bucket.id))
}

/// Returns an upper bound for existing file ids.
fn newest_id(index: &dyn FileIndex) -> u64 {
    let summary = index.summary();
    let journal = &summary.journal;
    // The rows of a stopped run will be dropped.
    journal.open.as_ref().map_or(journal.rows, |open| open.first_row)
}
