//! An outbox: what waits in a table, who gets it, and what an attempt to deliver it led to.

use std::fmt::Display;
use std::future::Future;
use std::hash::Hash;
use std::time::Duration;

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

/// How long an outbox puts off what is claimed, in seconds: longer than an attempt may take together with
/// the time for which its outcome is noted again and again.
pub const UNDER_WAY: i64 = 300;

/// How long a message is put off that nobody can deliver yet, in seconds: its breach is hidden for
/// now, or this version cannot read it.
pub const PUT_OFF: u64 = 600;

/// How long to wait after this number of failed attempts; none when there is no further one.
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

/// Why a message was not delivered; the text is for the operator and holds nothing of the message.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum DeliveryError {
    /// A later attempt may succeed.
    #[error("{0}")]
    Temporary(String),
    /// No further attempt makes sense.
    #[error("{0}")]
    Permanent(String),
    /// It cannot be delivered yet; this is not counted as an attempt.
    #[error("{0}")]
    Early(String),
    /// Its receiver does not get it any more, and nobody has to hear of that.
    #[error("{0}")]
    Unwanted(String),
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

    /// Nothing failed: it is too early.
    pub fn early(why: &str) -> Self {
        Self::Early(why.to_owned())
    }

    /// Nothing failed: the message is dropped.
    pub fn unwanted(why: &str) -> Self {
        Self::Unwanted(why.to_owned())
    }
}

/// A message that is to be delivered now.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Due<R, M> {
    /// Who gets it.
    pub receiver: R,
    /// The message.
    pub message: M,
    /// How many attempts failed already.
    pub failed: u32,
}

/// Longest reason of a failure, in characters.
const LONGEST_REASON: usize = 200;

/// What an outbox notes of a message that was not delivered.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Failure {
    /// After how long the next attempt follows; none when the message is given up or dropped.
    pub retry: Option<Duration>,
    /// Whether it counts as an attempt.
    pub counts: bool,
    /// Why, in at most 200 characters.
    pub why: String,
}

impl Failure {
    /// What a failure means for a message of which this number of attempts have failed now.
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

    /// The Unix second of the next attempt, counted from that of this one.
    pub fn next_try(&self, now: i64) -> Option<i64> {
        self.retry.and_then(|wait| now.checked_add_unsigned(wait.as_secs()))
    }
}

/// How many messages are under way at once.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limits {
    /// To receivers that answer quickly, and to those that were not asked before.
    pub quick: usize,
    /// To receivers that were slow the last time.
    pub slow: usize,
    /// To one receiver.
    pub each: usize,
    /// To one slow receiver.
    pub each_slow: usize,
}

impl Limits {
    /// Many receivers that do not know each other.
    pub const MANY: Self = Self { quick: 16, slow: 16, each: 4, each_slow: 2 };
    /// One receiver, such as a mail server.
    pub const ONE: Self = Self { quick: 8, slow: 8, each: 8, each_slow: 8 };
}

/// Why the table of an outbox could not be read or written.
pub type OutboxError = Box<dyn std::error::Error + Send + Sync>;

/// What was claimed of an outbox.
pub type Claimed<R, M> = Result<Vec<Due<R, M>>, OutboxError>;

/// Messages that wait in a table.
pub trait Outbox: Sync {
    /// A message.
    type Message: Send + Sync;

    /// Who gets messages. Its text is for the log: an id or a host, never the address of a person nor
    /// the rest of a URL.
    type Receiver: Clone + Eq + Hash + Display + Send + Sync;

    /// How many messages are under way at once.
    fn limits(&self) -> Limits {
        Limits::MANY
    }

    /// The receivers of messages whose time has come.
    fn receivers_due(
        &self,
    ) -> impl Future<Output = Result<Vec<Self::Receiver>, OutboxError>> + Send;

    /// Takes messages whose time has come, of each receiver at most the given number, and puts their
    /// next attempt off by [`UNDER_WAY`] in the same transaction: no other replica takes them while
    /// this one may be at work, and if it dies they come again.
    ///
    /// Messages are decoded one by one. What this version cannot read is put off and left in place.
    fn claim(
        &self,
        shares: Vec<(Self::Receiver, usize)>,
    ) -> impl Future<Output = Claimed<Self::Receiver, Self::Message>> + Send;

    /// Notes that a message was delivered.
    fn mark_sent(
        &self,
        message: &Self::Message,
    ) -> impl Future<Output = Result<(), OutboxError>> + Send;

    /// Notes that a message was not delivered.
    fn mark_failed(
        &self,
        message: &Self::Message,
        failure: Failure,
    ) -> impl Future<Output = Result<(), OutboxError>> + Send;
}

/// Delivers messages.
pub trait Courier<M>: Sync {
    /// Delivers a message once, after it has checked that its receiver still gets it. The attempt is
    /// dropped after half a minute and made again later.
    fn deliver(&self, message: &M) -> impl Future<Output = Result<(), DeliveryError>> + Send;
}
