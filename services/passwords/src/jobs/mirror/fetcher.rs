//! Asks for ranges until they are there.

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::Duration;

use anyhow::bail;
use domain::HashPrefix;
use tokio::sync::Semaphore;

use super::pace::Pace;
use super::upstream::{Answer, Failure, Upstream};
use crate::model::Kind;

/// Time before a range is asked for again for the first time; it doubles from then on.
const FIRST_WAIT: Duration = Duration::from_millis(100);
/// How often a range is asked for as long as no answer was good.
const AT_THE_START: u32 = 3;
const LONGEST_WAIT: Duration = Duration::from_secs(60);

/// How much is asked of the other service.
#[derive(Clone, Copy, Debug)]
pub struct Politeness {
    /// Concurrent requests.
    pub concurrency: usize,
    /// Requests a second, if they have a bound.
    pub per_second: Option<u32>,
    /// How often one range is asked for before the mirror gives up.
    pub attempts: u32,
}

/// Asks for the ranges of one kind.
pub struct Fetcher {
    upstream: Upstream,
    politeness: Politeness,
    permits: Semaphore,
    pace: Pace,
    answered: AtomicBool,
    retries: AtomicU64,
}

impl Fetcher {
    /// A fetcher that has not asked for anything yet.
    pub fn new(upstream: Upstream, politeness: Politeness) -> Self {
        Self {
            upstream,
            politeness,
            permits: Semaphore::new(politeness.concurrency),
            pace: Pace::new(politeness.per_second),
            answered: AtomicBool::new(false),
            retries: AtomicU64::new(0),
        }
    }

    /// The service that is asked.
    pub fn upstream(&self) -> &Upstream {
        &self.upstream
    }

    /// How much is asked of it.
    pub fn politeness(&self) -> Politeness {
        self.politeness
    }

    /// How often a range had to be asked for again.
    pub fn retries(&self) -> u64 {
        self.retries.load(Ordering::Relaxed)
    }

    /// Asks for a range, with a tag only for a changed one, as often as it takes.
    ///
    /// # Errors
    /// Asking again does not help, or did not help often enough.
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
                        self.pace.pause(pause);
                    }
                    cause
                }
                // Where nothing is ever answered, the address or the certificate is wrong.
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
                bail!("{source}, range {prefix}, asked {attempt} times: {cause}");
            }
            self.retries.fetch_add(1, Ordering::Relaxed);
            tokio::time::sleep(wait(attempt)).await;
            attempt += 1;
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

/// Half of the time that has doubled with each attempt, and up to as much again by chance.
fn wait(attempt: u32) -> Duration {
    let doubled = FIRST_WAIT.saturating_mul(1 << (attempt - 1).min(16)).min(LONGEST_WAIT);
    let chance = f64::from(getrandom::u32().unwrap_or(u32::MAX)) / f64::from(u32::MAX);
    doubled.mul_f64(0.5 + 0.5 * chance)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn waits_double_and_have_a_bound() {
        for attempt in 1..200 {
            let wait = wait(attempt);
            let whole = FIRST_WAIT * (1 << (attempt - 1).min(10));
            assert!(wait >= whole.min(LONGEST_WAIT) / 2 && wait <= LONGEST_WAIT, "{attempt}");
        }
    }
}
