//! The form of a number: a regular expression that can be matched and sampled.

use std::collections::BTreeSet;

use regex_automata::meta::Regex;
use regex_syntax::hir::{Class, Hir, HirKind};

use crate::model::random::Random;

/// The reasons for which a form does not compile. A test compiles all forms.
#[derive(Debug, thiserror::Error)]
pub enum FormError {
    /// It is not a regular expression.
    #[error(transparent)]
    Parse(#[from] Box<regex_syntax::Error>),
    /// It cannot be compiled.
    #[error(transparent)]
    Build(#[from] Box<regex_automata::meta::BuildError>),
}

/// A compiled form.
pub struct Form {
    regex: Regex,
    lengths: BTreeSet<usize>,
    sample: Hir,
    endings: Vec<u8>,
}

impl Form {
    /// Compiles a form. Numbers are sampled from `narrow` if it is given.
    pub fn new(form: &str, narrow: Option<&str>) -> Result<Self, FormError> {
        let parse = |text: &str| {
            let ascii = text.replace(r"\d", "[0-9]");
            regex_syntax::parse(&ascii).map_err(Box::new)
        };
        let whole = format!(r"\A(?:{})\z", form.replace(r"\d", "[0-9]"));
        let regex = Regex::new(&whole).map_err(Box::new)?;
        let lengths = lengths(&parse(form)?);
        let sample = parse(narrow.unwrap_or(form))?;
        let mut endings = Vec::new();
        push_endings(&sample, &mut endings);
        Ok(Self { regex, lengths, sample, endings })
    }

    /// Returns true if the whole text matches.
    pub fn matches(&self, text: &str) -> bool {
        self.regex.is_match(text)
    }

    /// Returns true if the form allows this length.
    pub fn has_length(&self, length: usize) -> bool {
        self.lengths.contains(&length)
    }

    /// The ASCII characters that sampled texts can end with.
    pub fn endings(&self) -> &[u8] {
        &self.endings
    }

    /// Samples a text.
    pub fn sample(&self, random: &mut Random) -> String {
        let mut out = String::new();
        push(&self.sample, random, &mut out);
        out
    }
}

/// The possible lengths of texts of a form.
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

/// Collects the possible last characters, including those before an optional end.
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

fn push(hir: &Hir, random: &mut Random, out: &mut String) {
    match hir.kind() {
        HirKind::Empty | HirKind::Look(_) => {}
        HirKind::Literal(literal) => out.push_str(&String::from_utf8_lossy(&literal.0)),
        HirKind::Class(class) => out.extend(character(class, random)),
        HirKind::Repetition(repetition) => {
            let most = repetition.max.unwrap_or(repetition.min);
            let times = random.between(u64::from(repetition.min), u64::from(most));
            (0..times).for_each(|_| push(&repetition.sub, random, out));
        }
        HirKind::Capture(capture) => push(&capture.sub, random, out),
        HirKind::Concat(parts) => parts.iter().for_each(|part| push(part, random, out)),
        HirKind::Alternation(choices) => push(random.pick(choices), random, out),
    }
}

/// The ranges of a class, inclusive.
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

/// Samples a character of a class uniformly.
fn character(class: &Class, random: &mut Random) -> Option<char> {
    let ranges = ranges(class);
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
    fn lengths_are_those_that_the_form_has_and_no_others() {
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
    fn endings_are_the_characters_that_texts_end_in() {
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
}
