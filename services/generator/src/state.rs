//! What all requests share.

use domain::SharedClock;
use jiff::civil::Date;
use jiff::tz::TimeZone;

/// What handlers need beside their request.
#[derive(Clone)]
pub struct State {
    /// Tells which day is today.
    pub clock: SharedClock,
}

impl State {
    /// The day that it is in UTC.
    pub fn today(&self) -> Date {
        self.clock.now().to_zoned(TimeZone::UTC).date()
    }
}
