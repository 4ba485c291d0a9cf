//! A single attempt to deliver a message.

use std::convert::Infallible;
use std::pin::pin;
use std::time::Duration;

use futures_util::future::{Either, select};

use crate::delivery::{Courier, DeliveryError, Due, Failure, Outbox, OutboxError};
use crate::failures::Failed;

#[derive(Clone, Copy, Debug)]
pub(crate) struct Times {
    /// The timeout of an attempt. A timed-out attempt is retried later.
    pub(crate) longest: Duration,
    /// The timeout for a new receiver while the attempts of many others hang.
    pub(crate) longest_in_a_crowd: Duration,
    /// Receivers that take longer than this are slow.
    pub(crate) slow_after: Duration,
    /// New receivers that take longer than this free their slot for other new receivers.
    pub(crate) new_for: Duration,
    /// The pauses between attempts to record the outcome while the outbox is unavailable. Without a
    /// record, a message that was sent would be sent again.
    pub(crate) pauses: [Duration; 4],
    /// The time between two renewals of a claim.
    pub(crate) renewal: Duration,
}

impl Times {
    pub(crate) const USUAL: Self = Self {
        longest: Duration::from_secs(30),
        longest_in_a_crowd: Duration::from_secs(5),
        slow_after: Duration::from_secs(2),
        new_for: Duration::from_millis(250),
        pauses: [
            Duration::from_secs(1),
            Duration::from_secs(5),
            Duration::from_secs(20),
            Duration::from_secs(60),
        ],
        renewal: Duration::from_secs(10),
    };
}

pub(crate) struct Ended<R> {
    pub(crate) receiver: R,
    pub(crate) failed: Option<Failed>,
    pub(crate) noted: Result<(), OutboxError>,
}

/// Delivers a message once and records the outcome. Meanwhile, renews the claim.
pub(crate) async fn attempt<O: Outbox>(
    times: Times,
    outbox: &O,
    courier: &impl Courier<O::Message>,
    due: Due<O::Receiver, O::Message>,
) -> Ended<O::Receiver> {
    let Due { receiver, message, failed } = due;
    let attempt = pin!(deliver(times, outbox, courier, receiver, &message, failed + 1));
    match select(attempt, pin!(renew(times, outbox, &message))).await {
        Either::Left((ended, _)) => ended,
        Either::Right((never, _)) => match never {},
    }
}

/// Renews a claim until this future is dropped. A renewal that fails is repeated after the same
/// interval; the claim lasts longer than several intervals.
async fn renew<O: Outbox>(times: Times, outbox: &O, message: &O::Message) -> Infallible {
    loop {
        tokio::time::sleep(times.renewal).await;
        if let Err(error) = outbox.renew_claim(message).await {
            log::debug!("a claim was not renewed: {error}");
        }
    }
}

async fn deliver<O: Outbox>(
    times: Times,
    outbox: &O,
    courier: &impl Courier<O::Message>,
    receiver: O::Receiver,
    message: &O::Message,
    attempt: u32,
) -> Ended<O::Receiver> {
    let delivered = tokio::time::timeout(times.longest, courier.deliver(message)).await;
    let delivered =
        delivered.unwrap_or_else(|_| Err(DeliveryError::temporary("the attempt timed out")));
    let failure = delivered.err().map(|error| {
        log::debug!("a message to {receiver} was not delivered, attempt {attempt}: {error}");
        Failure::new(attempt, &error)
    });
    let noted = note(times, outbox, message, failure.as_ref()).await;
    let failed = failure.filter(|failure| failure.counts).map(|failure| Failed {
        destination: receiver.to_string(),
        attempt,
        is_given_up: failure.retry.is_none(),
        why: failure.why,
    });
    Ended { receiver, failed, noted }
}

/// Records an outcome. Retries a few times if the outbox is unavailable.
async fn note<O: Outbox>(
    times: Times,
    outbox: &O,
    message: &O::Message,
    failure: Option<&Failure>,
) -> Result<(), OutboxError> {
    let mut pauses = times.pauses.into_iter();
    loop {
        let noted = match failure {
            None => outbox.mark_sent(message).await,
            Some(failure) => outbox.mark_failed(message, failure.clone()).await,
        };
        match (noted, pauses.next()) {
            (Err(_), Some(pause)) => tokio::time::sleep(pause).await,
            (noted, _) => return noted,
        }
    }
}
