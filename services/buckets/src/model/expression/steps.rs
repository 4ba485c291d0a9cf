//! Matches strings in small steps, so that a search can be interrupted.

use regex_automata::nfa::thompson::{Compiler, Config, NFA, State, WhichCaptures};
use regex_automata::util::primitives::StateID;
use regex_syntax::hir::Hir;

use super::error::ExpressionError;

/// Number of states to visit between checks, which takes less than a millisecond.
const VISITS: u32 = 1 << 16;

/// Compiles an anchored expression.
pub(super) fn compile(hir: &Hir) -> Result<NFA, ExpressionError> {
    let config = Config::new().which_captures(WhichCaptures::None);
    let built = Compiler::new().configure(config).build_from_hir(hir);
    built.map_err(|_| ExpressionError::TooBig)
}

/// Matches a string against an anchored expression and calls `check` at intervals.
///
/// # Errors
/// Returns any error from `check`.
pub(super) fn matches<E>(
    nfa: &NFA,
    text: &[u8],
    mut check: impl FnMut() -> Result<(), E>,
) -> Result<bool, E> {
    let mut now = States::new(nfa);
    let mut next = States::new(nfa);
    let mut visits = 0;
    now.add(nfa.start_anchored());
    for at in 0..=text.len() {
        let byte = text.get(at).copied();
        let mut place = 0;
        // Epsilon states append their successors to the list.
        while let Some(&state) = now.list.get(place) {
            place += 1;
            visits += 1;
            if visits == VISITS {
                visits = 0;
                check()?;
            }
            let taken = match (nfa.state(state), byte) {
                (State::Match { .. }, _) => return Ok(true),
                (State::Look { look, next }, _) => {
                    if nfa.look_matcher().matches(*look, text, at) {
                        now.add(*next);
                    }
                    None
                }
                (State::Union { alternates }, _) => {
                    alternates.iter().for_each(|&state| now.add(state));
                    None
                }
                (State::BinaryUnion { alt1, alt2 }, _) => {
                    now.add(*alt1);
                    now.add(*alt2);
                    None
                }
                (State::Capture { next, .. }, _) => {
                    now.add(*next);
                    None
                }
                (State::ByteRange { trans }, Some(byte)) => {
                    trans.matches_byte(byte).then_some(trans.next)
                }
                (State::Sparse(all), Some(byte)) => all.matches_byte(byte),
                (State::Dense(all), Some(byte)) => all.matches_byte(byte),
                (State::Fail | State::ByteRange { .. } | State::Sparse(_) | State::Dense(_), _) => {
                    None
                }
            };
            taken.into_iter().for_each(|state| next.add(state));
        }
        std::mem::swap(&mut now, &mut next);
        next.clear();
    }
    Ok(false)
}

/// A set of states that remembers the order of insertion.
struct States {
    list: Vec<StateID>,
    /// For each state, the generation in which it was last added.
    added: Vec<u32>,
    generation: u32,
}

impl States {
    fn new(nfa: &NFA) -> Self {
        Self { list: Vec::new(), added: vec![0; nfa.states().len()], generation: 1 }
    }

    fn add(&mut self, state: StateID) {
        let added = &mut self.added[state.as_usize()];
        if *added != self.generation {
            *added = self.generation;
            self.list.push(state);
        }
    }

    fn clear(&mut self) {
        self.list.clear();
        self.generation += 1;
    }
}
