//! Decides when to warn that the database has been busy for a long time.

use std::sync::atomic::{AtomicI64, Ordering};

/// Number of seconds until the first warning that the database is busy, and between warnings.
/// Writing a long series can take many seconds.
const WARN_AFTER: i64 = 60;

/// Tracks how long the database has been too busy to look up subscriptions. Shared by all workers.
#[derive(Debug, Default)]
pub struct Outage {
    /// When the outage began or was last warned about, in Unix seconds. 0 if there isn't an outage.
    since: AtomicI64,
}

impl Outage {
    /// Records that the database is busy. Returns whether to log a warning.
    pub fn note(&self, now: i64) -> bool {
        let since = self.since.load(Ordering::Relaxed);
        let is_long = since != 0 && now - since >= WARN_AFTER;
        if since != 0 && !is_long {
            return false;
        }
        let noted = self.since.compare_exchange(since, now, Ordering::Relaxed, Ordering::Relaxed);
        is_long && noted.is_ok()
    }

    /// Records that the database is responding again.
    pub fn end(&self) {
        self.since.store(0, Ordering::Relaxed);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn busy_database_is_reported_once_a_minute_after_the_first_minute() {
        let outage = Outage::default();
        let warned: Vec<i64> =
            (100..400).step_by(5).filter(|at| outage.note(*at) | outage.note(*at)).collect();
        assert_eq!(warned, [160, 220, 280, 340]);
        outage.end();
        assert!(!outage.note(500) && !outage.note(559) && outage.note(560));
    }
}
