//! Decides which receiver gets the next slot. Receivers take turns. Slow receivers and new
//! receivers each have their own slots.

use std::collections::HashMap;
use std::hash::Hash;

use crate::delivery::Limits;

/// Maximum number of messages being sent. Attempts that turn out to be slow leave the quick slots,
/// so there can be more slow attempts than slow slots.
const MOST: usize = 128;

/// How many receivers to remember. Beyond that, we forget all receivers to which nothing is being
/// sent.
const REMEMBERED: usize = 10_000;

/// The kind of a receiver. Each kind has its own slots.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum Lane {
    /// The receiver's first attempt isn't over yet. Any number of new receivers might hang, so each
    /// gets just one message. Together, they can use half of the quick slots, and only briefly.
    #[default]
    New,
    Quick,
    Slow,
}

#[derive(Debug, Default)]
struct Receiver {
    under_way: usize,
    lane: Lane,
    /// When the receiver was last served, counted in messages sent.
    served: u64,
}

/// The messages being sent to each receiver.
#[derive(Debug)]
pub(crate) struct Lanes<R> {
    limits: Limits,
    receivers: HashMap<R, Receiver>,
    new: usize,
    quick: usize,
    slow: usize,
    served: u64,
}

#[derive(Clone, Copy, PartialEq, Eq)]
struct Room {
    new: usize,
    quick: usize,
    slow: usize,
}

impl Room {
    /// Takes a slot if one is free. Returns whether it did.
    fn take(&mut self, lane: Lane) -> bool {
        let Self { new, quick, slow } = *self;
        match lane {
            Lane::New if new > 0 && quick > 0 => {
                *self = Self { new: new - 1, quick: quick - 1, slow }
            }
            Lane::Quick if quick > 0 => self.quick -= 1,
            Lane::Slow if slow > 0 => self.slow -= 1,
            _ => return false,
        }
        true
    }
}

impl<R: Clone + Eq + Hash> Lanes<R> {
    pub(crate) fn new(limits: Limits) -> Self {
        Self { limits, receivers: HashMap::new(), new: 0, quick: 0, slow: 0, served: 0 }
    }

    /// Returns how many messages each receiver can get now. Until the slots are used up, receivers
    /// get one message each, round robin, starting with the one that has waited longest.
    pub(crate) fn shares(&self, due: &[R]) -> Vec<(R, usize)> {
        let Limits { each, each_slow, .. } = self.limits;
        let most = |lane| match lane {
            Lane::New => 1,
            Lane::Quick => each,
            Lane::Slow => each_slow,
        };
        let mut room = self.room();
        let unknown = Receiver::default();
        let state = |receiver: &R| self.receivers.get(receiver).unwrap_or(&unknown);
        let mut order: Vec<&R> = due.iter().collect();
        order.sort_by_key(|receiver| state(receiver).served);
        let mut shares: Vec<(&R, usize)> = order.into_iter().map(|one| (one, 0)).collect();
        loop {
            let before = room;
            for (receiver, share) in &mut shares {
                let Receiver { under_way, lane, .. } = state(receiver);
                if under_way + *share < most(*lane) && room.take(*lane) {
                    *share += 1;
                }
            }
            if before == room {
                break;
            }
        }
        let given = shares.into_iter().filter(|(_, share)| *share > 0);
        given.map(|(receiver, share)| (receiver.clone(), share)).collect()
    }

    fn room(&self) -> Room {
        let Limits { quick, slow, .. } = self.limits;
        let all = MOST.saturating_sub(self.new + self.quick + self.slow);
        // New receivers that hang turn into slow ones, so keep some room for receivers that are
        // known to be quick.
        let unproved = MOST.saturating_sub(quick + self.new + self.slow);
        Room {
            new: (quick / 2).max(1).saturating_sub(self.new).min(unproved),
            quick: quick.saturating_sub(self.new + self.quick).min(all),
            slow: slow.saturating_sub(self.slow).min(all),
        }
    }

    /// Returns whether enough attempts are hanging that new receivers get less time than others.
    pub(crate) fn is_crowded(&self) -> bool {
        self.slow >= MOST / 2
    }

    /// Records that a message is being sent to a receiver, and returns its lane.
    pub(crate) fn begin(&mut self, receiver: &R) -> Lane {
        if self.receivers.len() >= REMEMBERED {
            self.receivers.retain(|_, state| state.under_way > 0);
        }
        self.served += 1;
        let state = self.receivers.entry(receiver.clone()).or_default();
        state.under_way += 1;
        state.served = self.served;
        let lane = state.lane;
        *self.count(lane) += 1;
        lane
    }

