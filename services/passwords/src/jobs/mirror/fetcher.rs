//! Fetches ranges with retries.

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::Duration;

use anyhow::bail;
use domain::HashPrefix;
use tokio::sync::Semaphore;

use super::pace::{Length, Pace};
use super::upstream::{Answer, Failure, Pause, Upstream};
use crate::model::Kind;

/// The initial backoff, which doubles with each retry.
const FIRST_WAIT: Duration = Duration::from_millis(100);
/// Maximum number of attempts per range before the first request has succeeded.
const AT_THE_START: u32 = 3;
const LONGEST_WAIT: Duration = Duration::from_secs(60);

/// Limits for requests to the mirrored service.
#[derive(Clone, Copy, Debug)]
pub struct Politeness {
    /// Maximum number of concurrent requests.
    pub concurrency: usize,
    /// Maximum number of requests per second, if limited.
    pub per_second: Option<u32>,
    /// Maximum number of attempts per range before the mirror fails.
    pub attempts: u32,
    /// The longest pause that the service can request.
    pub longest_pause: Duration,
}

/// Fetches the ranges to be mirrored.
pub struct Fetcher {
    upstream: Upstream,
    politeness: Politeness,
    permits: Semaphore,
    pace: Pace,
    answered: AtomicBool,
    retries: AtomicU64,
}

impl Fetcher {
    /// Creates a fetcher.
    pub fn new(upstream: Upstream, politeness: Politeness) -> Self {
        Self {
            upstream,
            politeness,
            permits: Semaphore::new(politeness.concurrency),
            pace: Pace::new(politeness.per_second, politeness.longest_pause),
            answered: AtomicBool::new(false),
            retries: AtomicU64::new(0),
        }
    }

    /// Returns the mirrored service.
    pub fn upstream(&self) -> &Upstream {
        &self.upstream
    }

    /// Returns the request limits.
    pub fn politeness(&self) -> Politeness {
        self.politeness
    }

    /// Returns the number of retries so far.
    pub fn retries(&self) -> u64 {
        self.retries.load(Ordering::Relaxed)
    }

    /// Fetches a range, retrying if necessary. If `tag` is given, the range is only fetched if it
    /// has changed.
    ///
    /// # Errors
    /// Returns an error if the failure is permanent, or all attempts failed.
    pub async fn fetch(
        &self,
        kind: Kind,
        prefix: HashPrefix,
        tag: Option<&[u8]>,
    ) -> anyhow::Result<Answer> {
        let mut attempt = 1;
        loop {
            let cause = match self.attempt(kind, prefix, tag).await {
                Ok(answer) => {
                    self.answered.store(true, Ordering::Relaxed);
                    return Ok(answer);
                }
                Err(Failure::Busy(cause, pause)) => {
                    if let Some(pause) = pause {
                        self.pause(pause);
                    }
                    cause
                }
                // If no request has succeeded yet, the address or the certificate is probably
                // wrong.
                Err(Failure::Broken(cause)) => {
                    if attempt >= AT_THE_START && !self.answered.load(Ordering::Relaxed) {
                        bail!("{}: {cause}", self.upstream.source());
                    }
                    cause
                }
                Err(Failure::Final(cause)) => {
                    bail!("{}, range {prefix}: {cause}", self.upstream.source());
                }
            };
            if attempt == self.politeness.attempts {
                let source = self.upstream.source();
                bail!("{source}, range {prefix}, after {attempt} attempts: {cause}");
            }
            self.retries.fetch_add(1, Ordering::Relaxed);
            tokio::time::sleep(wait(attempt)).await;
            attempt += 1;
        }
    }

    /// Pauses all requests, and logs the pause if it extends the current one.
    fn pause(&self, Pause { time, status }: Pause) {
        let Some(taken) = self.pace.pause(time) else { return };
        let source = self.upstream.source();
        let asked = Length(time);
        if taken < time {
            let taken = Length(taken);
            log::warn!(
                target: "notice",
                "{source} asked to pause for {asked} ({status}); pausing for {taken} (--longest-pause)"
            );
        } else {
            log::warn!(target: "notice", "{source} asked to pause for {asked} ({status})");
        }
    }

    async fn attempt(
        &self,
        kind: Kind,
        prefix: HashPrefix,
        tag: Option<&[u8]>,
    ) -> Result<Answer, Failure> {
        let _permit = self.permits.acquire().await;
        self.pace.turn().await;
        self.upstream.ask(kind, prefix, tag).await
    }
}

/// Returns an exponential backoff, half of which is fixed and half random.
fn wait(attempt: u32) -> Duration {
    let doubled = FIRST_WAIT.saturating_mul(1 << (attempt - 1).min(16)).min(LONGEST_WAIT);
    let chance = f64::from(getrandom::u32().unwrap_or(u32::MAX)) / f64::from(u32::MAX);
    doubled.mul_f64(0.5 + 0.5 * chance)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn retry_pauses_double_up_to_a_limit() {
        for attempt in 1..200 {
            let wait = wait(attempt);
            let whole = FIRST_WAIT * (1 << (attempt - 1).min(10));
            assert!(wait >= whole.min(LONGEST_WAIT) / 2 && wait <= LONGEST_WAIT, "{attempt}");
        }
    }
}
