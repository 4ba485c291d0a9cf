//! Strings that match a regular expression.

use regex_syntax::ast::parse::ParserBuilder;
use regex_syntax::ast::{AssertionKind, Ast, RepetitionKind, RepetitionRange, visit};
use regex_syntax::hir::translate::TranslatorBuilder;
use regex_syntax::hir::{Class, Hir, HirKind};

use super::class_costs::{ALL_CLASSES, CLASS, CLASSES, Costs};
use crate::model::random::Random;
use crate::model::records::cell::Cell;
use crate::model::records::fault::Faults;
use crate::model::records::field::{Make, Row};
use crate::model::records::members::Members;

/// Maximum length of the expression in bytes.
const LONGEST: usize = 500;
/// Maximum nesting depth of the expression.
const NESTED: u32 = 32;
/// Maximum length of a generated string in characters.
const LETTERS: u64 = 1_000;
/// Number of characters that cost as much as one short value.
const LETTERS_OF_A_COST: u64 = 64;
/// Maximum number of additional repetitions if the expression doesn't limit them.
const OPEN: u32 = 8;
/// Character classes with more than this many characters, such as `.` and `\d`, are reduced to
/// their visible ASCII characters, provided that they have any.
const LARGE: u64 = 200;

/// Rejects patterns that can match invalid UTF-8.
const NOT_TEXT: &str = "must match only valid UTF-8";
/// Rejects classes such as `[a&&b]`, the intersection of `[a]` and `[b]`.
const EMPTY_CLASS: &str = "has a character class that matches nothing, such as [a&&b]";

/// Part of an expression.
enum Node {
    Text(String),
    /// Character ranges, with the cumulative sums of their lengths.
    Class(Vec<(char, u64)>, u64),
    Repeat(Box<Node>, u32, u32),
    Sequence(Vec<Node>),
    OneOf(Vec<Node>),
}

