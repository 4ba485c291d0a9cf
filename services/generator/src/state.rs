//! What all requests share.

use database::Pools;
use domain::SharedClock;
use jiff::civil::Date;
use jiff::tz::TimeZone;

/// Database and clock.
#[derive(Clone)]
pub struct State {
    pools: Pools,
    clock: SharedClock,
}

impl State {
    /// The state over a database.
    pub fn new(pools: Pools, clock: SharedClock) -> Self {
        Self { pools, clock }
    }

    /// The database.
    pub fn pools(&self) -> &Pools {
        &self.pools
    }

    /// The current day in UTC.
    pub fn today(&self) -> Date {
        self.clock.now().to_zoned(TimeZone::UTC).date()
    }
}
