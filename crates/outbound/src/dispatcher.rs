//! Delivers the messages in an outbox by claiming them, sending them and recording the outcome.

use std::time::{Duration, Instant};

use futures_util::StreamExt;
use futures_util::future::{BoxFuture, Either, select};
use futures_util::stream::FuturesUnordered;

use crate::attempt::{Ended, Times, attempt};
use crate::delivery::{Claimed, Courier, Due, Outbox, OutboxError};
use crate::failures::Failures;
use crate::lanes::{Lane, Lanes};

/// Delivers all messages that are currently due, and returns how many were claimed. Logs a line for
/// each receiver with failures.
///
/// # Errors
/// Returns any error from the outbox.
pub async fn deliver_due<O: Outbox>(
    outbox: &O,
    courier: &impl Courier<O::Message>,
) -> Result<usize, OutboxError> {
    deliver_within(Times::USUAL, outbox, courier).await
}

async fn deliver_within<O: Outbox>(
    times: Times,
    outbox: &O,
    courier: &impl Courier<O::Message>,
) -> Result<usize, OutboxError> {
    let mut dispatcher = Dispatcher::new(times, outbox, courier);
    dispatcher.look();
    while let Some(step) = dispatcher.steps.next().await {
        dispatcher.take(step);
    }
    dispatcher.failures.log();
    dispatcher.error.map_or(Ok(dispatcher.claimed), Err)
}

/// Delivers messages forever. Looks for due messages after each `pause`, and claims more of them
/// whenever slots become free. For each receiver, no more than one line per minute is logged for
/// retries, and one for abandoned messages.
pub async fn deliver_forever<O: Outbox>(
    outbox: &O,
    courier: &impl Courier<O::Message>,
    pause: Duration,
) {
    let mut dispatcher = Dispatcher::new(Times::USUAL, outbox, courier);
    let mut is_unavailable = false;
    loop {
        dispatcher.look();
        let mut pause = std::pin::pin!(tokio::time::sleep(pause));
        while let Some(step) = dispatcher.next_before(&mut pause).await {
            dispatcher.take(step);
        }
        dispatcher.failures.log_if_due();
        let error = dispatcher.error.take();
        match &error {
            Some(error) if !is_unavailable => log::warn!("the outbox is unavailable: {error}"),
            None if is_unavailable => log::info!("the outbox is available again"),
            _ => {}
        }
        is_unavailable = error.is_some();
    }
}

/// A completed step of the dispatcher. Steps run concurrently.
enum Step<'a, R, M> {
    /// The receivers with messages due are known.
    Found(Result<Vec<R>, OutboxError>),
    /// Messages were claimed for these receivers.
    Claimed(Vec<(R, usize)>, Claimed<R, M>),
    /// An attempt is taking long. The instant is when it started.
    Late(R, Lane, Instant, BoxFuture<'a, Ended<R>>),
    /// An attempt has ended. The flag is true if it was slow.
    Ended(Ended<R>, Lane, bool),
}

struct Dispatcher<'a, O: Outbox, C> {
    times: Times,
    outbox: &'a O,
    courier: &'a C,
    lanes: Lanes<O::Receiver>,
    steps: FuturesUnordered<BoxFuture<'a, Step<'a, O::Receiver, O::Message>>>,
    /// Receivers that might still have messages due.
    due: Vec<O::Receiver>,
    is_looking: bool,
    is_claiming: bool,
    claimed: usize,
    failures: Failures,
    /// The last error from the outbox.
    error: Option<OutboxError>,
}

impl<'a, O: Outbox, C: Courier<O::Message>> Dispatcher<'a, O, C> {
    fn new(times: Times, outbox: &'a O, courier: &'a C) -> Self {
        Self {
            times,
            outbox,
            courier,
            lanes: Lanes::new(outbox.limits()),
            steps: FuturesUnordered::new(),
            due: Vec::new(),
            is_looking: false,
            is_claiming: false,
            claimed: 0,
            failures: Failures::default(),
            error: None,
        }
    }

