//! The rate limiter of a mirror.

use std::time::Duration;

use parking_lot::Mutex;
use tokio::time::{Instant, sleep_until};

/// The maximum pause that the other service can demand.
const LONGEST_PAUSE: Duration = Duration::from_secs(3600);

/// Spaces requests, and stops all of them during a pause demanded by the other service.
pub struct Pace {
    next: Mutex<Instant>,
    between: Duration,
}

impl Pace {
    /// Allows this number of requests per second.
    pub fn new(per_second: Option<u32>) -> Self {
        let between =
            per_second.map_or(Duration::ZERO, |rate| Duration::from_secs(1) / rate.max(1));
        Self { next: Mutex::new(Instant::now()), between }
    }

    /// Waits until a request may be sent.
    pub async fn turn(&self) {
        sleep_until(self.claim(Instant::now())).await;
    }

    fn claim(&self, now: Instant) -> Instant {
        let mut next = self.next.lock();
        let turn = (*next).max(now);
        *next = turn + self.between;
        turn
    }

    /// Delays all requests by this time.
    pub fn pause(&self, time: Duration) {
        self.pause_from(Instant::now(), time);
    }

    fn pause_from(&self, now: Instant, time: Duration) {
        let mut next = self.next.lock();
        *next = (*next).max(now + time.min(LONGEST_PAUSE));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The send times of requests that all become ready at `now`.
    fn turns<const N: usize>(pace: &Pace, now: Instant) -> [Duration; N] {
        [(); N].map(|()| pace.claim(now) - now)
    }

    #[test]
    fn a_rate_spreads_requests_evenly() {
        let pace = Pace::new(Some(4));
        assert_eq!(turns(&pace, Instant::now()), [0, 250, 500, 750].map(Duration::from_millis));
    }

    #[test]
    fn a_pause_holds_for_all_and_has_a_bound() {
        let (pace, now) = (Pace::new(None), Instant::now());
        pace.pause_from(now, Duration::from_secs(5));
        pace.pause_from(now, Duration::from_secs(2));
        assert_eq!(turns(&pace, now), [5, 5].map(Duration::from_secs));
        pace.pause_from(now, Duration::from_secs(1 << 40));
        assert_eq!(turns(&pace, now), [LONGEST_PAUSE]);
    }
}