impl Node {
    fn of(hir: &Hir) -> Result<Self, &'static str> {
        Ok(match hir.kind() {
            HirKind::Empty | HirKind::Look(_) => Self::Text(String::new()),
            HirKind::Literal(literal) => {
                Self::Text(String::from_utf8(literal.0.to_vec()).map_err(|_| NOT_TEXT)?)
            }
            HirKind::Class(Class::Unicode(class)) => {
                let mut ranges: Vec<_> =
                    class.ranges().iter().map(|r| (r.start(), r.end())).collect();
                let size = |(first, last): &(char, char)| (*first..=*last).size_hint().0 as u64;
                if ranges.iter().map(size).sum::<u64>() > LARGE {
                    let visible = |(first, last): &(char, char)| {
                        let (first, last) = ((*first).max(' '), (*last).min('~'));
                        (first <= last).then_some((first, last))
                    };
                    let visible: Vec<_> = ranges.iter().filter_map(visible).collect();
                    ranges = if visible.is_empty() { ranges } else { visible };
                }
                let mut sum = 0;
                let starts = ranges.iter().map(|range| {
                    sum += size(range);
                    (range.0, sum)
                });
                let starts: Vec<_> = starts.collect();
                if sum == 0 {
                    return Err(EMPTY_CLASS);
                }
                Self::Class(starts, sum)
            }
            // All empty classes are classes of bytes.
            HirKind::Class(Class::Bytes(class)) if class.ranges().is_empty() => {
                return Err(EMPTY_CLASS);
            }
            HirKind::Class(Class::Bytes(_)) => return Err(NOT_TEXT),
            HirKind::Repetition(repeat) => {
                let most = repeat.max.unwrap_or(repeat.min.saturating_add(OPEN));
                Self::Repeat(Box::new(Self::of(&repeat.sub)?), repeat.min, most)
            }
            HirKind::Capture(capture) => Self::of(&capture.sub)?,
            HirKind::Concat(parts) => {
                Self::Sequence(parts.iter().map(Self::of).collect::<Result<_, _>>()?)
            }
            HirKind::Alternation(parts) => {
                Self::OneOf(parts.iter().map(Self::of).collect::<Result<_, _>>()?)
            }
        })
    }

    /// Returns the maximum length in characters.
    fn longest(&self) -> u64 {
        match self {
            Self::Text(text) => text.chars().count() as u64,
            Self::Class(..) => 1,
            Self::Repeat(part, _, most) => part.longest().saturating_mul(u64::from(*most)),
            Self::Sequence(parts) => parts.iter().map(Self::longest).fold(0, u64::saturating_add),
            Self::OneOf(parts) => parts.iter().map(Self::longest).max().unwrap_or(0),
        }
    }

    /// Returns the minimum length in characters.
    fn shortest(&self) -> u64 {
        match self {
            Self::Text(text) => text.chars().count() as u64,
            Self::Class(..) => 1,
            Self::Repeat(part, least, _) => part.shortest().saturating_mul(u64::from(*least)),
            Self::Sequence(parts) => parts.iter().map(Self::shortest).fold(0, u64::saturating_add),
            Self::OneOf(parts) => parts.iter().map(Self::shortest).min().unwrap_or(0),
        }
    }

    /// Returns the number of matching strings, or `None` if different choices might yield the same
    /// string.
    fn space(&self) -> Option<u64> {
        match self {
            Self::Text(_) => Some(1),
            Self::Class(_, count) => Some(*count),
            Self::Repeat(part, least, most)
                if least == most && matches!(**part, Self::Class(..)) =>
            {
                part.space()?.checked_pow(*least)
            }
            Self::Sequence(parts) => {
                parts.iter().try_fold(1_u64, |product, part| product.checked_mul(part.space()?))
            }
            Self::Repeat(..) | Self::OneOf(_) => None,
        }
    }

    /// Returns whether a string can contain the character U+0000.
    fn can_have_nul(&self) -> bool {
        match self {
            Self::Text(text) => text.contains('\0'),
            Self::Class(ranges, _) => ranges.iter().any(|(first, _)| *first == '\0'),
            Self::Repeat(part, ..) => part.can_have_nul(),
            Self::Sequence(parts) | Self::OneOf(parts) => parts.iter().any(Self::can_have_nul),
        }
    }

    fn push(&self, random: &mut Random, out: &mut String) {
        match self {
            Self::Text(text) => out.push_str(text),
            Self::Class(ranges, count) => push_class(ranges, random.below(*count), out),
            Self::Repeat(part, least, most) => {
                for _ in 0..random.between(u64::from(*least), u64::from(*most)) {
                    part.push(random, out);
                }
            }
            Self::Sequence(parts) => parts.iter().for_each(|part| part.push(random, out)),
            Self::OneOf(parts) => random.pick(parts).push(random, out),
        }
    }

    /// Appends the `nth` string. `nth` must be less than [`space`](Self::space). Returns the rest
    /// of the number, to be used for the nodes that follow.
    fn push_nth(&self, nth: u64, out: &mut String) -> u64 {
        match self {
            Self::Text(text) => {
                out.push_str(text);
                nth
            }
            Self::Class(ranges, count) => {
                push_class(ranges, nth % count, out);
                nth / count
            }
            Self::Repeat(part, least, _) => (0..*least).fold(nth, |nth, _| part.push_nth(nth, out)),
            Self::Sequence(parts) => parts.iter().fold(nth, |nth, part| part.push_nth(nth, out)),
            Self::OneOf(_) => nth,
        }
    }
}

/// Appends the character at index `place` of a class.
fn push_class(ranges: &[(char, u64)], place: u64, out: &mut String) {
    let at = ranges.partition_point(|(_, sum)| *sum <= place);
    let before = at.checked_sub(1).map_or(0, |before| ranges[before].1);
    let (first, _) = ranges[at.min(ranges.len() - 1)];
    let mut code = u64::from(u32::from(first)) + (place - before);
    // Skip the surrogates, which don't count as part of a range.
    if u32::from(first) < 0xd800 && code >= 0xd800 {
        code += 0x800;
    }
    out.extend(u32::try_from(code).ok().and_then(char::from_u32));
}

struct Pattern {
    node: Node,
    space: Option<u64>,
}

impl Make for Pattern {
    fn write(&self, _: u64, random: &mut Random, _: &mut Row, cell: &mut Cell) {
        self.node.push(random, cell.begin());
    }

    fn space(&self) -> Option<u64> {
        self.space
    }

    fn write_nth(&self, nth: u64, _: &mut Row, cell: &mut Cell) {
        self.node.push_nth(nth, cell.begin());
    }

    fn more_cost(&self) -> u64 {
        self.node.longest() / LETTERS_OF_A_COST
    }
}

