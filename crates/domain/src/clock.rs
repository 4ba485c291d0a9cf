//! The system clock, and a clock under the control of tests.

use std::sync::atomic::{AtomicI64, Ordering};
use std::sync::{Arc, OnceLock};
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use jiff::Timestamp;

/// Supplies the current time.
pub trait Clock: Send + Sync {
    /// Returns the current time.
    fn now(&self) -> Timestamp;

    /// Returns the current time in Unix seconds, as stored in databases.
    fn unix(&self) -> i64 {
        self.now().as_second()
    }

    /// Returns a monotonic time with an arbitrary origin, for measuring durations.
    ///
    /// While a service is running, the system clock might be set back. A quota that relied on it
    /// would then block callers until the clock has caught up.
    fn steady(&self) -> Duration {
        Duration::try_from(self.now().as_duration()).unwrap_or(Duration::ZERO)
    }
}

/// A clock that threads can share.
pub type SharedClock = Arc<dyn Clock>;

/// The operating system's clock.
#[derive(Clone, Copy, Debug, Default)]
pub struct SystemClock;

impl SystemClock {
    /// Returns the system clock as a shared clock.
    pub fn shared() -> SharedClock {
        Arc::new(Self)
    }
}

impl Clock for SystemClock {
    fn now(&self) -> Timestamp {
        Timestamp::now()
    }

    fn unix(&self) -> i64 {
        let since = SystemTime::now().duration_since(UNIX_EPOCH);
        since.map_or_else(|_| self.now().as_second(), |since| since.as_secs().cast_signed())
    }

    fn steady(&self) -> Duration {
        static START: OnceLock<Instant> = OnceLock::new();
        START.get_or_init(Instant::now).elapsed()
    }
}

/// A clock that only advances when a test advances it.
///
/// ```
/// use domain::{Clock, ManualClock};
///
/// let clock = ManualClock::new("2026-03-01T00:00:00Z".parse()?);
/// clock.advance(90);
/// assert_eq!(clock.now().to_string(), "2026-03-01T00:01:30Z");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug)]
pub struct ManualClock {
    nanos: Arc<AtomicI64>,
}

impl ManualClock {
    /// Creates a clock set to `start`, which must be between the years 1678 and 2261.
    pub fn new(start: Timestamp) -> Self {
        Self { nanos: Arc::new(AtomicI64::new(nanoseconds(start))) }
    }

    /// Advances the clock by whole seconds.
    pub fn advance(&self, seconds: i64) {
        self.nanos.fetch_add(seconds.saturating_mul(1_000_000_000), Ordering::SeqCst);
    }

    /// Sets the clock to `instant`.
    pub fn set(&self, instant: Timestamp) {
        self.nanos.store(nanoseconds(instant), Ordering::SeqCst);
    }

    /// Returns a shared handle to this clock. Setting either one affects both.
    pub fn shared(&self) -> SharedClock {
        Arc::new(self.clone())
    }
}

impl Clock for ManualClock {
    fn now(&self) -> Timestamp {
        let nanos = i128::from(self.nanos.load(Ordering::SeqCst));
        Timestamp::from_nanosecond(nanos).unwrap_or(Timestamp::UNIX_EPOCH)
    }
}

fn nanoseconds(instant: Timestamp) -> i64 {
    i64::try_from(instant.as_nanosecond()).unwrap_or(i64::MAX)
}
