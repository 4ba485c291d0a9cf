//! Work that is due now and then.

use std::time::{Duration, Instant};

/// Tells when something that recurs is due again.
///
/// Loaders note their progress in a row, flush or commit every few seconds; they ask in a loop
/// whether it is time to, which costs one look at the clock.
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
    /// An interval that begins now.
    ///
    /// ```
    /// let hourly = batch::Interval::new(std::time::Duration::from_secs(3600));
    /// # let _ = hourly;
    /// ```
    pub fn new(every: Duration) -> Self {
        Self { every, last: Instant::now() }
    }

    /// Whether the interval has passed; if so, the next one begins.
    ///
    /// ```
    /// let mut interval = batch::Interval::new(std::time::Duration::from_secs(3600));
    /// assert!(!interval.is_due());
    /// ```
    pub fn is_due(&mut self) -> bool {
        let due = self.last.elapsed() >= self.every;
        if due {
            self.restart();
        }
        due
    }

    /// Begins the interval anew, because the work was done for another reason.
    ///
    /// ```
    /// let mut checkpoint = batch::Interval::new(std::time::Duration::from_secs(60));
    /// checkpoint.restart();
    /// assert!(!checkpoint.is_due());
    /// ```
    pub fn restart(&mut self) {
        self.last = Instant::now();
    }
}