/// Returns the number of strings that match an expression, if it is known.
pub fn count(regex: &str) -> Option<u64> {
    parsed(regex, &mut 0).ok()?.space()
}

/// Returns whether strings that match an expression can contain the character U+0000. `classes` is
/// the cost of the character classes in all previous expressions.
pub fn can_have_nul(regex: &str, classes: &mut u64) -> bool {
    parsed(regex, classes).is_ok_and(|node| node.can_have_nul())
}

/// Returns the minimum and maximum length of strings that match an expression, if fields of the
/// type `pattern` support the expression.
pub fn lengths(regex: &str) -> Option<(u64, u64)> {
    let node = parsed(regex, &mut 0).ok()?;
    Some((node.shortest(), node.longest()))
}

/// If an expression just repeats a single character, returns the expression for that character, and
/// the minimum and maximum number of repetitions.
pub fn repeated(regex: &str) -> Option<(&str, u64, Option<u64>)> {
    let ast = ParserBuilder::new().nest_limit(NESTED).build().parse(regex).ok()?;
    let parts = match &ast {
        Ast::Concat(sequence) => sequence.asts.as_slice(),
        only => std::slice::from_ref(only),
    };
    let mut parts = parts.iter().filter(|part| !is_anchor(part));
    let (Some(Ast::Repetition(repetition)), None) = (parts.next(), parts.next()) else {
        return None;
    };
    let (least, most) = match &repetition.op.kind {
        RepetitionKind::ZeroOrOne => (0, Some(1)),
        RepetitionKind::ZeroOrMore => (0, None),
        RepetitionKind::OneOrMore => (1, None),
        RepetitionKind::Range(RepetitionRange::Exactly(count)) => (*count, Some(*count)),
        RepetitionKind::Range(RepetitionRange::AtLeast(least)) => (*least, None),
        RepetitionKind::Range(RepetitionRange::Bounded(least, most)) => (*least, Some(*most)),
    };
    let span = repetition.ast.span();
    let part = regex.get(span.start.offset..span.end.offset)?;
    let is_single = lengths(part) == Some((1, 1));
    is_single.then_some((part, least.into(), most.map(u64::from)))
}

fn is_anchor(part: &Ast) -> bool {
    use AssertionKind::{EndLine, EndText, StartLine, StartText};
    let Ast::Assertion(assertion) = part else { return false };
    matches!(assertion.kind, StartLine | StartText | EndLine | EndText)
}

/// Parses an expression. `classes` is the cost of the character classes in all previous
/// expressions. Fails with a description of the error.
fn parsed(text: &str, classes: &mut u64) -> Result<Node, String> {
    if text.len() > LONGEST {
        return Err(format!("must be at most {LONGEST} bytes long"));
    }
    let wrong = |error: String| format!("is wrong: {}", error.lines().last().unwrap_or_default());
    let ast = ParserBuilder::new().nest_limit(NESTED).build().parse(text);
    let ast = ast.map_err(|error| wrong(error.to_string()))?;
    // Classes are expanded and case-folded below. This takes a long time for large ones.
    let Ok(cost) = visit(&ast, Costs::default());
    if cost.plain > CLASSES * CLASS {
        return Err(format!("must use at most {CLASSES} Unicode classes, such as \\pL and \\w"));
    }
    *classes = classes.saturating_add(cost.full);
    if *classes > ALL_CLASSES * CLASS {
        let text = format!("is one too many: at most {ALL_CLASSES} Unicode classes in a schema");
        return Err(text);
    }
    let hir = TranslatorBuilder::new().build().translate(text, &ast);
    let node = Node::of(&hir.map_err(|error| wrong(error.to_string()))?)?;
    if node.longest() > LETTERS {
        return Err(format!("must generate strings of at most {LETTERS} characters"));
    }
    Ok(node)
}

/// Reads the type `pattern`: `regex`, which can't contain look-around.
pub fn patterns(
    members: &mut Members<'_>,
    classes: &mut u64,
    faults: &mut Faults,
) -> Option<Box<dyn Make>> {
    members.required("regex", faults)?;
    let text = members.text("regex", faults)?;
    match parsed(text, classes) {
        Ok(node) => {
            let space = node.space();
            Some(Box::new(Pattern { node, space }))
        }
        Err(why) => {
            faults.add(members.at("regex"), why);
            None
        }
    }
}
