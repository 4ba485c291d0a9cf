//! Status of the index and its runs.

use database::DatabaseError;
use serde_json::{Value, json};

use super::context::JobContext;
use super::error::JobError;
use crate::store::load_runs::LoadRun;
use crate::store::{alerts, buckets, generations, load_runs, rejected_lines, removals};

/// Number of runs to show.
const RUNS: i64 = 10;
/// Number of bad lines to show for the newest run.
const LINES: i64 = 10;

/// Returns the status as JSON.
pub fn status(context: &JobContext) -> Result<Value, JobError> {
    let index = context.open_index()?;
    let summary = index.summary();
    let (state, judged, buckets, runs, removals, lines) =
        context.pools.read_blocking(|db| -> Result<_, DatabaseError> {
            let runs = load_runs::latest(db, RUNS)?;
            let newest = runs.first().map_or(0, |run| run.id as u64);
            let lines = rejected_lines::of_run(db, newest, LINES)?;
            let (state, judged) = (generations::read(db)?, alerts::judged(db)?);
            Ok((state, judged, buckets::all(db)?, runs, removals::all(db)?, lines))
        })?;
    let listed = buckets.iter().filter(|bucket| bucket.first_indexed.is_some()).count();
    let waiting = removals.iter().filter(|removal| removal.applied_at.is_none()).count();
    let hidden = buckets.iter().filter(|bucket| bucket.hidden_at.is_some()).count();
    let is_same = judged.generation == i64::from(state.generation);
    let compared = if is_same { judged.id as u64 } else { 0 };
    let open = summary.journal.open.as_ref().map(|open| open.run);
    Ok(json!({
        "generation": state.generation,
        "files": summary.counts.values().sum::<u64>(),
        "buckets": listed,
        "hidden_buckets": hidden,
        "bytes": summary.disk_bytes,
        "dead_rows": summary.dead_rows,
        "published_at": summary.journal.published.as_ref().map(|published| published.at),
        "open_run": open,
        "removals_waiting": waiting,
        "rows_not_compared": summary.journal.published_id().saturating_sub(compared),
        "runs": runs.iter().map(as_json).collect::<Vec<_>>(),
        "rejected": lines.iter().map(|line| json!({
            "source": line.source,
            "position": line.position,
            "reason": line.reason,
            "excerpt": line.excerpt,
        })).collect::<Vec<_>>(),
    }))
}

fn as_json(run: &LoadRun) -> Value {
    let parsed = |text: &str| serde_json::from_str::<Value>(text).unwrap_or(Value::Null);
    json!({
        "id": run.id,
        "state": run.state,
        "mode": run.mode,
        "started_at": run.started_at,
        "ended_at": run.ended_at,
        "progress": parsed(&run.progress),
        "report": parsed(&run.report),
        "error": run.error,
    })
}
