//! Schedules requests so that we don't exceed the rate limits of buckets and providers.

use std::collections::HashMap;
use std::sync::Arc;
use std::time::{Duration, Instant};

use parking_lot::Mutex;

/// Above this number of names, names without scheduled requests are dropped.
const MOST_NAMES: usize = 1_000;

/// The next free slot for each bucket and provider. Shared by all runs whose options are clones of
/// each other.
#[derive(Clone, Debug, Default)]
pub struct Turns(Arc<Mutex<HashMap<String, Instant>>>);

impl PartialEq for Turns {
    /// Always returns `true`, so that comparing options ignores the schedule.
    fn eq(&self, _: &Self) -> bool {
        true
    }
}

impl Turns {
    /// Reserves the next slot that is free for all of the names, and returns its time. Each name
    /// comes with the minimum interval between its slots.
    pub(super) fn take(&self, names: &[(&str, Duration)], now: Instant) -> Instant {
        let mut next = self.0.lock();
        if next.len() > MOST_NAMES {
            next.retain(|_, turn| *turn > now);
        }
        let own = |name: &str| next.get(name).copied();
        let turn = names.iter().filter_map(|(name, _)| own(name)).max().unwrap_or(now).max(now);
        for (name, between) in names {
            next.insert((*name).to_owned(), turn + *between);
        }
        turn
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn turns_keep_the_rate_of_each_bucket_and_provider() {
        let (turns, now) = (Turns::default(), Instant::now());
        let ms = Duration::from_millis;
        let take = |bucket: &str, provider: &str| {
            let names = [(bucket, ms(500)), (provider, ms(200))];
            turns.clone().take(&names, now).duration_since(now)
        };
        assert_eq!(take("a", "aws"), ms(0));
        assert_eq!(take("a", "aws"), ms(500), "the rate of a bucket");
        assert_eq!(take("b", "aws"), ms(700), "the rate of a provider");
        assert_eq!(take("c", "gcp"), ms(0), "another provider");
    }

    #[test]
    fn old_turns_are_forgotten() {
        let (turns, now) = (Turns::default(), Instant::now());
        let second = Duration::from_secs(1);
        for number in 0..=MOST_NAMES {
            turns.take(&[(&number.to_string(), second)], now);
        }
        turns.take(&[("another", second)], now + second);
        assert_eq!(turns.0.lock().len(), 1);
    }
}
