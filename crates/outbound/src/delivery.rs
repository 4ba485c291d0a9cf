//! Defines outboxes (tables of waiting messages), their receivers, and the outcomes of delivery
//! attempts.

use std::fmt::Display;
use std::future::Future;
use std::hash::Hash;
use std::time::Duration;

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

/// Maximum number of attempts to deliver a message.
pub const ATTEMPTS: u32 = 6;

/// How many seconds an outbox postpones a claimed message. This is longer than an attempt takes,
/// including retries to record its outcome.
pub const UNDER_WAY: i64 = 300;

/// How many seconds a claim lasts if the outbox renews claims. Messages claimed by a server that
/// died are due again after that.
pub const CLAIM_SECONDS: i64 = 45;

/// How many seconds to postpone a message that can't be delivered now, either because its breach is
/// hidden or because this version can't decode it.
pub const PUT_OFF: u64 = 600;

/// Returns how long to wait after the given number of failed attempts, or `None` if that was the
/// last one.
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

/// Why a message was not delivered. The text is for the operator and never contains any of the
/// message.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum DeliveryError {
    /// A later attempt may succeed.
    #[error("{0}")]
    Temporary(String),
    /// Later attempts would also fail.
    #[error("{0}")]
    Permanent(String),
    /// It is too early to deliver the message. This doesn't count as an attempt.
    #[error("{0}")]
    Early(String),
    /// The message can be delivered after `wait`. This doesn't count as an attempt.
    #[error("{why}")]
    Postponed {
        /// Why delivery has to wait.
        why: String,
        /// Time until the next attempt.
        wait: Duration,
    },
    /// The receiver no longer wants the message. This isn't an error.
    #[error("{0}")]
    Unwanted(String),
}

impl DeliveryError {
    /// The delivery failed, but may succeed later.
    pub fn temporary(why: &str) -> Self {
        Self::Temporary(why.to_owned())
    }

    /// The delivery failed and must not be retried.
    pub fn permanent(why: &str) -> Self {
        Self::Permanent(why.to_owned())
    }

    /// The message can't be delivered yet.
    pub fn early(why: &str) -> Self {
        Self::Early(why.to_owned())
    }

    /// The message can be delivered after `wait`.
    pub fn postponed(why: &str, wait: Duration) -> Self {
        Self::Postponed { why: why.to_owned(), wait }
    }

    /// The message is dropped, which is not an error.
    pub fn unwanted(why: &str) -> Self {
        Self::Unwanted(why.to_owned())
    }
}

/// A message that is due for delivery.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Due<R, M> {
    /// The receiver.
    pub receiver: R,
    /// The message to deliver.
    pub message: M,
    /// How many attempts have failed so far.
    pub failed: u32,
}

/// Maximum length of a reason in characters.
const LONGEST_REASON: usize = 200;

/// A failed attempt, as stored in an outbox.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Failure {
    /// When to try again. `None` if we gave up or dropped the message.
    pub retry: Option<Duration>,
    /// Whether this counts as an attempt.
    pub counts: bool,
    /// The reason, truncated to 200 characters. Control characters become spaces, because some of
    /// the text may come from the receiver, and operators read it on a terminal.
    pub why: String,
}

impl Failure {
    /// Creates the outcome after the given number of failed attempts, including this one.
    ///
    /// ```
    /// use outbound::{ATTEMPTS, DeliveryError, Failure};
    ///
    /// let away = DeliveryError::temporary("the server is away");
    /// assert!(Failure::new(1, &away).retry.is_some());
    /// assert!(Failure::new(ATTEMPTS, &away).retry.is_none());
    /// assert!(Failure::new(1, &DeliveryError::permanent("no such host")).retry.is_none());
    /// let early = Failure::new(ATTEMPTS, &DeliveryError::early("the breach is hidden"));
    /// assert!(early.retry.is_some() && !early.counts);
    /// ```
    pub fn new(failed: u32, error: &DeliveryError) -> Self {
        let (retry, counts) = match error {
            DeliveryError::Temporary(_) => (retry_after(failed), true),
            DeliveryError::Permanent(_) => (None, true),
            DeliveryError::Early(_) => (Some(Duration::from_secs(PUT_OFF)), false),
            DeliveryError::Postponed { wait, .. } => (Some(*wait), false),
            DeliveryError::Unwanted(_) => (None, false),
        };
        let printable = |letter: char| if letter.is_control() { ' ' } else { letter };
        let why = error.to_string().chars().map(printable).take(LONGEST_REASON).collect();
        Self { retry, counts, why }
    }