    /// Waits for the next step, or returns `None` if `end` completes first.
    async fn next_before(
        &mut self,
        end: impl Future<Output = ()> + Unpin,
    ) -> Option<Step<'a, O::Receiver, O::Message>> {
        let next = async {
            match self.steps.next().await {
                Some(step) => step,
                // Nothing is being delivered.
                None => std::future::pending().await,
            }
        };
        match select(std::pin::pin!(next), end).await {
            Either::Left((step, _)) => Some(step),
            Either::Right(_) => None,
        }
    }

    /// Starts looking for receivers with messages due.
    fn look(&mut self) {
        if !self.is_looking {
            self.is_looking = true;
            let outbox = self.outbox;
            self.steps.push(Box::pin(async { Step::Found(outbox.receivers_due().await) }));
        }
    }

    /// Starts claiming messages for the free slots.
    fn claim(&mut self) {
        if self.is_claiming {
            return;
        }
        let shares = self.lanes.shares(&self.due);
        if shares.is_empty() {
            return;
        }
        self.is_claiming = true;
        let outbox = self.outbox;
        self.steps.push(Box::pin(async move {
            let claimed = outbox.claim(shares.clone()).await;
            Step::Claimed(shares, claimed)
        }));
    }

    fn take(&mut self, step: Step<'a, O::Receiver, O::Message>) {
        match step {
            Step::Found(found) => {
                self.is_looking = false;
                self.due = self.unless_failed(found);
            }
            Step::Claimed(shares, claimed) => {
                self.is_claiming = false;
                let claimed = self.unless_failed(claimed);
                // A receiver that got fewer messages than its share doesn't have any left.
                for (receiver, share) in &shares {
                    if claimed.iter().filter(|due| due.receiver == *receiver).count() < *share {
                        self.due.retain(|other| other != receiver);
                    }
                }
                self.claimed += claimed.len();
                claimed.into_iter().for_each(|due| self.send(due));
            }
            Step::Late(receiver, lane, begin, attempt) => {
                let lane = self.lanes.slow_down(&receiver, lane);
                let slow_after = self.times.slow_after;
                self.steps.push(Box::pin(async move {
                    let ended = attempt.await;
                    Step::Ended(ended, lane, begin.elapsed() >= slow_after)
                }));
            }
            Step::Ended(ended, lane, was_slow) => {
                self.lanes.end(&ended.receiver, lane, was_slow);
                if let Some(failed) = ended.failed {
                    self.failures.note(failed);
                }
                self.unless_failed(ended.noted);
            }
        }
        self.claim();
    }

    fn unless_failed<T: Default>(&mut self, result: Result<T, OutboxError>) -> T {
        result.unwrap_or_else(|error| {
            self.error = Some(error);
            T::default()
        })
    }

    fn send(&mut self, due: Due<O::Receiver, O::Message>) {
        let (outbox, courier) = (self.outbox, self.courier);
        let receiver = due.receiver.clone();
        let lane = self.lanes.begin(&receiver);
        let (begin, mut times) = (Instant::now(), self.times);
        let mut late_after = times.slow_after;
        if lane == Lane::New {
            late_after = times.new_for;
            if self.lanes.is_crowded() {
                times.longest = times.longest_in_a_crowd;
            }
        }
        let attempt: BoxFuture<'a, _> = Box::pin(attempt(times, outbox, courier, due));
        self.steps.push(Box::pin(async move {
            match select(attempt, std::pin::pin!(tokio::time::sleep(late_after))).await {
                Either::Left((ended, _)) => Step::Ended(ended, lane, false),
                Either::Right((_, attempt)) => Step::Late(receiver, lane, begin, attempt),
            }
        }));
    }
}

#[cfg(test)]
mod tests {
    use std::collections::HashMap;

    use parking_lot::Mutex;
    use tokio::sync::Notify;

