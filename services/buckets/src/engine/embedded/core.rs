//! Finds the core of an expression: the expression without a leading and trailing `.*`, without
//! anchors, and without anything that could match a NUL. Every matching string contains a match of
//! the core.

use regex_automata::meta::Regex;
use regex_syntax::hir::{
    Capture, Class, ClassBytes, ClassBytesRange, ClassUnicode, ClassUnicodeRange, Hir, HirKind,
    Repetition,
};

use crate::model::expression::compile;

/// The core of an expression.
pub(super) struct Core {
    /// `None` if the core can be empty or is too large, which means that every row has to be
    /// checked.
    pub(super) regex: Option<Regex>,
    /// Set if a core match is always an expression match as well.
    pub(super) decides: bool,
}

impl Core {
    /// Computes the core.
    pub(super) fn of(expression: &Hir) -> Self {
        let stripped = Stripped::of(expression);
        let decides = stripped.both_ends && stripped.hir.properties().look_set().is_empty();
        let core = within_a_row(&stripped.hir);
        let never_empty = core.properties().minimum_len().is_some_and(|length| length > 0);
        let regex = never_empty.then(|| compile(&core).ok()).flatten();
        Self { decides: decides && regex.is_some(), regex }
    }
}

/// An expression after removing `.*` from both ends.
struct Stripped {
    hir: Hir,
    /// Whether every branch had a `.*` at both ends.
    both_ends: bool,
}

impl Stripped {
    fn of(hir: &Hir) -> Self {
        match hir.kind() {
            HirKind::Capture(capture) => Self::of(&capture.sub),
            HirKind::Alternation(branches) => {
                let branches: Vec<Self> = branches.iter().map(Self::of).collect();
                Self {
                    both_ends: branches.iter().all(|branch| branch.both_ends),
                    hir: Hir::alternation(branches.into_iter().map(|branch| branch.hir).collect()),
                }
            }
            HirKind::Concat(parts) => {
                let front = parts.iter().take_while(|part| is_anything(part)).count();
                let rest = &parts[front..];
                let back = rest.iter().rev().take_while(|part| is_anything(part)).count();
                let core = rest[..rest.len() - back].to_vec();
                Self { hir: Hir::concat(core), both_ends: front > 0 && back > 0 }
            }
            _ => Self { hir: hir.clone(), both_ends: false },
        }
    }
}

/// Returns `true` for a `.*` that matches every character a row can contain.
pub(super) fn is_anything(hir: &Hir) -> bool {
    let HirKind::Repetition(Repetition { min: 0, max: None, sub, .. }) = hir.kind() else {
        return false;
    };
    let HirKind::Class(Class::Unicode(class)) = sub.kind() else {
        return false;
    };
    matches!(class.ranges(), [all] if all.start() <= '\u{1}' && all.end() == char::MAX)
}

/// Returns `true` if an expression can't match anything, not even an empty string.
pub(super) fn is_impossible(hir: &Hir) -> bool {
    matches!(hir.kind(), HirKind::Class(class) if class.is_empty())
}

/// Rewrites an expression so that it doesn't match NULs, which rows never contain.
///
/// Branches that can no longer match are removed, because they would make an alternation's minimum
/// length wrong, and because the trigram index uses NUL to mark both ends of a name.
pub(super) fn of_rows(hir: &Hir) -> Hir {
    restricted(hir, true)
}

/// Like [`of_rows`], but also removes anchors.
pub(super) fn within_a_row(hir: &Hir) -> Hir {
    restricted(hir, false)
}

fn restricted(hir: &Hir, anchors: bool) -> Hir {
    let all = |parts: &[Hir]| parts.iter().map(|part| restricted(part, anchors)).collect();
    match hir.kind() {
        HirKind::Empty => Hir::empty(),
        HirKind::Look(look) if anchors => Hir::look(*look),
        HirKind::Look(_) => Hir::empty(),
        HirKind::Literal(literal) if literal.0.contains(&0) => Hir::fail(),
        HirKind::Literal(literal) => Hir::literal(literal.0.clone()),
        HirKind::Class(Class::Unicode(class)) => {
            let mut class = class.clone();
            class.difference(&ClassUnicode::new([ClassUnicodeRange::new('\0', '\0')]));
            Hir::class(Class::Unicode(class))
        }
        HirKind::Class(Class::Bytes(class)) => {
            let mut class = class.clone();
            class.difference(&ClassBytes::new([ClassBytesRange::new(0, 0)]));
            Hir::class(Class::Bytes(class))
        }
        HirKind::Repetition(repetition) => {
            let sub = restricted(&repetition.sub, anchors);
            match (is_impossible(&sub), repetition.min) {
                (true, 0) => Hir::empty(),
                (true, _) => Hir::fail(),
                _ => Hir::repetition(Repetition { sub: Box::new(sub), ..repetition.clone() }),
            }
        }
        HirKind::Capture(Capture { sub, .. }) => restricted(sub, anchors),
        HirKind::Concat(parts) => {
            let parts: Vec<Hir> = all(parts);
            if parts.iter().any(is_impossible) { Hir::fail() } else { Hir::concat(parts) }
        }
        HirKind::Alternation(branches) => {
            let mut branches: Vec<Hir> = all(branches);
            branches.retain(|branch| !is_impossible(branch));
            Hir::alternation(branches)
        }
    }
}

#[cfg(test)]
mod tests {
    use rstest::rstest;

    use super::*;
    use crate::model::expression::Expression;

    #[rstest]
    #[case(".*backup.*", true, true)]
    #[case(".*(?:sql|bak).*", true, true)]
    #[case("(.*a.*|.*b.*)", true, false)]
    #[case(".*a|b.*", true, false)]
    #[case(".*^a.*", true, false)]
    #[case("backup.*", true, false)]
    #[case(".*", false, false)]
    #[case("a?", false, false)]
    #[case(".*a*.*", false, false)]
    #[case(r"|\x00", false, false)]
    #[case(r"a?|.*?\x00", false, false)]
    #[case("|[a&&b]", false, false)]
    #[case(r"(?:)|[^\s\S]", false, false)]
    #[case("[a&&b]*", false, false)]
    #[case("[a&&b]", false, false)]
    #[case(r"ab|\x00", true, false)]
    #[case(r"[^\x00]*ab.*", true, true)]
    fn cores(#[case] text: &str, #[case] searchable: bool, #[case] decides: bool) {
        let core = Core::of(Expression::parse(text, false).unwrap().hir());
        assert_eq!((core.regex.is_some(), core.decides), (searchable, decides), "{text}");
    }

    #[test]
    fn core_never_crosses_rows() {
        for text in ["a[^x]b", "a.b", r"a\x00b", r"a\Wb", "a(?s:.)+b", r"a[\x00-\x1f]?b|ab"] {
            let core = Core::of(Expression::parse(text, false).unwrap().hir());
            let crosses = core.regex.is_some_and(|regex| regex.is_match("a\0b"));
            assert!(!crosses, "{text}");
        }
    }
}
