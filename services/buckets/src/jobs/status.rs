//! What the index holds and what runs do, for `status`.

use std::fmt::Write;

use database::DatabaseError;
use jiff::Timestamp;
use serde_json::{Value, json};

use super::LoadError;
use super::session::Workshop;
use crate::store::run::Run;
use crate::store::{bucket, rejected, removal, run, state};

/// Runs that are named.
const RUNS: i64 = 10;
/// Bad lines of the newest run that are named.
const LINES: i64 = 10;

/// Everything as JSON.
pub fn status(shop: &Workshop) -> Result<Value, LoadError> {
    let index = shop.open_index()?;
    let snapshot = index.snapshot();
    let (state, buckets, runs, removals, lines) =
        shop.pools.read_blocking(|db| -> Result<_, DatabaseError> {
            let runs = run::latest(db, RUNS)?;
            let newest = runs.first().map_or(0, |run| run.id as u64);
            let lines = rejected::of_run(db, newest, LINES)?;
            Ok((state::read(db)?, bucket::all(db)?, runs, removal::all(db)?, lines))
        })?;
    let listed = buckets.iter().filter(|bucket| bucket.first_indexed.is_some()).count();
    let waiting = removals.iter().filter(|removal| removal.applied_at.is_none()).count();
    let open = snapshot.journal.open.as_ref().map(|open| open.run);
    Ok(json!({
        "generation": state.generation,
        "files": snapshot.counts.values().sum::<u64>(),
        "buckets": listed,
        "bytes": snapshot.disk_bytes,
        "published_at": snapshot.journal.published.as_ref().map(|published| published.at),
        "open_run": open,
        "removals_waiting": waiting,
        "runs": runs.iter().map(as_json).collect::<Vec<_>>(),
        "rejected": lines.iter().map(|line| json!({
            "source": line.source,
            "position": line.position,
            "reason": line.reason,
            "excerpt": line.excerpt,
        })).collect::<Vec<_>>(),
    }))
}

fn as_json(run: &Run) -> Value {
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

/// The same for people.
pub fn as_text(status: &Value) -> String {
    let mut text = String::new();
    let number = |value: &Value| value.as_i64().unwrap_or(0);
    let when = |value: &Value| {
        let instant = value.as_i64().and_then(|second| Timestamp::from_second(second).ok());
        instant.map_or("never".to_owned(), |instant| instant.to_string())
    };
    let _ = writeln!(
        text,
        "generation {}: {} files in {} buckets, {} MiB, published {}",
        status["generation"],
        status["files"],
        status["buckets"],
        number(&status["bytes"]) >> 20,
        when(&status["published_at"])
    );
    if let Some(run) = status["open_run"].as_u64() {
        let _ =
            writeln!(text, "run {run} is under way or was stopped: buckets load --resume {run}");
    }
    if number(&status["removals_waiting"]) > 0 {
        let _ = writeln!(text, "{} removals wait for the writer", status["removals_waiting"]);
    }
    for run in status["runs"].as_array().into_iter().flatten() {
        let progress = &run["progress"];
        let _ = write!(
            text,
            "run {} {} {} since {}",
            run["id"],
            run["mode"].as_str().unwrap_or_default(),
            run["state"].as_str().unwrap_or_default(),
            when(&run["started_at"])
        );
        if run["state"] == "running" && progress["sources"].is_number() {
            let left = progress["seconds_left"].as_f64();
            let left = left.map_or(String::new(), |left| format!(", {left:.0} s left"));
            let _ = write!(
                text,
                ": {}/{} sources, {}/{} MiB, {} files, {} bad, {:.0} files/s{left}",
                progress["sources_done"],
                progress["sources"],
                number(&progress["bytes_done"]) >> 20,
                number(&progress["bytes"]) >> 20,
                progress["files"],
                progress["bad"],
                progress["files_per_second"].as_f64().unwrap_or(0.0)
            );
        }
        if let Some(error) = run["error"].as_str() {
            let _ = write!(text, ": {error}");
        }
        text.push('\n');
    }
    for line in status["rejected"].as_array().into_iter().flatten() {
        let text_of = |key: &str| line[key].as_str().unwrap_or_default().to_owned();
        let _ = writeln!(
            text,
            "bad: {} {}: {}",
            text_of("source"),
            line["position"],
            text_of("reason")
        );
    }
    text
}
