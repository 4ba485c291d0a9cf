//! Detects expressions that are just literals, possibly with `.*` at either end, because comparing
//! bytes is then several times faster than running a regex.

use regex_syntax::hir::{Hir, HirKind};

use super::super::core::is_anything;
use super::need::Texts;
use super::part::Part;

/// Maximum number of literals. If there are more, the regex is used.
const MOST_TEXTS: usize = 3;

/// A set of literals, encoded as symbols. A match is one of the literals, plus whatever `.*`
/// matches at the ends.
pub(super) struct Framed {
    /// Whether there's a `.*` in front.
    pub(super) front: bool,
    pub(super) texts: Texts,
    /// Whether there's a `.*` at the end.
    pub(super) back: bool,
}

impl Framed {
    /// Returns `None` if an expression consists of anything other than literals.
    pub(super) fn of(hir: &Hir) -> Option<Self> {
        match hir.kind() {
            HirKind::Capture(capture) => Self::of(&capture.sub),
            HirKind::Concat(parts) => {
                let front = parts.iter().take_while(|part| is_anything(part)).count();
                let rest = &parts[front..];
                let back = rest.iter().rev().take_while(|part| is_anything(part)).count();
                let middle = Part::of(&Hir::concat(rest[..rest.len() - back].to_vec()));
                let texts = middle.texts.filter(|_| middle.faithful)?;
                Some(Self { front: front > 0, texts, back: back > 0 })
            }
            _ => None,
        }
    }
}

/// Lower-case ASCII literals to compare with. This is only conclusive for ASCII names, because
/// other names can contain characters that match ASCII letters when case is ignored.
pub(in super::super) struct Comparison {
    front: bool,
    texts: Vec<Vec<u8>>,
    back: bool,
}

impl Comparison {
    /// Returns `None` if the expression isn't just a few literals.
    pub(in super::super) fn of(hir: &Hir) -> Option<Self> {
        let Framed { front, texts, back } = Framed::of(hir)?;
        let few = texts.len() <= MOST_TEXTS && texts.iter().all(|text| !text.is_empty());
        few.then(|| Self { front, texts: texts.into_iter().collect(), back })
    }

    /// Returns the literal if there is only one and it can be anywhere in a name.
    pub(in super::super) fn anywhere(&self) -> Option<&[u8]> {
        match self.texts.as_slice() {
            [text] if self.front && self.back => Some(text),
            _ => None,
        }
    }

    /// Matches an ASCII name.
    pub(in super::super) fn matches(&self, name: &[u8]) -> bool {
        self.texts.iter().any(|text| {
            let Some(spare) = name.len().checked_sub(text.len()) else { return false };
            match (self.front, self.back) {
                (true, true) => contains(name, text),
                (false, true) => name[..text.len()].eq_ignore_ascii_case(text),
                (true, false) => name[spare..].eq_ignore_ascii_case(text),
                (false, false) => name.eq_ignore_ascii_case(text),
            }
        })
    }
}

/// Case-insensitive substring search. `text` must be lower-case and not empty.
fn contains(name: &[u8], text: &[u8]) -> bool {
    let Some((&first, rest)) = text.split_first() else { return true };
    let mut places = memchr::memchr2_iter(first, first.to_ascii_uppercase(), name);
    places.any(|at| {
        name.get(at + 1..at + text.len()).is_some_and(|part| part.eq_ignore_ascii_case(rest))
    })
}

#[cfg(test)]
mod tests {
    use rstest::rstest;

    use super::*;
    use crate::model::expression::Expression;

    #[rstest]
    #[case(".*rare.*", "rare xRAREx Rarex xrare")]
    #[case("rare.*", "rare Rarex")]
    #[case(".*rare", "rare xrare")]
    #[case("(ra)(re)", "rare")]
    #[case(".*(gz|rare).*", "rare xRAREx Rarex xrare GZ")]
    fn texts_decide_about_ascii_names(#[case] text: &str, #[case] expected: &str) {
        let expression = Expression::parse(text, false).unwrap();
        let comparison = Comparison::of(expression.hir()).unwrap();
        for name in ["rare", "xRAREx", "Rarex", "xrare", "ra", "GZ", "", "r are"] {
            let is_expected = expected.split(' ').any(|other| other == name);
            assert_eq!(comparison.matches(name.as_bytes()), is_expected, "{text} {name}");
            assert_eq!(expression.matches(name), is_expected, "{text} {name}");
        }
    }

    #[rstest]
    #[case("ra.e.*")]
    #[case(".*rare.?")]
    #[case("rare|gz")]
    #[case(r"\brare.*")]
    #[case("(?-i:rare).*")]
    #[case("rar\u{e9}.*")]
    #[case(".*")]
    fn other_expressions_are_not_compared(#[case] text: &str) {
        let expression = Expression::parse(text, false).unwrap();
        assert!(Comparison::of(expression.hir()).is_none(), "{text}");
    }
}
