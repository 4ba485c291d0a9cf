//! Turns that callers take round robin, so one caller with many requests delays the others by one
//! turn at most.

use std::collections::VecDeque;
use std::sync::Arc;

use parking_lot::Mutex;
use tokio::sync::oneshot;

/// A limited number of turns.
pub(crate) struct FairTurns {
    state: Mutex<State>,
}

struct State {
    free: usize,
    /// The waiting requests of each caller, in order. The first caller is next.
    waiting: VecDeque<(u64, VecDeque<oneshot::Sender<Turn>>)>,
}

/// A turn, which the next caller gets when it is dropped.
pub(crate) struct Turn {
    turns: Arc<FairTurns>,
    is_passed_on: bool,
}

impl FairTurns {
    pub fn new(free: usize) -> Arc<Self> {
        Arc::new(Self { state: Mutex::new(State { free, waiting: VecDeque::new() }) })
    }

    /// Takes a turn, unless all are taken.
    pub fn try_take(self: &Arc<Self>) -> Option<Turn> {
        let mut state = self.state.lock();
        state.free = state.free.checked_sub(1)?;
        drop(state);
        Some(self.turn())
    }

    /// Waits for a turn. Requests of one caller get theirs in order.
    pub async fn take(self: &Arc<Self>, caller: u64) -> Turn {
        let receiver = {
            let mut state = self.state.lock();
            if state.free > 0 {
                state.free -= 1;
                drop(state);
                return self.turn();
            }
            let (sender, receiver) = oneshot::channel();
            match state.waiting.iter_mut().find(|(other, _)| *other == caller) {
                Some((_, requests)) => requests.push_back(sender),
                None => state.waiting.push_back((caller, VecDeque::from([sender]))),
            }
            receiver
        };
        match receiver.await {
            Ok(turn) => turn,
            // The sender is only dropped together with all turns.
            Err(_) => std::future::pending().await,
        }
    }

    fn turn(self: &Arc<Self>) -> Turn {
        Turn { turns: Arc::clone(self), is_passed_on: false }
    }

    /// Returns the next request that waits, or counts the turn as free.
    fn next(&self) -> Option<oneshot::Sender<Turn>> {
        let mut state = self.state.lock();
        while let Some((caller, mut requests)) = state.waiting.pop_front() {
            let next = requests.pop_front();
            if !requests.is_empty() {
                state.waiting.push_back((caller, requests));
            }
            // Requests that gave up are skipped.
            if let Some(next) = next.filter(|next| !next.is_closed()) {
                return Some(next);
            }
        }
        state.free += 1;
        None
    }
}

impl Drop for Turn {
    fn drop(&mut self) {
        if self.is_passed_on {
            return;
        }
        while let Some(next) = self.turns.next() {
            match next.send(self.turns.turn()) {
                Ok(()) => return,
                // It gave up meanwhile. Its turn goes to the next one.
                Err(mut turn) => turn.is_passed_on = true,
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use std::pin::{Pin, pin};
    use std::task::{Context, Poll, Waker};

    use super::*;

    type Waiting<'a> = Pin<Box<dyn Future<Output = Turn> + 'a>>;

    fn poll(waiting: &mut Waiting<'_>) -> Option<Turn> {
        match waiting.as_mut().poll(&mut Context::from_waker(Waker::noop())) {
            Poll::Ready(turn) => Some(turn),
            Poll::Pending => None,
        }
    }

    #[test]
    fn callers_take_turns_whatever_the_number_of_their_requests() {
        let turns = FairTurns::new(1);
        let mut turn = turns.try_take();
        assert!(turns.try_take().is_none());
        let callers = [1, 1, 1, 1, 2, 3, 2];
        let mut waiting: Vec<(u64, Waiting<'_>)> = callers
            .iter()
            .map(|caller| (*caller, Box::pin(turns.take(*caller)) as Waiting<'_>))
            .collect();
        assert!(waiting.iter_mut().all(|(_, one)| poll(one).is_none()));
        let mut order = Vec::new();
        while turn.take().is_some() {
            let found =
                waiting.iter_mut().enumerate().find_map(|(at, (_, one))| Some((at, poll(one)?)));
            let Some((at, next)) = found else { break };
            order.push(waiting.remove(at).0);
            turn = Some(next);
        }
        assert_eq!(order, [1, 2, 3, 1, 2, 1, 1]);
        assert!(turns.try_take().is_some());
    }

    #[test]
    fn turns_of_requests_that_gave_up_are_not_lost() {
        let turns = FairTurns::new(2);
        let taken = [turns.try_take(), turns.try_take()];
        {
            let mut gone: Waiting<'_> = Box::pin(turns.take(1));
            assert!(poll(&mut gone).is_none());
        }
        // This one gives up after it got a turn.
        let mut late: Waiting<'_> = Box::pin(turns.take(1));
        assert!(poll(&mut late).is_none());
        drop(taken);
        drop(late);
        let both = [turns.try_take(), turns.try_take()];
        assert!(both.iter().all(Option::is_some) && turns.try_take().is_none());
        drop(both);
        let mut free = pin!(turns.take(5));
        assert!(free.as_mut().poll(&mut Context::from_waker(Waker::noop())).is_ready());
    }
}
