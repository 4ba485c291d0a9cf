//! Analyses how an expression starts and ends.

use regex_syntax::ast::{AssertionKind, Ast, RepetitionKind, RepetitionOp};

use super::source::Source;

/// How an expression starts and ends.
pub(super) struct Ends {
    /// Whether this is a top-level alternation, or has flags that would also apply to anything
    /// appended.
    pub(super) needs_group: bool,
    /// Whether the expression starts or ends with `.*`, or at least one branch of an alternation
    /// does.
    pub(super) reach_anywhere: bool,
    begins_fixed: bool,
    ends_fixed: bool,
}

impl Ends {
    /// Analyses an expression. Returns `None` if it can't be parsed.
    pub(super) fn of(text: &str) -> Option<Self> {
        let ast = Source::of(text).ast()?;
        Some(match &ast {
            Ast::Alternation(alternation) => Self {
                needs_group: true,
                reach_anywhere: alternation.asts.iter().any(reaches_anywhere),
                // Any anchors belong to its branches.
                begins_fixed: false,
                ends_fixed: false,
            },
            single => Self {
                needs_group: parts(single).iter().any(is_flags),
                reach_anywhere: reaches_anywhere(single),
                begins_fixed: is_assertion(first(single), &AssertionKind::StartLine),
                ends_fixed: is_assertion(last(single), &AssertionKind::EndLine),
            },
        })
    }

    /// Strips anchors that apply to the whole expression.
    pub(super) fn without_anchors<'a>(&self, text: &'a str) -> &'a str {
        // A lone `^` is also the last part, but it doesn't anchor the end.
        let text = if self.begins_fixed { text.strip_prefix('^').unwrap_or(text) } else { text };
        if self.ends_fixed { text.strip_suffix('$').unwrap_or(text) } else { text }
    }
}

fn parts(ast: &Ast) -> &[Ast] {
    match ast {
        Ast::Concat(concat) => &concat.asts,
        single => std::slice::from_ref(single),
    }
}

fn first(ast: &Ast) -> Option<&Ast> {
    parts(ast).first()
}

fn last(ast: &Ast) -> Option<&Ast> {
    parts(ast).last()
}

fn is_flags(part: &Ast) -> bool {
    matches!(part, Ast::Flags(_))
}

fn reaches_anywhere(ast: &Ast) -> bool {
    let begins_with = parts(ast).iter().find(|part| !is_flags(part));
    is_anything(begins_with) || is_anything(last(ast))
}

fn is_anything(part: Option<&Ast>) -> bool {
    let Some(Ast::Repetition(repetition)) = part else {
        return false;
    };
    let RepetitionOp { kind, .. } = &repetition.op;
    *kind == RepetitionKind::ZeroOrMore && matches!(*repetition.ast, Ast::Dot(_))
}

fn is_assertion(part: Option<&Ast>, kind: &AssertionKind) -> bool {
    matches!(part, Some(Ast::Assertion(assertion)) if assertion.kind == *kind)
}
