//! Number formats (forms): regular expressions that we can both match against and sample from.
//!
//! Alternatives are sampled in proportion to the number of strings they match, unless they are
//! groups with weights. For example, one in ten samples of `(?<w9>\d)|(?<w1>[XYZ])` starts with a
//! letter.

use std::collections::BTreeSet;

use regex_automata::meta::Regex;
use regex_syntax::hir::{Class, Hir, HirKind};

use crate::model::random::Random;

/// An error while compiling a form. A test compiles them all.
#[derive(Debug, thiserror::Error)]
pub enum FormError {
    /// The form isn't a valid regular expression.
    #[error(transparent)]
    Parse(#[from] Box<regex_syntax::Error>),
    /// The regular expression can't be compiled.
    #[error(transparent)]
    Build(#[from] Box<regex_automata::meta::BuildError>),
}

/// A compiled form.
pub struct Form {
    regex: Regex,
    lengths: BTreeSet<usize>,
    sample: Node,
    endings: Vec<u8>,
}

impl Form {
    /// Compiles a form. If `narrow` is given, numbers are sampled from that form instead.
    pub fn new(form: &str, narrow: Option<&str>) -> Result<Self, FormError> {
        let parse = |text: &str| {
            let ascii = text.replace(r"\d", "[0-9]");
            regex_syntax::parse(&ascii).map_err(Box::new)
        };
        let whole = format!(r"\A(?:{})\z", form.replace(r"\d", "[0-9]"));
        let regex = Regex::new(&whole).map_err(Box::new)?;
        let lengths = lengths(&parse(form)?);
        let sampled = parse(narrow.unwrap_or(form))?;
        let mut endings = Vec::new();
        push_endings(&sampled, &mut endings);
        Ok(Self { regex, lengths, sample: Node::new(&sampled), endings })
    }

    /// Returns whether the form matches the entire text.
    pub fn matches(&self, text: &str) -> bool {
        self.regex.is_match(text)
    }

    /// Returns whether the form matches any string of this length.
    pub fn has_length(&self, length: usize) -> bool {
        self.lengths.contains(&length)
    }

    /// Returns the ASCII characters that samples can end with.
    pub fn endings(&self) -> &[u8] {
        &self.endings
    }

    /// Samples a matching string.
    pub fn sample(&self, random: &mut Random) -> String {
        let mut out = String::new();
        self.sample.push(random, &mut out);
        out
    }
}

/// Returns the lengths that matching strings can have.
fn lengths(hir: &Hir) -> BTreeSet<usize> {
    match hir.kind() {
        HirKind::Empty | HirKind::Look(_) => BTreeSet::from([0]),
        HirKind::Literal(literal) => {
            BTreeSet::from([String::from_utf8_lossy(&literal.0).chars().count()])
        }
        HirKind::Class(_) => BTreeSet::from([1]),
        HirKind::Repetition(repetition) => {
            let (least, most) = (repetition.min, repetition.max.unwrap_or(repetition.min));
            let once = lengths(&repetition.sub);
            let longer = |sums: &BTreeSet<usize>| Some(sums_of(sums, &once));
            let times = std::iter::successors(Some(BTreeSet::from([0])), longer);
            times.take(most as usize + 1).skip(least as usize).flatten().collect()
        }
        HirKind::Capture(capture) => lengths(&capture.sub),
        HirKind::Concat(parts) => {
            parts.iter().fold(BTreeSet::from([0]), |sums, part| sums_of(&sums, &lengths(part)))
        }
        HirKind::Alternation(choices) => choices.iter().flat_map(lengths).collect(),
    }
}

fn sums_of(one: &BTreeSet<usize>, other: &BTreeSet<usize>) -> BTreeSet<usize> {
    one.iter().flat_map(|a| other.iter().map(move |b| a + b)).collect()
}

/// Collects the possible last characters, including those before an optional suffix.
fn push_endings(hir: &Hir, endings: &mut Vec<u8>) {
    match hir.kind() {
        HirKind::Empty | HirKind::Look(_) => {}
        HirKind::Literal(literal) => {
            endings.extend(literal.0.last().filter(|byte| byte.is_ascii()))
        }
        HirKind::Class(class) => {
            let ranges = ranges(class).into_iter();
            endings.extend(ranges.flat_map(|(first, last)| first..=last).filter_map(ascii));
        }
        HirKind::Repetition(repetition) => push_endings(&repetition.sub, endings),
        HirKind::Capture(capture) => push_endings(&capture.sub, endings),
        HirKind::Concat(parts) => {
            for part in parts.iter().rev() {
                push_endings(part, endings);
                if part.properties().minimum_len().is_some_and(|least| least > 0) {
                    break;
                }
            }
        }
        HirKind::Alternation(choices) => choices.iter().for_each(|c| push_endings(c, endings)),
    }
    endings.sort_unstable();
    endings.dedup();
}

fn ascii(character: u32) -> Option<u8> {
    u8::try_from(character).ok().filter(u8::is_ascii)
}

/// Part of a form, prepared for sampling.
enum Node {
    Text(String),
    /// A character from any of these inclusive ranges.
    Class(Vec<(u32, u32)>),
    /// A repeated node, with the minimum and maximum number of repetitions.
    Repeated(Box<Node>, u64, u64),
    Sequence(Vec<Node>),
    /// Weighted alternatives.
    Choice(Vec<(Node, u64)>),
}

impl Node {
    fn new(hir: &Hir) -> Self {
        match hir.kind() {
            HirKind::Empty | HirKind::Look(_) => Self::Text(String::new()),
            HirKind::Literal(literal) => Self::Text(String::from_utf8_lossy(&literal.0).into()),
            HirKind::Class(class) => Self::Class(ranges(class)),
            HirKind::Repetition(repetition) => {
                let most = repetition.max.unwrap_or(repetition.min);
                let part = Box::new(Self::new(&repetition.sub));
                Self::Repeated(part, repetition.min.into(), most.into())
            }
            HirKind::Capture(capture) => Self::new(&capture.sub),
            HirKind::Concat(parts) => Self::Sequence(parts.iter().map(Self::new).collect()),
            HirKind::Alternation(choices) => {
                let nodes = choices.iter().map(Self::new);
                Self::Choice(nodes.zip(weights(choices)).collect())
            }
        }
    }

    fn push(&self, random: &mut Random, out: &mut String) {
        match self {
            Self::Text(text) => out.push_str(text),
            Self::Class(ranges) => out.extend(character(ranges, random)),
            Self::Repeated(part, least, most) => {
                (0..random.between(*least, *most)).for_each(|_| part.push(random, out));
            }
            Self::Sequence(parts) => parts.iter().for_each(|part| part.push(random, out)),
            Self::Choice(choices) => {
                let mut left = random.below(choices.iter().map(|(_, weight)| weight).sum());
                for (node, weight) in choices {
                    match left.checked_sub(*weight) {
                        Some(rest) => left = rest,
                        None => return node.push(random, out),
                    }
                }
            }
        }
    }
}

/// Returns the weights of the alternatives. They come from group names (`w` and a number), or else
/// from the number of strings that each alternative matches, and are scaled so that their sum is
/// below 2^62.
fn weights(choices: &[Hir]) -> Vec<u64> {
    let named = |hir: &Hir| match hir.kind() {
        HirKind::Capture(capture) => {
            let digits = capture.name.as_deref()?.strip_prefix('w')?;
            digits.trim_end_matches(|c: char| !c.is_ascii_digit()).parse().ok()
        }
        _ => None,
    };
    let named: Vec<u64> = choices.iter().filter_map(named).collect();
    if named.len() == choices.len() {
        return named;
    }
    let mut counts: Vec<u128> = choices.iter().map(texts).collect();
    while counts.iter().fold(0_u128, |sum, count| sum.saturating_add(*count)) >= 1 << 62 {
        counts.iter_mut().for_each(|count| *count = (*count >> 1).max(1));
    }
    counts.into_iter().map(|count| count as u64).collect()
}

/// Returns the number of matching strings, capped at 2^100.
fn texts(hir: &Hir) -> u128 {
    const MOST: u128 = 1 << 100;
    let count = match hir.kind() {
        HirKind::Empty | HirKind::Look(_) | HirKind::Literal(_) => 1,
        HirKind::Class(class) => {
            ranges(class).iter().map(|(first, last)| u128::from(last - first + 1)).sum()
        }
        HirKind::Repetition(repetition) => {
            let once = texts(&repetition.sub);
            let most = repetition.max.unwrap_or(repetition.min);
            let times = repetition.min..=most;
            times.fold(0, |sum: u128, n| sum.saturating_add(once.saturating_pow(n)))
        }
        HirKind::Capture(capture) => texts(&capture.sub),
        HirKind::Concat(parts) => {
            parts.iter().fold(1, |product: u128, part| product.saturating_mul(texts(part)))
        }
        HirKind::Alternation(choices) => choices.iter().map(texts).sum(),
    };
    count.min(MOST)
}

/// Returns a character class as inclusive ranges.
fn ranges(class: &Class) -> Vec<(u32, u32)> {
    match class {
        Class::Unicode(class) => {
            class.ranges().iter().map(|range| (range.start() as u32, range.end() as u32)).collect()
        }
        Class::Bytes(class) => class
            .ranges()
            .iter()
            .map(|range| (u32::from(range.start()), u32::from(range.end())))
            .collect(),
    }
}

/// Samples a character uniformly from the ranges.
fn character(ranges: &[(u32, u32)], random: &mut Random) -> Option<char> {
    let total: u32 = ranges.iter().map(|(first, last)| last - first + 1).sum();
    let mut nth = random.below(u64::from(total)) as u32;
    for (first, last) in ranges {
        let width = last - first + 1;
        if nth < width {
            return char::from_u32(first + nth);
        }
        nth -= width;
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn form_has_exactly_the_lengths_that_it_matches() {
        for (form, expected) in [
            (r"\d{15}|\d{20}", &[15, 20][..]),
            (r"\d{7}([012][A-Z]\d)?|\d{9}([012][A-Z]\d)?", &[7, 9, 10, 12]),
            (r"[A-ZÑ]{3}\d{2,4}", &[5, 6, 7]),
            ("(GD|HA)8888(ab){1,3}Ñ?", &[8, 9, 10, 11, 12, 13]),
        ] {
            let form = Form::new(form, None).unwrap();
            assert_eq!(form.lengths.iter().copied().collect::<Vec<_>>(), expected);
        }
    }

    #[test]
    fn endings_are_the_last_characters_of_matching_texts() {
        for (form, expected) in [
            (r"\d{17}[\dX]", "0123456789X"),
            (r"\d{3}K?", "0123456789K"),
            (r"0\d[A-C]|1\d{2}Ñ", "ABC"),
            ("[A-C]([de]f?)?", "ABCdef"),
        ] {
            let form = Form::new(form, None).unwrap();
            assert_eq!(std::str::from_utf8(form.endings()).unwrap(), expected);
        }
    }

    #[test]
    fn alternatives_are_sampled_by_weight_or_number_of_matches() {
        let mut random = crate::model::Seed::parse("form").unwrap().random("test", "");
        for (form, expected) in [
            (r"(?<w97>\d)|(?<w3>X)", 300),
            (r"\d{2}|XX|YY|Z[0-9]", 90),
            (r"((?<w1>A)|(?<w1b>X))\d", 5_000),
        ] {
            let form = Form::new(form, None).unwrap();
            let hits = (0..10_000).filter(|_| form.sample(&mut random).contains('X')).count();
            let near = expected - expected / 3..expected + expected / 3;
            assert!(near.contains(&hits), "{hits} of {expected}");
        }
    }
}
