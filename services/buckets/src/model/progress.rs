//! Progress of load runs.

use serde::{Deserialize, Serialize};

/// Maximum age of a progress record in seconds. If it's older, the run must have stopped.
const STALE: i64 = 10;

/// Progress of a load run.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Progress {
    /// Number of finished sources.
    pub sources_done: u64,
    /// Total number of sources.
    pub sources: u64,
    /// Number of bytes read.
    pub bytes_done: u64,
    /// Total size of the sources in bytes. 0 if standard input is one of them.
    pub bytes: u64,
    /// Number of files.
    pub files: u64,
    /// Number of bad lines.
    pub bad: u64,
    /// Files per second since this process started.
    pub files_per_second: f64,
    /// Estimated time in seconds until all bytes have been read.
    pub seconds_left: Option<f64>,
    /// Unix time at which this record was written.
    #[serde(default)]
    pub at: i64,
}

impl Progress {
    /// Returns `true` if a record written at time `at` is so old that its run can't be in progress
    /// anymore.
    pub fn is_stale(at: i64, now: i64) -> bool {
        now - at > STALE
    }

    /// Returns the speed in a JSON record, or 0 if the record is stale.
    pub fn current_rate(record: &str, now: i64) -> f64 {
        let progress = serde_json::from_str::<Self>(record).ok();
        let fresh = progress.filter(|progress| !Self::is_stale(progress.at, now));
        fresh.map_or(0.0, |progress| progress.files_per_second)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn stale_record_has_no_rate() {
        let record = Progress { files_per_second: 7.0, at: 100, ..Progress::default() };
        let text = serde_json::to_string(&record).unwrap();
        assert_eq!(Progress::current_rate(&text, 110), 7.0);
        assert_eq!(Progress::current_rate(&text, 111), 0.0);
        assert_eq!(Progress::current_rate("", 100), 0.0);
    }
}