    use super::*;
    use crate::delivery::{DeliveryError, Failure, retry_after};

    /// The number of messages waiting for each receiver, and the failures.
    #[derive(Default)]
    struct Table {
        waiting: Mutex<HashMap<u32, usize>>,
        failures: Mutex<Vec<Failure>>,
        /// Number of times that recording an outcome still has to fail.
        failing_records: Mutex<usize>,
        renewals: Mutex<usize>,
        renewed: Notify,
    }

    impl Table {
        fn new(rows: impl IntoIterator<Item = (u32, usize)>) -> Self {
            Self { waiting: Mutex::new(rows.into_iter().collect()), ..Self::default() }
        }
    }

    impl Outbox for Table {
        /// A message is identified by its receiver.
        type Message = u32;
        type Receiver = u32;

        async fn receivers_due(&self) -> Result<Vec<u32>, OutboxError> {
            let mut due: Vec<u32> = self.waiting.lock().keys().copied().collect();
            due.sort_unstable();
            Ok(due)
        }

        async fn claim(&self, shares: Vec<(u32, usize)>) -> Claimed<u32, u32> {
            let mut waiting = self.waiting.lock();
            let mut claimed = Vec::new();
            for (receiver, share) in shares {
                let left = waiting.entry(receiver).or_default();
                let taken = share.min(*left);
                *left -= taken;
                let due = Due { receiver, message: receiver, failed: 0 };
                claimed.extend(std::iter::repeat_n(due, taken));
            }
            Ok(claimed)
        }

        async fn renew_claim(&self, _message: &u32) -> Result<(), OutboxError> {
            *self.renewals.lock() += 1;
            self.renewed.notify_one();
            Ok(())
        }

        async fn mark_sent(&self, _message: &u32) -> Result<(), OutboxError> {
            let mut left = self.failing_records.lock();
            if *left == 0 {
                return Ok(());
            }
            *left -= 1;
            Err("the outbox is unavailable".into())
        }

        async fn mark_failed(&self, _message: &u32, failure: Failure) -> Result<(), OutboxError> {
            self.failures.lock().push(failure);
            Ok(())
        }
    }

    /// Receivers from `first_good` on respond right away. The others hang until the good ones have
    /// been sent `expected` messages.
    struct Hanging {
        first_good: u32,
        expected: usize,
        good: Mutex<usize>,
        released: Notify,
    }

    impl Hanging {
        fn new(first_good: u32, expected: usize) -> Self {
            Self { first_good, expected, good: Mutex::default(), released: Notify::new() }
        }
    }

    impl Courier<u32> for Hanging {
        async fn deliver(&self, receiver: &u32) -> Result<(), DeliveryError> {
            let released = self.released.notified();
            let is_over = || *self.good.lock() >= self.expected;
            if *receiver >= self.first_good {
                *self.good.lock() += 1;
            } else if !is_over() {
                released.await;
            }
            if is_over() {
                self.released.notify_waiters();
            }
            Ok(())
        }
    }

    #[tokio::test]
    async fn a_hanging_receiver_does_not_delay_others() {
        let table = Table::new([(1, 100), (2, 400)]);
        assert_eq!(deliver_due(&table, &Hanging::new(2, 400)).await.unwrap(), 500);
        // The first receiver was released by the last message to the second one.
        assert_eq!(*table.failures.lock(), []);
    }

    #[tokio::test]
    async fn hanging_receivers_do_not_occupy_the_quick_slots() {
        let table = Table::new((0..40).map(|receiver| (receiver, 3)).chain([(40, 400)]));
        let times = Times { new_for: Duration::from_millis(1), ..Times::USUAL };
        let claimed = deliver_within(times, &table, &Hanging::new(40, 400)).await;
        assert_eq!((claimed.unwrap(), &*table.failures.lock()), (520, &Vec::new()));
    }

