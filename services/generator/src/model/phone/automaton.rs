//! Compiles digit patterns for sampling, so that all matching numbers of the same length are
//! equally likely.
//!
//! Each pattern becomes a DFA. We walk the DFAs in parallel and build states that store how many
//! numbers of a given length can follow. To sample a number, we draw a random index below the start
//! state's count, and let it choose a digit in each state.

use std::collections::HashMap;

use regex_automata::dfa::{Automaton as _, StartKind, dense};
use regex_automata::util::primitives::StateID;
use regex_automata::util::syntax;
use regex_automata::{Anchored, MatchKind};

use crate::model::ascii_buffer::AsciiBuffer;
use crate::model::random::Random;

/// An error while compiling a pattern.
#[derive(Debug, thiserror::Error)]
pub enum PatternError {
    /// The pattern isn't a regular expression, or is too large.
    #[error("a numbering plan could not be compiled: {0}")]
    Build(#[from] Box<dense::BuildError>),
    /// The pattern uses look-around, which numbering plans never do.
    #[error("a numbering plan has no single start")]
    Start,
}

/// A set of numbers, given by regular expressions over digits.
#[derive(Clone, Copy, Default)]
pub struct Pattern<'a> {
    /// Numbers must match this pattern. An empty pattern matches nothing.
    pub wanted: &'a str,
    /// Numbers must also match all of these patterns. An empty pattern matches everything.
    pub required: [&'a str; 3],
    /// Numbers must not match this pattern. An empty pattern matches nothing.
    pub unwanted: &'a str,
}

/// The numbers that match a pattern, by length.
pub struct Automaton {
    states: Vec<State>,
    /// The possible lengths, each with its start state.
    starts: Vec<(usize, usize)>,
}

/// A state in the walk through all numbers of one length.
#[derive(Clone, Copy, Default)]
struct State {
    /// For each digit, how many numbers continue with that digit or a lower one. In a final state,
    /// all counts are 1.
    up_to: [u64; 10],
    /// The next state for each digit.
    next: [u32; 10],
}

impl State {
    const END: Self = Self { up_to: [1; 10], next: [0; 10] };

    fn count(&self) -> u64 {
        self.up_to[9]
    }
}

impl Automaton {
    /// Compiles the numbers of up to `longest` digits that match a pattern.
    pub fn compile(pattern: Pattern<'_>, longest: usize) -> Result<Self, PatternError> {
        if pattern.wanted.is_empty() {
            return Ok(Self { states: Vec::new(), starts: Vec::new() });
        }
        let [one, two, three] = pattern.required;
        let mut walk = Walk::default();
        let parts = [pattern.wanted, one, two, three, pattern.unwanted];
        for (place, part) in walk.dfas.iter_mut().zip(parts) {
            *place = dfa(part)?;
        }
        let start = walk.start()?;
        let mut starts = Vec::new();
        for length in 1..=longest {
            let position = walk.visit(start, length);
            if walk.states[position].count() > 0 {
                starts.push((length, position));
            }
        }
        Ok(Self { states: walk.states, starts })
    }

    /// Returns the possible lengths in ascending order.
    pub fn lengths(&self) -> impl Iterator<Item = usize> {
        self.starts.iter().map(|(length, _)| *length)
    }

    /// Returns whether no number matches.
    pub fn is_empty(&self) -> bool {
        self.starts.is_empty()
    }

    /// Returns the number of matching numbers with this length.
    pub fn count(&self, length: usize) -> u64 {
        self.start(length).map_or(0, State::count)
    }

    /// Samples a number of this length, or appends nothing if there are none.
    pub fn push(&self, random: &mut Random, length: usize, out: &mut AsciiBuffer) {
        if let Some(start) = self.start(length) {
            self.push_nth(random.below(start.count()), length, out);
        }
    }

    /// Appends the `nth` number of this length. `nth` must be less than [`count`](Self::count).
    pub fn push_nth(&self, mut nth: u64, length: usize, out: &mut AsciiBuffer) {
        let Some(mut state) = self.start(length) else { return };
        for _ in 0..length {
            // Count instead of branching, because the CPU couldn't predict the branches.
            let digit = state.up_to[..9].iter().filter(|sum| **sum <= nth).count();
            nth -= if digit == 0 { 0 } else { state.up_to[digit - 1] };
            out.push(b'0' + digit as u8);
            state = &self.states[state.next[digit] as usize];
        }
    }

    fn start(&self, length: usize) -> Option<&State> {
        let (_, start) = self.starts.iter().find(|(known, _)| *known == length)?;
        self.states.get(*start)
    }
}

type Dfa = dense::DFA<Vec<u32>>;

fn dfa(pattern: &str) -> Result<Option<Dfa>, PatternError> {
    if pattern.is_empty() {
        return Ok(None);
    }
    let config = dense::Config::new()
        .start_kind(StartKind::Anchored)
        // All alternatives are needed, not just the leftmost one.
        .match_kind(MatchKind::All);
    let built = dense::Builder::new()
        .configure(config)
        .syntax(syntax::Config::new().unicode(false).utf8(false))
        .build(pattern)
        .map_err(Box::new)?;
    Ok(Some(built))
}

/// One state per DFA. `None` if there is no pattern, or if the pattern can no longer match.
type Place = [Option<StateID>; PARTS];

/// Number of DFAs per pattern: one for `wanted`, three for `required`, and one for `unwanted`.
const PARTS: usize = 5;
const UNWANTED: usize = PARTS - 1;

/// Walks the DFAs in parallel and counts matching numbers.
#[derive(Default)]
struct Walk {
    dfas: [Option<Dfa>; PARTS],
    states: Vec<State>,
    seen: HashMap<(Place, usize), usize>,
}

impl Walk {
    /// Returns the place at which the walk starts.
    fn start(&self) -> Result<Place, PatternError> {
        let mut place = [None; PARTS];
        for (state, dfa) in place.iter_mut().zip(&self.dfas) {
            if let Some(dfa) = dfa {
                let start = dfa.universal_start_state(Anchored::Yes);
                *state = Some(start.ok_or(PatternError::Start)?);
            }
        }
        Ok(place)
    }

