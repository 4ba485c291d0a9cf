//! Which receiver gets the next slot: in turn, and slow receivers in slots of their own.

use std::collections::HashMap;
use std::hash::Hash;

use crate::delivery::Limits;

/// Messages under way at the most. Attempts that turn out to be slow leave the quick slots, so there
/// can be more of them than slow slots.
const MOST: usize = 64;

/// Receivers that are remembered; beyond this those without a message under way are forgotten.
const REMEMBERED: usize = 10_000;

/// The slots of one kind of receiver.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Lane {
    Quick,
    Slow,
}

#[derive(Debug, Default)]
struct Receiver {
    under_way: usize,
    is_slow: bool,
    /// When it was served last, counted in messages.
    served: u64,
}

/// What is under way, by receiver.
#[derive(Debug)]
pub(crate) struct Lanes<R> {
    limits: Limits,
    receivers: HashMap<R, Receiver>,
    quick: usize,
    slow: usize,
    served: u64,
}

impl<R: Clone + Eq + Hash> Lanes<R> {
    pub(crate) fn new(limits: Limits) -> Self {
        Self { limits, receivers: HashMap::new(), quick: 0, slow: 0, served: 0 }
    }

    /// How many messages each receiver may get now; those who were served longest ago come first and
    /// one message each goes around until there is no room.
    pub(crate) fn shares(&self, due: &[R]) -> Vec<(R, usize)> {
        let Limits { quick, slow, each, each_slow } = self.limits;
        let all = MOST.saturating_sub(self.quick + self.slow);
        let mut quick = quick.saturating_sub(self.quick).min(all);
        let mut slow = slow.saturating_sub(self.slow).min(all);
        let unknown = Receiver::default();
        let state = |receiver: &R| self.receivers.get(receiver).unwrap_or(&unknown);
        let mut order: Vec<&R> = due.iter().collect();
        order.sort_by_key(|receiver| state(receiver).served);
        let mut shares: Vec<(&R, usize)> = order.into_iter().map(|one| (one, 0)).collect();
        loop {
            let before = (quick, slow);
            for (receiver, share) in &mut shares {
                let Receiver { under_way, is_slow, .. } = state(receiver);
                let (room, most) =
                    if *is_slow { (&mut slow, each_slow) } else { (&mut quick, each) };
                if *room > 0 && under_way + *share < most {
                    *share += 1;
                    *room -= 1;
                }
            }
            if before == (quick, slow) {
                break;
            }
        }
        let given = shares.into_iter().filter(|(_, share)| *share > 0);
        given.map(|(receiver, share)| (receiver.clone(), share)).collect()
    }

    /// A message goes to a receiver now; returns its lane.
    pub(crate) fn begin(&mut self, receiver: &R) -> Lane {
        if self.receivers.len() >= REMEMBERED {
            self.receivers.retain(|_, state| state.under_way > 0);
        }
        self.served += 1;
        let state = self.receivers.entry(receiver.clone()).or_default();
        state.under_way += 1;
        state.served = self.served;
        let lane = if state.is_slow { Lane::Slow } else { Lane::Quick };
        *self.count(lane) += 1;
        lane
    }

    /// An attempt turns out to be slow: it leaves its quick slot.
    pub(crate) fn slow_down(&mut self, receiver: &R, lane: Lane) -> Lane {
        self.mark(receiver, true);
        *self.count(lane) -= 1;
        *self.count(Lane::Slow) += 1;
        Lane::Slow
    }

    /// An attempt ended.
    pub(crate) fn end(&mut self, receiver: &R, lane: Lane, was_slow: bool) {
        self.mark(receiver, was_slow);
        *self.count(lane) -= 1;
        if let Some(state) = self.receivers.get_mut(receiver) {
            state.under_way -= 1;
        }
    }

    fn mark(&mut self, receiver: &R, is_slow: bool) {
        if let Some(state) = self.receivers.get_mut(receiver) {
            state.is_slow = is_slow;
        }
    }

    fn count(&mut self, lane: Lane) -> &mut usize {
        match lane {
            Lane::Quick => &mut self.quick,
            Lane::Slow => &mut self.slow,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const LIMITS: Limits = Limits { quick: 6, slow: 2, each: 4, each_slow: 1 };

    #[test]
    fn receivers_share_the_slots_and_none_has_more_than_its_own() {
        let mut lanes = Lanes::new(LIMITS);
        assert_eq!(lanes.shares(&["a"]), [("a", 4)]);
        assert_eq!(lanes.shares(&["a", "b", "c"]), [("a", 2), ("b", 2), ("c", 2)]);
        for _ in 0..4 {
            lanes.begin(&"a");
        }
        assert_eq!(lanes.shares(&["a", "b"]), [("b", 2)]);
        lanes.end(&"a", Lane::Quick, false);
        // Who was served longest ago comes first.
        assert_eq!(lanes.shares(&["a", "b"]), [("b", 2), ("a", 1)]);
    }

    #[test]
    fn slow_receivers_have_slots_of_their_own_until_they_are_quick_again() {
        let mut lanes = Lanes::new(LIMITS);
        for receiver in ["a", "b", "c"] {
            let lane = lanes.begin(&receiver);
            assert_eq!(lanes.slow_down(&receiver, lane), Lane::Slow);
        }
        assert_eq!(lanes.shares(&["a", "b", "c", "d", "e"]), [("d", 3), ("e", 3)]);
        lanes.end(&"a", Lane::Slow, true);
        lanes.end(&"b", Lane::Slow, true);
        // One of the two slow slots is free, and the receiver served longest ago gets it.
        assert_eq!(lanes.shares(&["b", "c", "a"]), [("a", 1)]);
        assert_eq!(lanes.begin(&"a"), Lane::Slow);
        lanes.end(&"a", Lane::Slow, false);
        assert_eq!(lanes.begin(&"a"), Lane::Quick);
    }
}
