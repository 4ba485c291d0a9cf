//! When the next request may be sent.

use std::time::Duration;

use parking_lot::Mutex;
use tokio::time::{Instant, sleep_until};

/// No pause that another service asks for is longer.
const LONGEST_PAUSE: Duration = Duration::from_secs(3600);

/// Spreads requests over time, and stops all of them when the other side asks for a pause.
pub struct Pace {
    next: Mutex<Instant>,
    between: Duration,
}

impl Pace {
    /// At most so many requests a second.
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

    /// Lets nobody send anything for this time.
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

    /// When requests that all want to be sent at once are sent.
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
