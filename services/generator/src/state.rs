//! State shared by all requests.

use std::time::Duration;

use database::Pools;
use domain::SharedClock;
use jiff::civil::Date;
use jiff::tz::TimeZone;

use crate::config::Settings;
use crate::model::Slots;

#[derive(Clone)]
pub struct State {
    pools: Pools,
    clock: SharedClock,
    streams: StreamLimits,
    slots: Slots,
    needs_key: bool,
}

/// Limits for the streams of each caller.
#[derive(Clone, Copy, Debug)]
pub struct StreamLimits {
    /// Maximum concurrent streams per key.
    pub of_key: u32,
    /// Maximum concurrent streams per client address, for requests without a key.
    pub of_address: u32,
    /// Maximum duration of a stream, if limited.
    pub longest: Option<Duration>,
}

impl State {
    /// Creates the state for a database.
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

    /// Returns the per-caller limits for streams.
    pub fn streams(&self) -> StreamLimits {
        self.streams
    }

    /// Returns whether requests without a key are rejected.
    pub fn needs_key(&self) -> bool {
        self.needs_key
    }

    /// Returns the slots for open streams.
    pub fn slots(&self) -> &Slots {
        &self.slots
    }

    pub fn pools(&self) -> &Pools {
        &self.pools
    }

    /// Returns the current time in Unix seconds.
    pub fn now(&self) -> i64 {
        self.clock.unix()
    }

    /// Returns the current date in UTC.
    pub fn today(&self) -> Date {
        self.clock.now().to_zoned_datetime(TimeZone::UTC).date()
    }
}
