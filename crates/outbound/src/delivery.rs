//! Outboxes (tables of messages to be delivered), their receivers, and the outcomes of delivery
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

/// How many seconds a claim lasts if the outbox does not renew claims. This is longer than an
/// attempt can take, including retries to record its outcome.
pub const UNDER_WAY: i64 = 300;

/// How many seconds a claim lasts if the outbox renews claims. If a server dies, its messages
/// become due again after this time.
pub const CLAIM_SECONDS: i64 = 45;

/// How many seconds to postpone a message that can't be delivered at the moment, e.g. because its
/// breach is hidden or because this version can't decode it.
pub const PUT_OFF: u64 = 600;

/// Returns how long to wait after `failed` failed attempts, or `None` if there are no attempts
/// left.
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

/// The reason that a message wasn't delivered. The text is for the operator and must not contain
/// any part of the message.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum DeliveryError {
    /// A later attempt might succeed.
    #[error("{0}")]
    Temporary(String),
    /// Later attempts would fail, too.
    #[error("{0}")]
    Permanent(String),
    /// It is too early to deliver the message. Doesn't count as an attempt.
    #[error("{0}")]
    Early(String),
    /// The message can't be delivered before `wait` has passed. Doesn't count as an attempt.
    #[error("{why}")]
    Postponed {
        /// The reason for waiting.
        why: String,
        /// Time until the next attempt.
        wait: Duration,
    },
    /// The receiver no longer wants the message, which isn't an error.
    #[error("{0}")]
    Unwanted(String),
}

impl DeliveryError {
    /// Creates the error for a failed delivery that might succeed later.
    pub fn temporary(why: &str) -> Self {
        Self::Temporary(why.to_owned())
    }

    /// Creates the error for a failed delivery that must not be retried.
    pub fn permanent(why: &str) -> Self {
        Self::Permanent(why.to_owned())
    }

    /// Creates the error for a message that can't be delivered yet.
    pub fn early(why: &str) -> Self {
        Self::Early(why.to_owned())
    }

    /// Creates the error for a message that can't be delivered before `wait` has passed.
    pub fn postponed(why: &str, wait: Duration) -> Self {
        Self::Postponed { why: why.to_owned(), wait }
    }

    /// Creates the outcome for a message that is dropped because it is no longer wanted.
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
    /// Number of attempts that have failed so far.
    pub failed: u32,
}

/// Maximum length in characters of a reason.
const LONGEST_REASON: usize = 200;

/// A failed attempt, as stored in an outbox.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Failure {
    /// Time until the next attempt. `None` if the message was abandoned or dropped.
    pub retry: Option<Duration>,
    /// Whether this counts as an attempt.
    pub counts: bool,
    /// The reason, truncated to 200 characters. Control characters are replaced with spaces, since
    /// parts of the text might come from the receiver and operators read it on a terminal.
    pub why: String,
}

impl Failure {
    /// Creates the outcome of an attempt, where `failed` is the number of failed attempts including
    /// this one.
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

    /// Returns when to try again, in Unix seconds, given that this attempt was made at `now`.
    pub fn next_try(&self, now: i64) -> Option<i64> {
        self.retry.and_then(|wait| now.checked_add_unsigned(wait.as_secs()))
    }
}

/// Limits on how many messages are being sent at the same time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limits {
    /// Maximum for quick and new receivers. New ones can use up to half of these slots.
    pub quick: usize,
    /// Maximum for receivers whose last attempt was slow.
    pub slow: usize,
    /// Maximum for a single receiver.
    pub each: usize,
    /// Maximum for a single slow receiver.
    pub each_slow: usize,
}

impl Limits {
    /// Limits for many independent receivers.
    pub const MANY: Self = Self { quick: 16, slow: 16, each: 4, each_slow: 2 };
    /// Limits for a single receiver that takes one message at a time, such as a mail server. If the
    /// process is killed, at most one message is sent twice.
    pub const ONE: Self = Self { quick: 1, slow: 1, each: 1, each_slow: 1 };
}

/// The reason that the table of an outbox couldn't be read or written.
pub type OutboxError = Box<dyn std::error::Error + Send + Sync>;

/// The messages claimed from an outbox.
pub type Claimed<R, M> = Result<Vec<Due<R, M>>, OutboxError>;

/// A table of messages to be delivered.
pub trait Outbox: Sync {
    /// The message type.
    type Message: Send + Sync;

    /// The type of the receivers. Since its `Display` form is logged, it must be an ID or a host
    /// name, never an email address or a full URL.
    type Receiver: Clone + Eq + Hash + Display + Send + Sync;

    /// Returns the limits on the number of messages being sent at the same time.
    fn limits(&self) -> Limits {
        Limits::MANY
    }

    /// Returns the receivers with messages due.
    fn receivers_due(
        &self,
    ) -> impl Future<Output = Result<Vec<Self::Receiver>, OutboxError>> + Send;

    /// Claims due messages, up to the given number per receiver. To keep other replicas from
    /// claiming them as well, their next attempt is postponed in the same transaction: by
    /// [`CLAIM_SECONDS`] if the outbox renews claims, and by [`UNDER_WAY`] otherwise. If this
    /// server dies, they become due again.
    ///
    /// Messages are decoded one by one, and any that this version can't decode are postponed.
    fn claim(
        &self,
        shares: Vec<(Self::Receiver, usize)>,
    ) -> impl Future<Output = Claimed<Self::Receiver, Self::Message>> + Send;

    /// Postpones a claimed message by another [`CLAIM_SECONDS`], as the attempt isn't done yet.
    /// Called every 10 seconds.
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

    /// Records that delivering a message failed.
    fn mark_failed(
        &self,
        message: &Self::Message,
        failure: Failure,
    ) -> impl Future<Output = Result<(), OutboxError>> + Send;
}

/// Delivers messages.
pub trait Courier<M>: Sync {
    /// Tries once to deliver a message, after making sure that the receiver still wants it. The
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