    /// Records that an attempt is slow, which frees its slot, and returns its new lane. A new
    /// receiver is still considered new until the attempt is over.
    pub(crate) fn slow_down(&mut self, receiver: &R, lane: Lane) -> Lane {
        if lane != Lane::New {
            self.mark(receiver, Lane::Slow);
        }
        *self.count(lane) -= 1;
        *self.count(Lane::Slow) += 1;
        Lane::Slow
    }

    pub(crate) fn end(&mut self, receiver: &R, lane: Lane, was_slow: bool) {
        self.mark(receiver, if was_slow { Lane::Slow } else { Lane::Quick });
        *self.count(lane) -= 1;
        if let Some(state) = self.receivers.get_mut(receiver) {
            state.under_way -= 1;
        }
    }

    fn mark(&mut self, receiver: &R, lane: Lane) {
        if let Some(state) = self.receivers.get_mut(receiver) {
            state.lane = lane;
        }
    }

    fn count(&mut self, lane: Lane) -> &mut usize {
        match lane {
            Lane::New => &mut self.new,
            Lane::Quick => &mut self.quick,
            Lane::Slow => &mut self.slow,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const LIMITS: Limits = Limits { quick: 6, slow: 2, each: 4, each_slow: 1 };

    /// Creates lanes in which these receivers are already known to be quick.
    fn lanes_that_know<const N: usize>(receivers: [&'static str; N]) -> Lanes<&'static str> {
        let mut lanes = Lanes::new(LIMITS);
        for receiver in receivers {
            let lane = lanes.begin(&receiver);
            lanes.end(&receiver, lane, false);
        }
        lanes
    }

    #[test]
    fn new_receivers_get_one_message_each_and_half_of_the_quick_slots() {
        let mut lanes = lanes_that_know(["known"]);
        assert_eq!(lanes.shares(&["a", "b", "c", "d"]), [("a", 1), ("b", 1), ("c", 1)]);
        assert_eq!(lanes.shares(&["a", "b", "known"]), [("a", 1), ("b", 1), ("known", 4)]);
        let lane = lanes.begin(&"a");
        lanes.end(&"a", lane, false);
        assert_eq!(lanes.shares(&["a"]), [("a", 4)]);
    }

    #[test]
    fn new_receivers_that_hang_take_no_slots_of_known_ones() {
        let mut lanes = lanes_that_know(["known"]);
        let names: Vec<String> = (0..1_000).map(|number| format!("new {number}")).collect();
        let mut waiting: Vec<&str> = names.iter().map(String::as_str).collect();
        loop {
            let shares = lanes.shares(&waiting);
            if shares.is_empty() {
                break;
            }
            for (receiver, share) in shares {
                waiting.retain(|name| *name != receiver);
                for _ in 0..share {
                    let lane = lanes.begin(&receiver);
                    lanes.slow_down(&receiver, lane);
                }
            }
        }
        assert!(lanes.slow > LIMITS.slow && waiting.len() > 500, "{}", waiting.len());
        waiting.push("known");
        assert_eq!(lanes.shares(&waiting), [("known", 4)]);
    }

    #[test]
    fn receivers_share_the_slots_and_none_has_more_than_its_own() {
        let mut lanes = lanes_that_know(["a", "b", "c"]);
        assert_eq!(lanes.shares(&["a"]), [("a", 4)]);
        assert_eq!(lanes.shares(&["a", "b", "c"]), [("a", 2), ("b", 2), ("c", 2)]);
        for _ in 0..4 {
            lanes.begin(&"a");
        }
        assert_eq!(lanes.shares(&["a", "b"]), [("b", 2)]);
        lanes.end(&"a", Lane::Quick, false);
        // The receiver that has waited longest is first.
        assert_eq!(lanes.shares(&["a", "b"]), [("b", 2), ("a", 1)]);
    }

    #[test]
    fn slow_receivers_use_separate_slots_until_they_are_quick_again() {
        let mut lanes = lanes_that_know(["a", "b", "c", "d", "e"]);
        for receiver in ["a", "b", "c"] {
            let lane = lanes.begin(&receiver);
            assert_eq!(lanes.slow_down(&receiver, lane), Lane::Slow);
        }
        assert_eq!(lanes.shares(&["a", "b", "c", "d", "e"]), [("d", 3), ("e", 3)]);
        lanes.end(&"a", Lane::Slow, true);
        lanes.end(&"b", Lane::Slow, true);
        // One of the two slow slots is free. It goes to the receiver that has waited longest.
        assert_eq!(lanes.shares(&["b", "c", "a"]), [("a", 1)]);
        assert_eq!(lanes.begin(&"a"), Lane::Slow);
        lanes.end(&"a", Lane::Slow, false);
        assert_eq!(lanes.begin(&"a"), Lane::Quick);
    }
}
