//! Where the time comes from, so that tests can hold it still.

use std::sync::atomic::{AtomicI64, Ordering};
use std::sync::{Arc, OnceLock};
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use jiff::{SignedDuration, Timestamp};

/// Tells the current instant.
pub trait Clock: Send + Sync {
    /// The current instant.
    fn now(&self) -> Timestamp;

    /// The current instant in whole Unix seconds, as databases hold it.
    fn unix(&self) -> i64 {
        self.now().as_second()
    }

    /// A reading for measuring spans, from a start that means nothing.
    ///
    /// The machine's clock may be set back while a service runs; this reading never goes back, so
    /// that a quota does not block its callers until the old time comes round again.
    fn steady(&self) -> Duration {
        Duration::try_from(self.now().as_duration()).unwrap_or(Duration::ZERO)
    }
}

/// A clock that many owners share.
pub type SharedClock = Arc<dyn Clock>;

/// The clock of the machine.
#[derive(Clone, Copy, Debug, Default)]
pub struct SystemClock;

impl SystemClock {
    /// The machine's clock as a shared one.
    ///
    /// ```
    /// let clock = domain::SystemClock::shared();
    /// assert!(clock.unix() > 1_700_000_000);
    /// ```
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

/// A clock that moves only when it is told to.
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
    /// A clock that stands at `start`; years 1678 to 2261.
    pub fn new(start: Timestamp) -> Self {
        Self { nanos: Arc::new(AtomicI64::new(nanoseconds(start))) }
    }

    /// Moves the clock forward by whole seconds.
    pub fn advance(&self, seconds: i64) {
        self.advance_by(SignedDuration::from_secs(seconds));
    }

    /// Moves the clock by any span.
    pub fn advance_by(&self, span: SignedDuration) {
        let nanos = i64::try_from(span.as_nanos()).unwrap_or(i64::MAX);
        self.nanos.fetch_add(nanos, Ordering::SeqCst);
    }

    /// Sets the clock.
    pub fn set(&self, instant: Timestamp) {
        self.nanos.store(nanoseconds(instant), Ordering::SeqCst);
    }

    /// The same clock as a shared one; moving either moves both.
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
