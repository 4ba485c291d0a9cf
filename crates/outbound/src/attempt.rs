//! A single attempt to deliver a message.

use std::convert::Infallible;
use std::panic::AssertUnwindSafe;
use std::pin::pin;
use std::time::Duration;

use futures_util::FutureExt;
use futures_util::future::{Either, select};

use crate::delivery::{Courier, DeliveryError, Due, Failure, Outbox, OutboxError};
use crate::failures::Failed;

#[derive(Clone, Copy, Debug)]
pub(crate) struct Times {
    /// Timeout for an attempt. An attempt that times out is retried later.
    pub(crate) longest: Duration,
    /// The timeout for new receivers while attempts to many others are hanging.
    pub(crate) longest_in_a_crowd: Duration,
    /// Receivers that take longer than this count as slow.
    pub(crate) slow_after: Duration,
    /// How long a new receiver can keep its slot before it is given to other new receivers.
    pub(crate) new_for: Duration,
    /// Pauses between attempts to record an outcome while the outbox is unavailable. If we can't
    /// record that a message was sent, the message will be sent again.
    pub(crate) pauses: [Duration; 4],
    /// How often a claim is renewed.
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

/// Tries to deliver a message and records the outcome. Renews the claim in the meantime.
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

/// Renews a claim until this future is dropped. If a renewal fails, there is still time for another
/// attempt at the next interval, because a claim lasts for several intervals.
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
    // A panic must not stop all other deliveries.
    let delivery = AssertUnwindSafe(courier.deliver(message)).catch_unwind();
    let delivered = match tokio::time::timeout(times.longest, delivery).await {
        Ok(Ok(delivered)) => delivered,
        Ok(Err(_)) => Err(DeliveryError::temporary("the attempt panicked")),
        Err(_) => Err(DeliveryError::temporary("the attempt timed out")),
    };
    let failure = delivered.err().map(|error| {
        log::debug!("a message to {receiver} was not delivered, attempt {attempt}: {error}");
        Failure::new(attempt, &error)
    });
    let noted = note(times, outbox, message, failure.as_ref()).await;
    let failed = failure.filter(|failure| failure.counts).map(|failure| Failed {
        destination: receiver.to_string(),
        attempt,
        is_abandoned: failure.retry.is_none(),
        why: failure.why,
    });
    Ended { receiver, failed, noted }
}

/// Records an outcome. If the outbox is unavailable, this is retried a few times.
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