    /// Returns when to try next, in Unix seconds, if this attempt was at `now`.
    pub fn next_try(&self, now: i64) -> Option<i64> {
        self.retry.and_then(|wait| now.checked_add_unsigned(wait.as_secs()))
    }
}

/// Limits how many messages are being sent at the same time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limits {
    /// To quick receivers, and to new ones, which get up to half of these slots.
    pub quick: usize,
    /// To receivers that were slow the last time.
    pub slow: usize,
    /// To any one receiver.
    pub each: usize,
    /// To any one slow receiver.
    pub each_slow: usize,
}

impl Limits {
    /// For many independent receivers.
    pub const MANY: Self = Self { quick: 16, slow: 16, each: 4, each_slow: 2 };
    /// For a single receiver that takes one message at a time, such as an email server. If the
    /// process is killed, only this message may be sent twice.
    pub const ONE: Self = Self { quick: 1, slow: 1, each: 1, each_slow: 1 };
}

/// Why an outbox's table couldn't be read or written.
pub type OutboxError = Box<dyn std::error::Error + Send + Sync>;

/// The messages claimed from an outbox.
pub type Claimed<R, M> = Result<Vec<Due<R, M>>, OutboxError>;

/// A table of waiting messages.
pub trait Outbox: Sync {
    /// The message type.
    type Message: Send + Sync;

    /// The type of the receivers. Its `Display` form goes to the log and must be an ID or a host
    /// name, never an email address or a full URL.
    type Receiver: Clone + Eq + Hash + Display + Send + Sync;

    /// Limits how many messages are being sent at the same time.
    fn limits(&self) -> Limits {
        Limits::MANY
    }

    /// Returns the receivers that have messages due.
    fn receivers_due(
        &self,
    ) -> impl Future<Output = Result<Vec<Self::Receiver>, OutboxError>> + Send;

    /// Claims up to the given number of due messages for each receiver. Their next attempt is
    /// postponed in the same transaction, by [`CLAIM_SECONDS`] if the outbox renews claims and by
    /// [`UNDER_WAY`] otherwise. This keeps other replicas from claiming them while we may be
    /// working on them. If we die, they become due again.
    ///
    /// Messages are decoded one by one, and any that this version can't decode are postponed.
    fn claim(
        &self,
        shares: Vec<(Self::Receiver, usize)>,
    ) -> impl Future<Output = Claimed<Self::Receiver, Self::Message>> + Send;

    /// Postpones a claimed message by another [`CLAIM_SECONDS`] because the attempt isn't done yet.
    /// This is called every 10 seconds.
    fn renew_claim(
        &self,
        _message: &Self::Message,
    ) -> impl Future<Output = Result<(), OutboxError>> + Send {
        async { Ok(()) }
    }

    /// Records that a message was delivered.
    fn mark_sent(
        &self,
        message: &Self::Message,
    ) -> impl Future<Output = Result<(), OutboxError>> + Send;

    /// Records that a message was not delivered.
    fn mark_failed(
        &self,
        message: &Self::Message,
        failure: Failure,
    ) -> impl Future<Output = Result<(), OutboxError>> + Send;
}

/// Delivers messages.
pub trait Courier<M>: Sync {
    /// Tries once to deliver a message, after checking that the receiver still wants it. The
    /// attempt times out after half a minute and is retried later.
    fn deliver(&self, message: &M) -> impl Future<Output = Result<(), DeliveryError>> + Send;
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_reason_has_no_control_characters() {
        let hostile = DeliveryError::temporary("550 no\r\n\u{1b}[31mred\u{9b}m");
        assert_eq!(Failure::new(1, &hostile).why, "550 no   [31mred m");
    }
}
