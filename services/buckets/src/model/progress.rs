//! How far a load run is.

use serde::{Deserialize, Serialize};

/// Seconds after which a record no longer describes a living process.
const STALE: i64 = 10;

/// How far a run is.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Progress {
    /// Sources read to their end.
    pub sources_done: u64,
    /// All sources.
    pub sources: u64,
    /// Bytes read.
    pub bytes_done: u64,
    /// Bytes of all sources; 0 when standard input is among them.
    pub bytes: u64,
    /// Files.
    pub files: u64,
    /// Bad lines.
    pub bad: u64,
    /// Files per second since the start of this process.
    pub files_per_second: f64,
    /// Seconds until all bytes are read, as far as known.
    pub seconds_left: Option<f64>,
    /// When this was recorded, in Unix seconds.
    #[serde(default)]
    pub at: i64,
}

impl Progress {
    /// Files per second that a run loads now, from its record in JSON; 0 without a fresh one.
    pub fn current_rate(record: &str, now: i64) -> f64 {
        let progress = serde_json::from_str::<Self>(record).ok();
        let fresh = progress.filter(|progress| now - progress.at <= STALE);
        fresh.map_or(0.0, |progress| progress.files_per_second)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_stale_record_has_no_rate() {
        let record = Progress { files_per_second: 7.0, at: 100, ..Progress::default() };
        let text = serde_json::to_string(&record).unwrap();
        assert_eq!(Progress::current_rate(&text, 110), 7.0);
        assert_eq!(Progress::current_rate(&text, 111), 0.0);
        assert_eq!(Progress::current_rate("", 100), 0.0);
    }
}
