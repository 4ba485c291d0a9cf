//! A service's quota buckets, kept in memory.

use std::collections::HashMap;
use std::num::NonZeroU32;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use domain::SharedClock;
use governor::clock::Clock as _;
use governor::middleware::StateInformationMiddleware;
use governor::state::keyed::DefaultKeyedStateStore;
use governor::{InsufficientCapacity, RateLimiter};
use parking_lot::RwLock;

use crate::{QuotaId, Rate, Remaining, TooMany};

/// How often full buckets are removed.
const TIDY_EVERY: Duration = Duration::from_secs(60);

type Limiter =
    RateLimiter<QuotaId, DefaultKeyedStateStore<QuotaId>, Steady, StateInformationMiddleware>;

/// Makes governor use our shared clock, which tests can control.
#[derive(Clone)]
struct Steady(SharedClock);

impl governor::clock::Clock for Steady {
    type Instant = Duration;

    fn now(&self) -> Duration {
        self.0.steady()
    }
}

/// The quota buckets of keys and addresses. Clones share them.
///
/// A governor limiter has a single rate, so we keep a limiter for each distinct rate. Buckets that
/// have refilled are removed about once a minute, so memory usage only depends on the number of
/// recent callers.
///
/// ```
/// use auth::{Quota, QuotaId, Quotas};
/// use domain::ManualClock;
///
/// let clock = ManualClock::new("2026-03-01T00:00:00Z".parse()?);
/// let quotas = Quotas::new(clock.shared());
/// let quota = Quota { per_minute: 6, burst: 2 };
/// assert_eq!(quotas.check(QuotaId::Key(1), quota, 1)?.remaining, 1);
/// assert_eq!(quotas.check(QuotaId::Key(1), quota, 1)?.remaining, 0);
/// let refused = quotas.check(QuotaId::Key(1), quota, 1).unwrap_err();
/// assert_eq!(refused.retry_after, 10);
/// clock.advance(10);
/// assert!(quotas.check(QuotaId::Key(1), quota, 1).is_ok());
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone)]
pub struct Quotas {
    inner: Arc<Inner>,
}

struct Inner {
    clock: Steady,
    limiters: RwLock<HashMap<Rate, Arc<Limiter>>>,
    /// When to clean up next, in nanoseconds of the monotonic clock.
    tidy_at: AtomicU64,
}

impl Quotas {
    /// Creates an empty store. Every bucket starts out full.
    pub fn new(clock: SharedClock) -> Self {
        let clock = Steady(clock);
        let tidy_at = AtomicU64::new(nanos(clock.now() + TIDY_EVERY));
        Self { inner: Arc::new(Inner { clock, limiters: RwLock::default(), tidy_at }) }
    }

    /// Takes `cost` tokens from the bucket `id`, or none at all if it doesn't have enough.
    ///
    /// A cost above the burst could never be paid, so it is capped at the burst. A cost of 0 counts
    /// as 1. With an unlimited rate, this always succeeds.
    ///
    /// # Errors
    /// Returns [`TooMany`] if the bucket doesn't have enough tokens.
    pub fn check(
        &self,
        id: QuotaId,
        rate: impl Into<Rate>,
        cost: u32,
    ) -> Result<Remaining, TooMany> {
        let rate = rate.into();
        if rate.every.is_zero() {
            return Ok(Remaining { limit: u32::MAX, remaining: u32::MAX, reset: 0 });
        }
        self.tidy_when_due();
        let limiter = self.limiter(rate);
        let id = id.counted();
        let cost = NonZeroU32::new(cost).unwrap_or(NonZeroU32::MIN);
        let outcome = match limiter.check_key_n(&id, cost) {
            Ok(outcome) => outcome,
            Err(InsufficientCapacity(most)) => {
                let whole = NonZeroU32::new(most).unwrap_or(NonZeroU32::MIN);
                match limiter.check_key_n(&id, whole) {
                    Ok(outcome) => outcome,
                    Err(_) => return Err(refusal(rate, rate.every)),
                }
            }
        };
        match outcome {
            Ok(state) => Ok(remaining(rate, state.remaining_burst_capacity())),
            Err(until) => Err(refusal(rate, until.wait_time_from(self.inner.clock.now()))),
        }
    }

