//! The core of an expression: the expression without `.*` at its ends, without anchors, and unable to
//! match a NUL. Every text that matches contains it.

use regex_automata::meta::Regex;
use regex_syntax::hir::{
    Capture, Class, ClassBytes, ClassBytesRange, ClassUnicode, ClassUnicodeRange, Hir, HirKind,
    Repetition,
};

use crate::model::expression::compile;

/// What every match contains.
pub(super) struct Core {
    /// `None` when it may be empty or is too big: then every row is judged.
    pub(super) regex: Option<Regex>,
    /// Whether a text matches the whole expression as soon as it contains the core.
    pub(super) decides: bool,
}

impl Core {
    /// The core of an expression.
    pub(super) fn of(expression: &Hir) -> Self {
        let stripped = Stripped::of(expression);
        let decides = stripped.both_ends && stripped.hir.properties().look_set().is_empty();
        let core = within_a_row(&stripped.hir);
        let never_empty = core.properties().minimum_len().is_none_or(|length| length > 0);
        let regex = never_empty.then(|| compile(&core).ok()).flatten();
        Self { decides: decides && regex.is_some(), regex }
    }
}

/// An expression without the `.*` at its ends.
struct Stripped {
    hir: Hir,
    /// Whether there was one at both ends, in every branch.
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

/// Whether a part is `.*`: any number of any character.
pub(super) fn is_anything(hir: &Hir) -> bool {
    let HirKind::Repetition(Repetition { min: 0, max: None, sub, .. }) = hir.kind() else {
        return false;
    };
    let HirKind::Class(Class::Unicode(class)) = sub.kind() else {
        return false;
    };
    class.ranges() == [ClassUnicodeRange::new('\0', char::MAX)]
}

/// The expression without anchors and without a way to match a NUL.
pub(super) fn within_a_row(hir: &Hir) -> Hir {
    match hir.kind() {
        HirKind::Empty | HirKind::Look(_) => Hir::empty(),
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
        HirKind::Repetition(repetition) => Hir::repetition(Repetition {
            sub: Box::new(within_a_row(&repetition.sub)),
            ..repetition.clone()
        }),
        HirKind::Capture(Capture { sub, .. }) => within_a_row(sub),
        HirKind::Concat(parts) => Hir::concat(parts.iter().map(within_a_row).collect()),
        HirKind::Alternation(branches) => {
            Hir::alternation(branches.iter().map(within_a_row).collect())
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
    fn cores(#[case] text: &str, #[case] searchable: bool, #[case] decides: bool) {
        let core = Core::of(Expression::parse(text, false).unwrap().hir());
        assert_eq!((core.regex.is_some(), core.decides), (searchable, decides), "{text}");
    }

    #[test]
    fn a_core_never_crosses_rows() {
        for text in ["a[^x]b", "a.b", r"a\x00b", r"a\Wb", "a(?s:.)+b"] {
            let core = Core::of(Expression::parse(text, false).unwrap().hir());
            let crosses = core.regex.is_some_and(|regex| regex.is_match("a\0b"));
            assert!(!crosses, "{text}");
        }
    }
}