    #[tokio::test]
    async fn a_good_new_receiver_does_not_wait_until_hanging_new_ones_time_out() {
        let table = Table::new((0..110).map(|receiver| (receiver, 3)).chain([(110, 1)]));
        let longest = Duration::from_secs(10);
        let new_for = Duration::from_millis(20);
        let times = Times { longest, longest_in_a_crowd: longest, new_for, ..Times::USUAL };
        let claimed = deliver_within(times, &table, &Hanging::new(110, 1)).await;
        assert_eq!((claimed.unwrap(), &*table.failures.lock()), (331, &Vec::new()));
    }

    #[tokio::test]
    async fn in_a_crowd_new_receivers_that_hang_time_out_early() {
        let table = Table::new((0..300).map(|receiver| (receiver, 1)).chain([(300, 1)]));
        let brief = Duration::from_millis(1);
        let longest = Duration::from_secs(3600);
        let times = Times { longest, longest_in_a_crowd: brief, new_for: brief, ..Times::USUAL };
        let claimed = deliver_within(times, &table, &Hanging::new(300, 1)).await;
        assert_eq!(claimed.unwrap(), 301);
        // The good receiver released the attempts that started before the crowd built up.
        assert!(table.failures.lock().len() <= 300 - 64);
    }

    /// Completes once its claim has been renewed twice.
    struct UntilRenewed<'a>(&'a Table);

    impl Courier<u32> for UntilRenewed<'_> {
        async fn deliver(&self, _message: &u32) -> Result<(), DeliveryError> {
            while *self.0.renewals.lock() < 2 {
                self.0.renewed.notified().await;
            }
            Ok(())
        }
    }

    #[tokio::test]
    async fn claim_is_renewed_until_the_attempt_ends() {
        let table = Table::new([(1, 1)]);
        let times = Times { renewal: Duration::from_millis(1), ..Times::USUAL };
        assert_eq!(deliver_within(times, &table, &UntilRenewed(&table)).await.unwrap(), 1);
        assert_eq!(*table.failures.lock(), []);
    }

    /// Never completes.
    struct Stuck;

    impl Courier<u32> for Stuck {
        async fn deliver(&self, _message: &u32) -> Result<(), DeliveryError> {
            std::future::pending().await
        }
    }

    #[tokio::test]
    async fn an_attempt_times_out_and_is_retried_later() {
        let table = Table::new([(1, 1)]);
        let times = Times { longest: Duration::from_millis(1), ..Times::USUAL };
        assert_eq!(deliver_within(times, &table, &Stuck).await.unwrap(), 1);
        let failures = table.failures.into_inner();
        let why = "the attempt timed out".to_owned();
        assert_eq!(failures, [Failure { retry: retry_after(1), counts: true, why }]);
    }

    /// Panics for the first receiver.
    struct Faulty;

    impl Courier<u32> for Faulty {
        async fn deliver(&self, receiver: &u32) -> Result<(), DeliveryError> {
            assert_ne!(*receiver, 1, "on purpose");
            Ok(())
        }
    }

    #[tokio::test]
    async fn a_panic_ends_only_its_attempt() {
        let table = Table::new([(1, 2), (2, 20)]);
        assert_eq!(deliver_due(&table, &Faulty).await.unwrap(), 22);
        let why = "the attempt panicked".to_owned();
        let failure = Failure { retry: retry_after(1), counts: true, why };
        assert_eq!(*table.failures.lock(), [failure.clone(), failure]);
    }

    #[tokio::test]
    async fn a_delivery_is_recorded_when_the_outbox_is_available_again() {
        let times = Times { pauses: [Duration::from_millis(1); 4], ..Times::USUAL };
        for (failures, is_noted) in [(4, true), (5, false)] {
            let table = Table::new([(1, 1)]);
            *table.failing_records.lock() = failures;
            let delivered = deliver_within(times, &table, &Hanging::new(1, 1)).await;
            assert_eq!(delivered.is_ok(), is_noted, "{failures}");
            assert_eq!(*table.failing_records.lock(), 0);
        }
    }
}
