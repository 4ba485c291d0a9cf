//! Delivery of an outbox: what is due is claimed, sent, and marked.

use std::future::Future;
use std::time::Duration;

use futures_util::StreamExt;
use futures_util::stream;

use crate::failures::{Failed, Failures};

/// Waits between attempts.
const WAITS: [Duration; 5] = {
    const MINUTE: u64 = 60;
    [
        Duration::from_secs(MINUTE),
        Duration::from_secs(5 * MINUTE),
        Duration::from_secs(30 * MINUTE),
        Duration::from_secs(120 * MINUTE),
        Duration::from_secs(720 * MINUTE),
    ]
};

/// How often a message is tried before it is given up.
pub const ATTEMPTS: u32 = 6;

/// How many messages are under way at once.
const AT_ONCE: usize = 8;

/// How many messages are claimed at once.
const CLAIM: usize = 64;

/// The longest that an attempt may take.
const LONGEST_DELIVERY: Duration = Duration::from_secs(30);

/// How long an outbox puts off what is claimed, in seconds: longer than all attempts of a claim may
/// take, which are 64 messages, 8 at once, 30 seconds each.
pub const UNDER_WAY: i64 = 300;

const _: () = assert!(
    (CLAIM / AT_ONCE) as u64 * LONGEST_DELIVERY.as_secs() < UNDER_WAY.unsigned_abs(),
    "another replica would take what this one is about to send"
);

/// How long to wait after so many failed attempts; none when there is no further one.
///
/// ```
/// use std::time::Duration;
/// use outbound::{ATTEMPTS, retry_after};
///
/// assert_eq!(retry_after(1), Some(Duration::from_secs(60)));
/// assert_eq!(retry_after(5), Some(Duration::from_secs(12 * 3600)));
/// assert_eq!(retry_after(ATTEMPTS), None);
/// ```
pub fn retry_after(failed: u32) -> Option<Duration> {
    let index = usize::try_from(failed).ok()?.checked_sub(1)?;
    WAITS.get(index).copied()
}

/// Why an attempt failed; the text is for the operator and holds nothing of the message.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum DeliveryError {
    /// A later attempt may succeed.
    #[error("{0}")]
    Temporary(String),
    /// No further attempt makes sense.
    #[error("{0}")]
    Permanent(String),
}

impl DeliveryError {
    /// A failure after which a later attempt may succeed.
    pub fn temporary(why: &str) -> Self {
        Self::Temporary(why.to_owned())
    }

    /// A failure after which no further attempt makes sense.
    pub fn permanent(why: &str) -> Self {
        Self::Permanent(why.to_owned())
    }
}

/// A message that is to be delivered now.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Due<M> {
    /// The message.
    pub message: M,
    /// How many attempts failed already.
    pub failed: u32,
}

/// Longest reason of a failure, in characters.
const LONGEST_REASON: usize = 200;

/// A failed attempt, as an outbox keeps it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Failure {
    /// After how long the next attempt follows; none when the message is given up.
    pub retry: Option<Duration>,
    /// Why, in at most 200 characters.
    pub why: String,
}

impl Failure {
    /// What a failure means for a message of which so many attempts have failed now.
    ///
    /// ```
    /// use outbound::{ATTEMPTS, DeliveryError, Failure};
    ///
    /// let away = DeliveryError::temporary("the server is away");
    /// assert!(Failure::new(1, &away).retry.is_some());
    /// assert!(Failure::new(ATTEMPTS, &away).retry.is_none());
    /// assert!(Failure::new(1, &DeliveryError::permanent("no such host")).retry.is_none());
    /// ```
    pub fn new(failed: u32, error: &DeliveryError) -> Self {
        let retry = match error {
            DeliveryError::Temporary(_) => retry_after(failed),
            DeliveryError::Permanent(_) => None,
        };
        Self { retry, why: error.to_string().chars().take(LONGEST_REASON).collect() }
    }

    /// The Unix second of the next attempt, counted from that of this one.
    pub fn next_try(&self, now: i64) -> Option<i64> {
        self.retry.and_then(|wait| now.checked_add_unsigned(wait.as_secs()))
    }
}

/// Why the table of an outbox could not be read or written.
pub type OutboxError = Box<dyn std::error::Error + Send + Sync>;

/// Messages that wait in a table.
pub trait Outbox: Sync {
    /// A message.
    type Message: Send + Sync;

    /// Takes at most `limit` messages whose time has come, and puts their next attempt off, in one
    /// transaction, by [`UNDER_WAY`]: no other replica takes them as long as this one may be at work,
    /// and if it dies they come again.
    fn claim_due(
        &self,
        limit: usize,
    ) -> impl Future<Output = Result<Vec<Due<Self::Message>>, OutboxError>> + Send;

    /// Notes that a message was delivered.
    fn mark_sent(
        &self,
        message: &Self::Message,
    ) -> impl Future<Output = Result<(), OutboxError>> + Send;

    /// Notes a failed attempt.
    fn mark_failed(
        &self,
        message: &Self::Message,
        failure: Failure,
    ) -> impl Future<Output = Result<(), OutboxError>> + Send;
}

