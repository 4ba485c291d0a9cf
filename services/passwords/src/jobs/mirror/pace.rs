//! A mirror's rate limiter.

use std::fmt;
use std::time::Duration;

use parking_lot::Mutex;
use tokio::time::{Instant, sleep_until};

/// Smallest extension of the current pause worth reporting, because concurrent requests often
/// receive the same pause.
const NOTABLE: Duration = Duration::from_secs(1);

/// Spaces out requests. If the service asks for a pause, holds all of them back until it is over.
pub struct Pace {
    times: Mutex<Times>,
    between: Duration,
    longest_pause: Duration,
}

struct Times {
    /// The first turn that hasn't been claimed by a request.
    next: Instant,
    /// The end of the latest pause.
    resume: Instant,
}

impl Pace {
    /// Allows `per_second` requests per second, or any number if `None`. Pauses are capped at
    /// `longest_pause`.
    pub fn new(per_second: Option<u32>, longest_pause: Duration) -> Self {
        let between =
            per_second.map_or(Duration::ZERO, |rate| Duration::from_secs(1) / rate.max(1));
        let now = Instant::now();
        Self { times: Mutex::new(Times { next: now, resume: now }), between, longest_pause }
    }

    /// Waits until a request may be sent.
    pub async fn turn(&self) {
        loop {
            sleep_until(self.claim(Instant::now())).await;
            // The turn is void if a pause has begun since we claimed it.
            if !self.is_paused(Instant::now()) {
                return;
            }
        }
    }

    fn claim(&self, now: Instant) -> Instant {
        let mut times = self.times.lock();
        let turn = times.next.max(times.resume).max(now);
        times.next = turn + self.between;
        turn
    }

    fn is_paused(&self, now: Instant) -> bool {
        now < self.times.lock().resume
    }

    /// Delays all requests by `time`, up to the longest pause. Returns the pause if it extends the
    /// current one by a notable amount.
    pub fn pause(&self, time: Duration) -> Option<Duration> {
        self.pause_from(Instant::now(), time)
    }

    fn pause_from(&self, now: Instant, time: Duration) -> Option<Duration> {
        let time = time.min(self.longest_pause);
        let (mut times, end) = (self.times.lock(), now + time);
        let is_notable = end >= times.resume.max(now) + NOTABLE;
        times.resume = times.resume.max(end);
        is_notable.then_some(time)
    }
}

/// Formats a pause's length in the largest unit that divides it.
pub struct Length(pub Duration);

impl fmt::Display for Length {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let seconds = self.0.as_secs();
        let units = [(86_400, "d"), (3600, "h"), (60, "min")];
        let whole =
            units.into_iter().find(|(unit, _)| seconds >= *unit && seconds.is_multiple_of(*unit));
        let (unit, name) = whole.unwrap_or((1, "s"));
        write!(formatter, "{} {name}", seconds / unit)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns the waiting time of each of several requests that are all ready at `now`.
    fn turns<const N: usize>(pace: &Pace, now: Instant) -> [Duration; N] {
        [(); N].map(|()| pace.claim(now) - now)
    }

    #[test]
    fn a_rate_spreads_requests_evenly() {
        let pace = Pace::new(Some(4), Duration::ZERO);
        assert_eq!(turns(&pace, Instant::now()), [0, 250, 500, 750].map(Duration::from_millis));
    }

    #[test]
    fn pause_delays_all_requests_up_to_a_limit() {
        let [two, five, longest] = [2, 5, 60].map(Duration::from_secs);
        let (pace, now) = (Pace::new(None, longest), Instant::now());
        assert_eq!(pace.pause_from(now, five), Some(five));
        assert_eq!(pace.pause_from(now, two), None);
        assert_eq!(turns(&pace, now), [five, five]);
        assert_eq!(pace.pause_from(now, Duration::from_secs(1 << 40)), Some(longest));
        assert_eq!(turns(&pace, now), [longest]);
    }

    #[test]
    fn a_pause_also_holds_for_requests_that_have_claimed_a_turn() {
        let (pace, now) = (Pace::new(Some(1), Duration::from_secs(60)), Instant::now());
        let at = |seconds| now + Duration::from_secs(seconds);
        assert_eq!(turns(&pace, now), [0, 1, 2, 3].map(Duration::from_secs));
        let pause = Duration::from_secs(3);
        assert_eq!(pace.pause_from(now, pause), Some(pause));
        assert_eq!([1, 2, 3].map(|second| pace.is_paused(at(second))), [true, true, false]);
        // The two requests whose turns became void claim new ones after the last one.
        assert_eq!(turns(&pace, at(2)), [2, 3].map(Duration::from_secs));
    }

    #[test]
    fn durations_use_the_largest_exact_unit() {
        for (seconds, shown) in
            [(0, "0 s"), (90, "90 s"), (120, "2 min"), (3600, "1 h"), (172_800, "2 d")]
        {
            assert_eq!(Length(Duration::from_secs(seconds)).to_string(), shown);
        }
    }
}
