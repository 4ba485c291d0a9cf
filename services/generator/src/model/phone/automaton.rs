//! A pattern of digits compiled so that each of its numbers is equally likely to be sampled.
//!
//! The patterns become deterministic automata; walking the wanted one and the unwanted one side by
//! side gives states that know how many numbers follow them. A sample is one random number below
//! the count of the start, divided up on the way.

use std::collections::HashMap;

use regex_automata::dfa::{Automaton as _, StartKind, dense};
use regex_automata::util::primitives::StateID;
use regex_automata::util::syntax;
use regex_automata::{Anchored, MatchKind};

use crate::model::ascii_buffer::AsciiBuffer;
use crate::model::random::Random;

/// Why a pattern has no automaton.
#[derive(Debug, thiserror::Error)]
pub enum PatternError {
    /// It is no regular expression, or one too large.
    #[error("a numbering plan does not compile: {0}")]
    Build(#[from] Box<dense::BuildError>),
    /// It looks around itself, which no numbering plan does.
    #[error("a numbering plan has no single start")]
    Start,
}

/// The numbers that match one pattern and not another.
pub struct Automaton {
    states: Vec<State>,
    start: usize,
}

/// A point inside a number.
#[derive(Clone, Copy, Default)]
struct State {
    /// 1 when the number may end here.
    ends: u64,
    /// For each digit, how many numbers end here or go on with it or a smaller one.
    up_to: [u64; 10],
    /// For each digit the next state.
    next: [u32; 10],
}

impl State {
    fn count(&self) -> u64 {
        self.up_to[9]
    }
}

impl Automaton {
    /// Compiles what matches `wanted` (empty: nothing) but not `unwanted` (empty: nothing).
    pub fn compile(wanted: &str, unwanted: &str) -> Result<Self, PatternError> {
        let mut pair = Pair { wanted: dfa(wanted)?, unwanted: dfa(unwanted)?, ..Pair::default() };
        let start = match (start(&pair.wanted)?, start(&pair.unwanted)?) {
            (Some(wanted), unwanted) => pair.visit(wanted, unwanted),
            _ => pair.add(State::default()),
        };
        Ok(Self { states: pair.states, start })
    }

    /// Whether there is no number.
    pub fn is_empty(&self) -> bool {
        self.states[self.start].count() == 0
    }

    /// Samples a number; nothing is added when there is none.
    pub fn push(&self, random: &mut Random, out: &mut AsciiBuffer) {
        let mut state = &self.states[self.start];
        let mut nth = random.below(state.count());
        while nth >= state.ends && state.count() > 0 {
            let digit = state.up_to.iter().position(|sum| nth < *sum).unwrap_or_default();
            nth -= if digit == 0 { state.ends } else { state.up_to[digit - 1] };
            out.push(b'0' + digit as u8);
            state = &self.states[state.next[digit] as usize];
        }
    }
}

type Dfa = dense::DFA<Vec<u32>>;

fn dfa(pattern: &str) -> Result<Option<Dfa>, PatternError> {
    if pattern.is_empty() {
        return Ok(None);
    }
    let config = dense::Config::new()
        .start_kind(StartKind::Anchored)
        // Every number counts, not only the leftmost alternative of a pattern.
        .match_kind(MatchKind::All);
    let built = dense::Builder::new()
        .configure(config)
        .syntax(syntax::Config::new().unicode(false).utf8(false))
        .build(pattern)
        .map_err(Box::new)?;
    Ok(Some(built))
}

fn start(dfa: &Option<Dfa>) -> Result<Option<StateID>, PatternError> {
    let Some(dfa) = dfa else { return Ok(None) };
    dfa.universal_start_state(Anchored::Yes).map(Some).ok_or(PatternError::Start)
}

/// Walks both automata at once and counts.
#[derive(Default)]
struct Pair {
    wanted: Option<Dfa>,
    unwanted: Option<Dfa>,
    states: Vec<State>,
    seen: HashMap<(StateID, Option<StateID>), usize>,
}

impl Pair {
    fn add(&mut self, state: State) -> usize {
        self.states.push(state);
        self.states.len() - 1
    }

    /// The position of the state for a pair; patterns are finite, so the walk ends.
    fn visit(&mut self, wanted: StateID, unwanted: Option<StateID>) -> usize {
        if let Some(position) = self.seen.get(&(wanted, unwanted)) {
            return *position;
        }
        let mut state = State { ends: u64::from(self.ends(wanted, unwanted)), ..State::default() };
        let mut sum = state.ends;
        for digit in 0..10 {
            let byte = b'0' + digit as u8;
            if let Some(next) = step(&self.wanted, Some(wanted), byte) {
                let position = self.visit(next, step(&self.unwanted, unwanted, byte));
                state.next[digit] = position as u32;
                sum += self.states[position].count();
            }
            state.up_to[digit] = sum;
        }
        let position = self.add(state);
        self.seen.insert((wanted, unwanted), position);
        position
    }

    fn ends(&self, wanted: StateID, unwanted: Option<StateID>) -> bool {
        matches(&self.wanted, Some(wanted)) && !matches(&self.unwanted, unwanted)
    }
}

/// The state behind a digit, if any number has it there.
fn step(dfa: &Option<Dfa>, state: Option<StateID>, byte: u8) -> Option<StateID> {
    let (dfa, state) = (dfa.as_ref()?, state?);
    let next = dfa.next_state(state, byte);
    (!dfa.is_dead_state(next)).then_some(next)
}

/// Whether the text so far is a whole match; automata say so one step late.
fn matches(dfa: &Option<Dfa>, state: Option<StateID>) -> bool {
    let (Some(dfa), Some(state)) = (dfa, state) else { return false };
    dfa.is_match_state(dfa.next_eoi_state(state))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::seed::Seed;

    fn samples(
        wanted: &str,
        unwanted: &str,
        count: usize,
    ) -> std::collections::BTreeMap<String, u32> {
        let automaton = Automaton::compile(wanted, unwanted).unwrap();
        let mut random = Seed::parse("automaton").unwrap().random("test", "");
        let mut seen = std::collections::BTreeMap::new();
        for _ in 0..count {
            let mut number = AsciiBuffer::new();
            automaton.push(&mut random, &mut number);
            *seen.entry(number.as_str().to_owned()).or_default() += 1;
        }
        seen
    }

    #[test]
    fn every_number_of_a_pattern_is_equally_likely() {
        // 1x, 12x and 7: 10 + 10 + 1 numbers of three lengths, some reached in two ways.
        let seen = samples(r"1\d|12\d|1[2-5]|7", "", 21_000);
        assert_eq!(seen.len(), 21);
        assert!(seen.values().all(|n| (850..1_150).contains(n)), "{seen:?}");
    }

    #[test]
    fn unwanted_numbers_are_never_drawn() {
        let seen = samples(r"1\d\d?", "1[0-8]|19[1-9]|15[0-9]", 20_000);
        assert!(seen.contains_key("19") && seen.contains_key("190") && seen.contains_key("100"));
        assert!(!seen.contains_key("11") && !seen.contains_key("191") && !seen.contains_key("155"));
        assert_eq!(seen.len(), 1 + 100 - 9 - 10);
    }

    #[test]
    fn no_pattern_gives_nothing() {
        assert!(Automaton::compile("", "1").unwrap().is_empty());
        assert!(Automaton::compile("1", "1").unwrap().is_empty());
    }
}