/// What brings a message to where it belongs.
pub trait Courier<M>: Sync {
    /// Names where a message goes, for the log: an id or a host, never the address of a person nor the
    /// rest of a URL.
    fn destination(&self, message: &M) -> String;

    /// Delivers a message once. After half a minute it is dropped, and tried again later.
    fn deliver(&self, message: &M) -> impl Future<Output = Result<(), DeliveryError>> + Send;
}

/// Delivers what is due now, several messages at once; returns how many were claimed. The log has a
/// line for each destination that failed.
///
/// # Errors
/// Those of the outbox.
pub async fn deliver_due<O: Outbox>(
    outbox: &O,
    courier: &impl Courier<O::Message>,
) -> Result<usize, OutboxError> {
    let mut failures = Failures::default();
    let claimed = deliver_within(LONGEST_DELIVERY, outbox, courier, &mut failures).await;
    failures.tell();
    claimed
}

/// The same with a limit for each attempt; failures are noted, not told.
async fn deliver_within<O: Outbox>(
    limit: Duration,
    outbox: &O,
    courier: &impl Courier<O::Message>,
    failures: &mut Failures,
) -> Result<usize, OutboxError> {
    let due = outbox.claim_due(CLAIM).await?;
    let claimed = due.len();
    let attempts = due.iter().map(|due| attempt(limit, outbox, courier, due));
    let mut outcomes = stream::iter(attempts).buffer_unordered(AT_ONCE);
    let mut error = None;
    while let Some((failed, noted)) = outcomes.next().await {
        if let Some(failed) = failed {
            failures.note(failed);
        }
        error = noted.err().or(error);
    }
    error.map_or(Ok(claimed), Err)
}

/// Delivers a message once: how that failed, and whether the outbox could note the outcome.
async fn attempt<O: Outbox>(
    limit: Duration,
    outbox: &O,
    courier: &impl Courier<O::Message>,
    due: &Due<O::Message>,
) -> (Option<Failed>, Result<(), OutboxError>) {
    let attempt = due.failed + 1;
    let delivered = tokio::time::timeout(limit, courier.deliver(&due.message)).await;
    let delivered =
        delivered.unwrap_or_else(|_| Err(DeliveryError::temporary("it takes too long")));
    let Err(error) = delivered else { return (None, outbox.mark_sent(&due.message).await) };
    let destination = courier.destination(&due.message);
    log::debug!("a delivery to {destination} failed, attempt {attempt}: {error}");
    let failure = Failure::new(attempt, &error);
    let is_given_up = failure.retry.is_none();
    let failed = Failed { destination, attempt, is_given_up, why: failure.why.clone() };
    (Some(failed), outbox.mark_failed(&due.message, failure).await)
}

/// Delivers for ever; looks for what is due after every `pause`, and at once while there is more. The log
/// has at most a line a minute for each destination that fails, and one for what is given up.
pub async fn deliver_for_ever<O: Outbox>(
    outbox: &O,
    courier: &impl Courier<O::Message>,
    pause: Duration,
) {
    let mut failures = Failures::default();
    loop {
        let claimed = deliver_within(LONGEST_DELIVERY, outbox, courier, &mut failures).await;
        failures.tell_if_due();
        match claimed {
            Ok(CLAIM) => continue,
            Ok(_) => {}
            Err(error) => log::warn!("the outbox is out of reach: {error}"),
        }
        tokio::time::sleep(pause).await;
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Mutex;

    use super::*;

    /// Has one message, and keeps how its attempt failed.
    #[derive(Default)]
    struct OneMessage(Mutex<Vec<Failure>>);

    impl Outbox for OneMessage {
        type Message = ();

        async fn claim_due(&self, _limit: usize) -> Result<Vec<Due<()>>, OutboxError> {
            Ok(vec![Due { message: (), failed: 0 }])
        }

        async fn mark_sent(&self, _message: &()) -> Result<(), OutboxError> {
            Err("nothing was delivered".into())
        }

        async fn mark_failed(&self, _message: &(), failure: Failure) -> Result<(), OutboxError> {
            self.0.lock().unwrap().push(failure);
            Ok(())
        }
    }

    /// Never comes to an end.
    struct Stuck;

    impl Courier<()> for Stuck {
        fn destination(&self, _message: &()) -> String {
            "nowhere".to_owned()
        }

        async fn deliver(&self, _message: &()) -> Result<(), DeliveryError> {
            std::future::pending().await
        }
    }

    #[tokio::test]
    async fn an_attempt_without_an_end_is_given_up_and_made_again_later() {
        let outbox = OneMessage::default();
        let (limit, mut told) = (Duration::from_millis(1), Failures::default());
        let claimed = deliver_within(limit, &outbox, &Stuck, &mut told).await;
        assert_eq!(claimed.unwrap(), 1);
        let failures = outbox.0.into_inner().unwrap();
        let expected = Failure { retry: retry_after(1), why: "it takes too long".to_owned() };
        assert_eq!(failures, [expected]);
    }
}