    /// Returns the number of buckets in memory.
    pub fn len(&self) -> usize {
        let limiters = self.inner.limiters.read();
        limiters.values().map(|limiter| limiter.len()).sum()
    }

    /// Returns whether there are no buckets in memory.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Removes buckets that have refilled. This happens automatically about once a minute.
    pub fn tidy(&self) {
        self.inner.tidy();
    }

    fn tidy_when_due(&self) {
        let now = self.inner.clock.now();
        let due = self.inner.tidy_at.load(Ordering::Relaxed);
        let next = nanos(now + TIDY_EVERY);
        let mine = nanos(now) >= due
            && self
                .inner
                .tidy_at
                .compare_exchange(due, next, Ordering::Relaxed, Ordering::Relaxed)
                .is_ok();
        if !mine {
            return;
        }
        let inner = Arc::clone(&self.inner);
        match tokio::runtime::Handle::try_current() {
            Ok(runtime) => drop(runtime.spawn_blocking(move || inner.tidy())),
            Err(_) => inner.tidy(),
        }
    }

    fn limiter(&self, rate: Rate) -> Arc<Limiter> {
        let known = self.inner.limiters.read();
        if let Some(limiter) = known.get(&rate) {
            return Arc::clone(limiter);
        }
        drop(known);
        let mut limiters = self.inner.limiters.write();
        let limiter = limiters.entry(rate).or_insert_with(|| Arc::new(self.new_limiter(rate)));
        Arc::clone(limiter)
    }

    fn new_limiter(&self, rate: Rate) -> Limiter {
        let burst = NonZeroU32::new(rate.burst).unwrap_or(NonZeroU32::MIN);
        // governor counts nanoseconds in a u64, which must be able to hold the time to fill a
        // bucket.
        let longest = Duration::from_nanos(u64::MAX / 4 / u64::from(burst.get()));
        let quota = governor::Quota::with_period(rate.every.min(longest))
            .unwrap_or_else(|| governor::Quota::per_second(burst))
            .allow_burst(burst);
        let state = DefaultKeyedStateStore::<QuotaId>::default();
        RateLimiter::new(quota, state, self.inner.clock.clone())
    }
}

impl Inner {
    fn tidy(&self) {
        let known = self.limiters.read();
        let limiters: Vec<_> = known.values().cloned().collect();
        drop(known);
        for limiter in limiters {
            limiter.retain_recent();
            limiter.shrink_to_fit();
        }
        // If a plan has changed, this also drops its old rate, unless a request is still using it.
        let mut known = self.limiters.write();
        known.retain(|_, limiter| !limiter.is_empty() || Arc::strong_count(limiter) > 1);
    }
}

fn remaining(rate: Rate, left: u32) -> Remaining {
    let limit = rate.burst.max(1);
    Remaining { limit, remaining: left, reset: reset(rate, limit.saturating_sub(left)) }
}

fn refusal(rate: Rate, wait: Duration) -> TooMany {
    let limit = rate.burst.max(1);
    TooMany { retry_after: whole_seconds(wait).max(1), limit, reset: reset(rate, limit) }
}

/// Returns the number of seconds it takes to regain `tokens` tokens.
fn reset(rate: Rate, tokens: u32) -> u64 {
    whole_seconds(rate.every.saturating_mul(tokens))
}

fn whole_seconds(span: Duration) -> u64 {
    span.as_secs().saturating_add(u64::from(span.subsec_nanos() > 0))
}

fn nanos(span: Duration) -> u64 {
    u64::try_from(span.as_nanos()).unwrap_or(u64::MAX)
}
