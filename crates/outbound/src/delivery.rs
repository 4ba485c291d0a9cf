//! Outboxes: messages waiting in a table, their receivers, and the outcomes of delivery attempts.

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

/// The number of attempts before a message is abandoned.
pub const ATTEMPTS: u32 = 6;

/// How many seconds an outbox postpones claimed messages. This is longer than an attempt, including
/// the retries to record its outcome.
pub const UNDER_WAY: i64 = 300;

/// How many seconds a claim lasts in an outbox that renews claims. Messages claimed by a server
/// that died become due again after this time.
pub const CLAIM_SECONDS: i64 = 45;

/// How many seconds a message is postponed if it cannot be delivered now, because the breach that
/// it announces is hidden or this version cannot decode it.
pub const PUT_OFF: u64 = 600;

/// Returns the delay after this number of failed attempts, or `None` if that was the last attempt.
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

/// The reason a message was not delivered. The text is for the operator and does not
/// contain any part of the message.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum DeliveryError {
    /// A later attempt may succeed.
    #[error("{0}")]
    Temporary(String),
    /// Later attempts would fail too.
    #[error("{0}")]
    Permanent(String),
    /// The message cannot be delivered yet. This does not count as an attempt.
    #[error("{0}")]
    Early(String),
    /// The receiver no longer wants the message, which is not an error.
    #[error("{0}")]
    Unwanted(String),
}

impl DeliveryError {
    /// Creates a failure that a later attempt may avoid.
    pub fn temporary(why: &str) -> Self {
        Self::Temporary(why.to_owned())
    }

    /// Creates a failure that must not be retried.
    pub fn permanent(why: &str) -> Self {
        Self::Permanent(why.to_owned())
    }

    /// Creates the outcome for a message that cannot be delivered yet.
    pub fn early(why: &str) -> Self {
        Self::Early(why.to_owned())
    }

    /// Creates the outcome for a message that is dropped without an error.
    pub fn unwanted(why: &str) -> Self {
        Self::Unwanted(why.to_owned())
    }
}

/// A message that is due for delivery.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Due<R, M> {
    /// The receiver of the message.
    pub receiver: R,
    /// The message.
    pub message: M,
    /// The number of failed attempts so far.
    pub failed: u32,
}

/// The maximum length of a reason, in characters.
const LONGEST_REASON: usize = 200;

/// The outcome of a failed attempt, as an outbox stores it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Failure {
    /// The time until the next attempt. `None` if the message is abandoned or dropped.
    pub retry: Option<Duration>,
    /// Whether this counts as an attempt.
    pub counts: bool,
    /// The reason, at most 200 characters long.
    pub why: String,
}

impl Failure {
    /// Creates the outcome for a message after this number of failed attempts, including the
    /// current one.
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
            DeliveryError::Unwanted(_) => (None, false),
        };
        Self { retry, counts, why: error.to_string().chars().take(LONGEST_REASON).collect() }
    }

    /// Returns the Unix time of the next attempt, if the last one was at `now`.
    pub fn next_try(&self, now: i64) -> Option<i64> {
        self.retry.and_then(|wait| now.checked_add_unsigned(wait.as_secs()))
    }
}

/// The maximum numbers of messages that are being sent at the same time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limits {
    /// To receivers that respond quickly, and to new receivers, which use at most half of these
    /// slots.
    pub quick: usize,
    /// To receivers whose last attempt was slow.
    pub slow: usize,
    /// To a single receiver.
    pub each: usize,
    /// To a single slow receiver.
    pub each_slow: usize,
}

impl Limits {
    /// Limits for many independent receivers.
    pub const MANY: Self = Self { quick: 16, slow: 16, each: 4, each_slow: 2 };
    /// Limits for a single receiver that gets one message at a time, such as a mail server. If the
    /// process is killed, at most this message is sent twice.
    pub const ONE: Self = Self { quick: 1, slow: 1, each: 1, each_slow: 1 };
}

/// The reason the table of an outbox could not be read or written.
pub type OutboxError = Box<dyn std::error::Error + Send + Sync>;

/// The claimed messages of an outbox.
pub type Claimed<R, M> = Result<Vec<Due<R, M>>, OutboxError>;

/// A table of waiting messages.
pub trait Outbox: Sync {
    /// The type of the messages.
    type Message: Send + Sync;

    /// The type of the receivers. Its text form is for the log: an id or a host name, never an
    /// e-mail address or the rest of a URL.
    type Receiver: Clone + Eq + Hash + Display + Send + Sync;

    /// Returns the maximum numbers of messages that are being sent at the same time.
    fn limits(&self) -> Limits {
        Limits::MANY
    }

    /// Returns the receivers that have due messages.
    fn receivers_due(
        &self,
    ) -> impl Future<Output = Result<Vec<Self::Receiver>, OutboxError>> + Send;

    /// Claims due messages, at most the given number for each receiver, and postpones their next
    /// attempt in the same transaction: by [`CLAIM_SECONDS`] if the outbox renews claims, otherwise
    /// by [`UNDER_WAY`]. Other replicas do not claim them while this one may be working on them. If
    /// this one dies, they become due again.
    ///
    /// Messages are decoded one by one. Those that this version cannot decode are postponed.
    fn claim(
        &self,
        shares: Vec<(Self::Receiver, usize)>,
    ) -> impl Future<Output = Claimed<Self::Receiver, Self::Message>> + Send;

    /// Postpones the next attempt of a claimed message by another [`CLAIM_SECONDS`], because the
    /// current attempt has not ended. Called every 10 seconds.
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
    /// Delivers a message once, after checking that the receiver still wants it. The attempt times
    /// out after half a minute and is then retried later.
    fn deliver(&self, message: &M) -> impl Future<Output = Result<(), DeliveryError>> + Send;
}
