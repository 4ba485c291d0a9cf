//! Derives trigram conditions for strings that aren't in an index.

use std::collections::BTreeSet;

use regex_syntax::hir::Hir;

use super::need::Need;
use super::part::Part;
use super::symbols::{END, symbol};
use super::tokenizer::LENGTH;

/// Maximum number of trigrams in a condition.
const MOST_GRAMS: usize = 600;

/// Three consecutive symbols of a string.
pub type Gram = [u8; LENGTH];

/// A condition on a string's trigrams that holds for every match of an expression.
#[derive(Clone, Debug)]
pub struct GramCondition {
    need: Need,
    keys: Vec<Gram>,
}

impl GramCondition {
    /// Derives the condition for an expression that must match whole strings. Returns `None` if no
    /// set of trigrams covers all matches, or if the condition would be too large.
    pub fn of(hir: &Hir) -> Option<Self> {
        let end = || Part::exactly([vec![END]].into(), true);
        let need = end().then(Part::of(hir)).then(end()).open().need;
        if need.size() > MOST_GRAMS {
            return None;
        }
        let keys = keys(&need)?;
        Some(Self { need, keys: keys.into_iter().collect() })
    }

    /// Returns the trigrams to look up strings by. Every matching string contains at least one of
    /// them.
    pub fn keys(&self) -> &[Gram] {
        &self.keys
    }

    /// Returns `true` if a string with these trigrams could match. `grams` must be sorted.
    pub fn holds(&self, grams: &[Gram]) -> bool {
        holds(&self.need, grams)
    }
}

fn holds(need: &Need, grams: &[Gram]) -> bool {
    match need {
        Need::Nothing => true,
        Need::Gram(gram) => grams.binary_search(gram).is_ok(),
        Need::All(needs) => needs.iter().all(|need| holds(need, grams)),
        Need::Any(needs) => needs.iter().any(|need| holds(need, grams)),
    }
}

/// Finds the smallest set of trigrams such that every matching string contains at least one of
/// them.
fn keys(need: &Need) -> Option<BTreeSet<Gram>> {
    match need {
        Need::Nothing => None,
        Need::Gram(gram) => Some([*gram].into()),
        Need::All(needs) => {
            needs.iter().filter_map(keys).min_by_key(|keys| (keys.len(), ends(keys)))
        }
        Need::Any(needs) => {
            let all: Option<Vec<_>> = needs.iter().map(keys).collect();
            Some(all?.into_iter().flatten().collect())
        }
    }
}

/// Counts trigrams from the start or end of a string, which are less useful because many strings
/// share them.
fn ends(keys: &BTreeSet<Gram>) -> usize {
    keys.iter().filter(|gram| gram.contains(&END)).count()
}

/// Replaces `grams` with the sorted trigrams of a string.
pub fn grams_of(text: &str, symbols: &mut Vec<u8>, grams: &mut Vec<Gram>) {
    symbols.clear();
    symbols.push(END);
    symbols.extend(text.chars().map(symbol));
    symbols.push(END);
    grams.clear();
    grams.extend(symbols.windows(LENGTH).map(|window| [window[0], window[1], window[2]]));
    grams.sort_unstable();
    grams.dedup();
}

#[cfg(test)]
mod tests {
    use rstest::rstest;

    use super::*;
    use crate::model::Expression;

    #[rstest]
    #[case(r".*backup.*\.sql", true)]
    #[case(r".*\.(env|pem)", true)]
    #[case(".*[0-9]{4}.*", false)]
    #[case(".*(backup|x).*", false)]
    #[case(".*", false)]
    #[case("abc", true)]
    fn expressions_with_a_literal_have_a_condition(#[case] text: &str, #[case] has: bool) {
        let expression = Expression::parse(text, false).unwrap();
        assert_eq!(GramCondition::of(expression.hir()).is_some(), has, "{text}");
    }

    proptest::proptest! {
        #[test]
        fn every_matching_name_satisfies_the_condition_and_has_a_key(name in "[abAB.ſé]{0,8}", part in "[ab.]{3,4}") {
            let expression = Expression::parse(&format!(".*{part}.*"), false).unwrap();
            let (mut symbols, mut grams) = (Vec::new(), Vec::new());
            grams_of(&name, &mut symbols, &mut grams);
            if let Some(condition) = GramCondition::of(expression.hir())
                && expression.matches(&name)
            {
                proptest::prop_assert!(condition.holds(&grams), "{} {}", part, name);
                let has_key = condition.keys().iter().any(|key| grams.contains(key));
                proptest::prop_assert!(has_key, "{} {}", part, name);
            }
        }
    }
}