    /// Returns the index of the state for a place with `left` digits remaining.
    fn visit(&mut self, place: Place, left: usize) -> usize {
        if let Some(position) = self.seen.get(&(place, left)) {
            return *position;
        }
        let state = match left {
            0 if self.ends(place) => State::END,
            0 => State::default(),
            _ => self.follow(place, left),
        };
        self.states.push(state);
        let position = self.states.len() - 1;
        self.seen.insert((place, left), position);
        position
    }

    fn follow(&mut self, place: Place, left: usize) -> State {
        let mut state = State::default();
        let mut sum = 0;
        for digit in 0..10 {
            let next =
                std::array::from_fn(|part| step(&self.dfas[part], place[part], b'0' + digit as u8));
            if (0..UNWANTED).all(|part| self.dfas[part].is_none() || next[part].is_some()) {
                let position = self.visit(next, left - 1);
                state.next[digit] = position as u32;
                sum += self.states[position].count();
            }
            state.up_to[digit] = sum;
        }
        state
    }

    fn ends(&self, place: Place) -> bool {
        let matched = |part: usize| matches(&self.dfas[part], place[part]);
        (0..UNWANTED).all(|part| self.dfas[part].is_none() || matched(part)) && !matched(UNWANTED)
    }
}

/// Returns the state after a digit, or `None` if no number continues with it.
fn step(dfa: &Option<Dfa>, state: Option<StateID>, byte: u8) -> Option<StateID> {
    let (dfa, state) = (dfa.as_ref()?, state?);
    let next = dfa.next_state(state, byte);
    (!dfa.is_dead_state(next)).then_some(next)
}

/// Returns whether the input so far is a match. We have to look ahead, because DFAs report matches
/// with a delay of one step.
fn matches(dfa: &Option<Dfa>, state: Option<StateID>) -> bool {
    let (Some(dfa), Some(state)) = (dfa, state) else { return false };
    dfa.is_match_state(dfa.next_eoi_state(state))
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use super::*;
    use crate::model::seed::Seed;

    fn samples(pattern: Pattern<'_>, length: usize, count: usize) -> BTreeMap<String, u32> {
        let automaton = Automaton::compile(pattern, 15).unwrap();
        let mut random = Seed::parse("automaton").unwrap().random("test", "");
        let mut seen = BTreeMap::new();
        for _ in 0..count {
            let mut number = AsciiBuffer::new();
            automaton.push(&mut random, length, &mut number);
            *seen.entry(number.as_str().to_owned()).or_default() += 1;
        }
        seen
    }

    #[test]
    fn every_number_of_a_length_is_equally_likely() {
        // 1x, 12x and 7 are numbers with two, three and one digits, respectively. Some of them
        // match in two ways.
        let pattern = Pattern { wanted: r"1\d|12\d|1[2-5]|7", ..Pattern::default() };
        for length in [2, 3] {
            let seen = samples(pattern, length, 10_000);
            assert_eq!(seen.len(), 10);
            assert!(seen.values().all(|n| (850..1_150).contains(n)), "{seen:?}");
        }
        assert_eq!(samples(pattern, 1, 10), BTreeMap::from([("7".to_owned(), 10)]));
        assert_eq!(samples(pattern, 4, 10), BTreeMap::from([(String::new(), 10)]));
    }

    #[test]
    fn unwanted_numbers_are_never_drawn() {
        let unwanted = "1[0-8]|19[1-9]|15[0-9]";
        let pattern = Pattern { wanted: r"1\d\d?", unwanted, ..Pattern::default() };
        assert!(samples(pattern, 2, 100).into_keys().eq(["19"]));
        let seen = samples(pattern, 3, 20_000);
        assert!(seen.contains_key("190") && seen.contains_key("100"));
        assert!(!seen.contains_key("191") && !seen.contains_key("155"));
        assert_eq!(seen.len(), 100 - 9 - 10);
    }

    #[test]
    fn numbers_match_required_patterns_too() {
        let pattern = Pattern {
            wanted: r"\d{3}",
            required: [r"[0-4]\d\d|12", "", r"\d+"],
            unwanted: r"\d0\d",
        };
        assert_eq!(samples(pattern, 3, 20_000).len(), 5 * 90);
        assert!(Automaton::compile(pattern, 15).unwrap().lengths().eq([3]));
    }

    #[test]
    fn empty_pattern_has_no_numbers() {
        let empty = Pattern { unwanted: "1", ..Pattern::default() };
        assert!(Automaton::compile(empty, 15).unwrap().is_empty());
        let nothing = Pattern { wanted: "1", ..empty };
        assert!(Automaton::compile(nothing, 15).unwrap().is_empty());
    }
}
