//! Clocks for tests.

use domain::ManualClock;
use jiff::Timestamp;

use crate::must::must;

/// Returns a clock that stays at `instant` until the test advances it.
///
/// ```
/// use domain::Clock;
///
/// let clock = testkit::clock("2026-03-01T12:00:00Z");
/// clock.advance(60);
/// assert_eq!(clock.unix(), 1_772_366_460);
/// ```
///
/// # Panics
/// Panics if `instant` isn't a timestamp.
#[track_caller]
pub fn clock(instant: &str) -> ManualClock {
    ManualClock::new(must(instant, instant.parse::<Timestamp>()))
}
