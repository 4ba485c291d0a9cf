//! A semaphore that hands out permits ("turns") round robin, so that a caller with many requests
//! delays other callers by no more than one turn each.

use std::collections::{HashSet, VecDeque};
use std::hash::{BuildHasher, RandomState};
use std::sync::Arc;

use parking_lot::Mutex;
use tokio::sync::oneshot;

/// A limited number of turns. Each caller gets at most one at a time, and waiting callers are
/// served round robin.
///
/// ```
/// # async fn work(turns: &std::sync::Arc<database::FairTurns>) {
/// let turn = turns.take(Some("ann")).await;
/// // Work that takes long.
/// drop(turn);
/// # }
/// let turns = database::FairTurns::new(2);
/// ```
pub struct FairTurns {
    state: Mutex<State>,
    hasher: RandomState,
}

/// Identifies a caller. Requests with `None` share a single position in the queue, but can use any
/// number of turns at once.
type Caller = Option<u64>;

struct State {
    free: usize,
    /// Callers that currently have a turn.
    busy: HashSet<u64>,
    /// Each caller's waiting requests, in order of arrival. The caller at the front is next.
    waiting: VecDeque<(Caller, VecDeque<oneshot::Sender<Turn>>)>,
}

/// A permit, which is passed on to the next caller when dropped.
pub struct Turn {
    turns: Arc<FairTurns>,
    caller: Caller,
}

impl State {
    /// Takes a free turn, unless the caller already has one. Returns whether it did.
    fn take(&mut self, caller: Caller) -> bool {
        if self.free == 0 || caller.is_some_and(|caller| self.busy.contains(&caller)) {
            return false;
        }
        self.free -= 1;
        self.busy.extend(caller);
        true
    }

    /// Returns the next waiting request and its caller, skipping requests that were cancelled.
    fn next(&mut self) -> Option<(Caller, oneshot::Sender<Turn>)> {
        self.waiting.retain_mut(|(_, requests)| {
            requests.retain(|request| !request.is_closed());
            !requests.is_empty()
        });
        let is_idle = |caller: Caller| caller.is_none_or(|caller| !self.busy.contains(&caller));
        let at = self.waiting.iter().position(|(caller, _)| is_idle(*caller))?;
        let (caller, mut requests) = self.waiting.remove(at)?;
        let next = requests.pop_front()?;
        if !requests.is_empty() {
            self.waiting.push_back((caller, requests));
        }
        Some((caller, next))
    }
}

impl FairTurns {
    /// Creates a semaphore with `free` turns.
    pub fn new(free: usize) -> Arc<Self> {
        let (busy, waiting) = (HashSet::new(), VecDeque::new());
        let state = Mutex::new(State { free, busy, waiting });
        Arc::new(Self { state, hasher: RandomState::new() })
    }

    /// Takes a turn. Returns `None` if all turns are taken or if the caller already has one.
    pub fn try_take(self: &Arc<Self>, caller: Option<&str>) -> Option<Turn> {
        let caller = self.key(caller);
        let is_taken = self.state.lock().take(caller);
        is_taken.then(|| self.turn(caller))
    }

    /// Waits for a turn. Requests from the same caller are served in order.
    pub async fn take(self: &Arc<Self>, caller: Option<&str>) -> Turn {
        let caller = self.key(caller);
        let receiver = {
            let mut state = self.state.lock();
            if state.take(caller) {
                drop(state);
                return self.turn(caller);
            }
            let (sender, receiver) = oneshot::channel();
            match state.waiting.iter_mut().find(|(other, _)| *other == caller) {
                Some((_, requests)) => {
                    // If no turn becomes free for a long time, cancelled requests must not pile up.
                    while requests.front().is_some_and(|request| request.is_closed()) {
                        requests.pop_front();
                    }
                    requests.push_back(sender);
                }
                None => state.waiting.push_back((caller, VecDeque::from([sender]))),
            }
            receiver
        };
        match receiver.await {
            Ok(turn) => turn,
            // The sender is only dropped along with the semaphore.
            Err(_) => std::future::pending().await,
        }
    }

    fn key(&self, caller: Option<&str>) -> Caller {
        caller.map(|caller| self.hasher.hash_one(caller))
    }

    fn turn(self: &Arc<Self>, caller: Caller) -> Turn {
        Turn { turns: Arc::clone(self), caller }
    }
}

impl Drop for Turn {
    fn drop(&mut self) {
        let next = {
            let mut state = self.turns.state.lock();
            if let Some(caller) = &self.caller {
                state.busy.remove(caller);
            }
            state.free += 1;
            let next = state.next();
            if let Some((caller, _)) = &next {
                state.free -= 1;
                state.busy.extend(*caller);
            }
            next
        };
        // If the request was cancelled in the meantime, the turn is dropped and thus passed on.
        if let Some((caller, next)) = next {
            let _ = next.send(self.turns.turn(caller));
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
    fn callers_take_turns_regardless_of_their_number_of_requests() {
        let turns = FairTurns::new(1);
        let mut turn = turns.try_take(Some("0"));
        assert!(turns.try_take(None).is_none());
        let callers = ["1", "1", "1", "1", "2", "3", "2"];
        let mut waiting: Vec<(&str, Waiting<'_>)> = callers
            .iter()
            .map(|caller| (*caller, Box::pin(turns.take(Some(caller))) as Waiting<'_>))
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
        assert_eq!(order, ["1", "2", "3", "1", "2", "1", "1"]);
        assert!(turns.try_take(None).is_some());
    }

    #[test]
    fn caller_gets_one_turn_at_a_time_unless_anonymous() {
        let turns = FairTurns::new(3);
        let first = turns.try_take(Some("1"));
        assert!(first.is_some() && turns.try_take(Some("1")).is_none());
        let mut second: Waiting<'_> = Box::pin(turns.take(Some("1")));
        assert!(poll(&mut second).is_none());
        let others = [turns.try_take(None), turns.try_take(None)];
        assert!(others.iter().all(Option::is_some));
        let mut waiting: Waiting<'_> = Box::pin(turns.take(Some("2")));
        assert!(poll(&mut waiting).is_none());
        drop(others);
        assert!(poll(&mut second).is_none());
        assert!(poll(&mut waiting).is_some());
        drop(first);
        assert!(poll(&mut second).is_some());
    }

    #[test]
    fn cancelled_requests_do_not_pile_up_while_no_turn_is_free() {
        let turns = FairTurns::new(1);
        let _turn = turns.try_take(None);
        for _ in 0..10 {
            let mut gone: Waiting<'_> = Box::pin(turns.take(None));
            assert!(poll(&mut gone).is_none());
        }
        let state = turns.state.lock();
        assert_eq!(state.waiting.iter().map(|(_, requests)| requests.len()).sum::<usize>(), 1);
    }

    #[test]
    fn turns_of_cancelled_requests_are_not_lost() {
        let turns = FairTurns::new(2);
        let taken = [turns.try_take(None), turns.try_take(None)];
        {
            let mut gone: Waiting<'_> = Box::pin(turns.take(Some("1")));
            assert!(poll(&mut gone).is_none());
        }
        // This request is cancelled after it got its turn.
        let mut late: Waiting<'_> = Box::pin(turns.take(Some("1")));
        assert!(poll(&mut late).is_none());
        drop(taken);
        drop(late);
        let both = [turns.try_take(None), turns.try_take(None)];
        assert!(both.iter().all(Option::is_some) && turns.try_take(None).is_none());
        drop(both);
        let mut free = pin!(turns.take(Some("5")));
        assert!(free.as_mut().poll(&mut Context::from_waker(Waker::noop())).is_ready());
    }
}
