//! Progress of a load run.

use serde::{Deserialize, Serialize};

/// Seconds after which a record is considered stale.
const STALE: i64 = 10;

/// Progress of a run.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Progress {
    /// Finished sources.
    pub sources_done: u64,
    /// Total number of sources.
    pub sources: u64,
    /// Bytes read.
    pub bytes_done: u64,
    /// Total bytes of all sources; 0 if standard input is one of them.
    pub bytes: u64,
    /// Files.
    pub files: u64,
    /// Bad lines.
    pub bad: u64,
    /// Files per second since this process started.
    pub files_per_second: f64,
    /// Estimated seconds until all bytes are read.
    pub seconds_left: Option<f64>,
    /// Time of this record in Unix seconds.
    #[serde(default)]
    pub at: i64,
}

impl Progress {
    /// Returns true if a record of this time is from a run that has stopped.
    pub fn is_stale(at: i64, now: i64) -> bool {
        now - at > STALE
    }

    /// Returns the current loading rate from a JSON record; 0 if the record is stale.
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
