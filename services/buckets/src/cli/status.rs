//! `buckets status`

use std::fmt::Write as _;
use std::io::Write as _;
use std::process::ExitCode;

use jiff::Timestamp;
use serde_json::Value;

use crate::jobs::{self, JobContext};
use crate::model::progress::Progress;

pub fn run(context: &JobContext, as_json: bool) -> anyhow::Result<ExitCode> {
    let status = jobs::status(context)?;
    let text = match as_json {
        true => serde_json::to_string(&status)? + "\n",
        false => as_text(&status, context.clock.unix()),
    };
    std::io::stdout().write_all(text.as_bytes())?;
    Ok(ExitCode::SUCCESS)
}

/// Renders the status as text.
fn as_text(status: &Value, now: i64) -> String {
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
    if number(&status["dead_rows"]) > 0 {
        let _ = writeln!(
            text,
            "{} dead rows from replaced and removed files: buckets rebuild frees their space",
            status["dead_rows"]
        );
    }
    if number(&status["hidden_buckets"]) > 0 {
        let _ = writeln!(
            text,
            "{} buckets are hidden, because their crawls are refused: buckets crawl list",
            status["hidden_buckets"]
        );
    }
    if let Some(run) = status["open_run"].as_u64() {
        let _ = writeln!(text, "run {run} is running or was stopped: buckets load --resume {run}");
    }
    if number(&status["removals_waiting"]) > 0 {
        let _ =
            writeln!(text, "{} removals are waiting for the writer", status["removals_waiting"]);
    }
    if number(&status["rows_not_compared"]) > 0 {
        let _ = writeln!(
            text,
            "{} new rows have not been compared with alerts yet: a server or the next load will do \
             so",
            status["rows_not_compared"]
        );
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
            let left = match left {
                _ if Progress::is_stale(number(&progress["at"]), now) => {
                    format!(", no progress since {}", when(&progress["at"]))
                }
                Some(left) => format!(", {left:.0} s left"),
                None => String::new(),
            };
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

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn running_load_shows_progress() {
        let progress = json!({
            "sources_done": 1, "sources": 3, "bytes_done": 5 << 20, "bytes": 20 << 20,
            "files": 1000, "bad": 2, "files_per_second": 250.4, "seconds_left": 12.2,
            "at": 1_795_132_900,
        });
        let run = json!({
            "id": 1, "state": "running", "mode": "replace", "started_at": 1_795_132_800,
            "progress": progress, "error": null,
        });
        let status = json!({"generation": 1, "runs": [run], "rejected": []});
        for (now, left) in [
            (1_795_132_910, "12 s left"),
            (1_795_132_911, "no progress since 2026-11-20T00:01:40Z"),
        ] {
            let text = as_text(&status, now);
            let expected = format!(
                "run 1 replace running since 2026-11-20T00:00:00Z: 1/3 sources, 5/20 MiB, \
                 1000 files, 2 bad, 250 files/s, {left}\n"
            );
            assert!(text.ends_with(&expected), "{text}");
        }
    }
}
