//! A timer for periodic work within a loop.

use std::time::{Duration, Instant};

/// A timer that a loop polls.
///
/// Loaders use it to record progress, flush or commit every few seconds. Polling only reads the
/// clock.
///
/// ```
/// use std::time::Duration;
///
/// let mut note = batch::Interval::new(Duration::from_secs(2));
/// assert!(!note.is_due(), "the first time is two seconds from now");
/// let mut always = batch::Interval::new(Duration::ZERO);
/// assert!(always.is_due());
/// ```
#[derive(Clone, Debug)]
pub struct Interval {
    every: Duration,
    last: Instant,
}

impl Interval {
    /// Starts the first interval.
    pub fn new(every: Duration) -> Self {
        Self { every, last: Instant::now() }
    }

    /// Returns whether the interval is over, and if so, starts the next one.
    pub fn is_due(&mut self) -> bool {
        let due = self.last.elapsed() >= self.every;
        if due {
            self.restart();
        }
        due
    }

    /// Restarts the interval because the work was just done for another reason.
    pub fn restart(&mut self) {
        self.last = Instant::now();
    }
}
