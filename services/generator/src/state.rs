//! The state shared by all requests.

use std::time::Duration;

use database::Pools;
use domain::SharedClock;
use jiff::civil::Date;
use jiff::tz::TimeZone;

use crate::config::Settings;
use crate::model::Slots;

/// Database, clock and running streams.
#[derive(Clone)]
pub struct State {
    pools: Pools,
    clock: SharedClock,
    streams: StreamLimits,
    slots: Slots,
    needs_key: bool,
}

/// How many streams a caller may have running, and for how long.
#[derive(Clone, Copy, Debug)]
pub struct StreamLimits {
    /// Streams of one key.
    pub of_key: u32,
    /// Streams of one address without a key.
    pub of_address: u32,
    /// The longest time that one may take.
    pub longest: Option<Duration>,
}

impl State {
    /// The state over a database.
    pub fn new(pools: Pools, clock: SharedClock, settings: &Settings) -> Self {
        let longest = Duration::from_secs(settings.stream_max_time);
        let streams = StreamLimits {
            of_key: settings.key_streams,
            of_address: settings.anonymous_streams,
            longest: (!longest.is_zero()).then_some(longest),
        };
        let needs_key = !settings.anonymous.is_on();
        Self { pools, clock, streams, slots: Slots::default(), needs_key }
    }

    /// How many streams a caller may have running.
    pub fn streams(&self) -> StreamLimits {
        self.streams
    }

    /// Whether requests without a key are refused.
    pub fn needs_key(&self) -> bool {
        self.needs_key
    }

    /// The streams that are running.
    pub fn slots(&self) -> &Slots {
        &self.slots
    }

    /// The database.
    pub fn pools(&self) -> &Pools {
        &self.pools
    }

    /// The current time in Unix seconds.
    pub fn now(&self) -> i64 {
        self.clock.unix()
    }

    /// The current day in UTC.
    pub fn today(&self) -> Date {
        self.clock.now().to_zoned_datetime(TimeZone::UTC).date()
    }
}
