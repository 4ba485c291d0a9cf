//! Analyses which strings a part of an expression can match.

use regex_syntax::hir::{Class, ClassUnicode, ClassUnicodeRange, Hir, HirKind, Repetition};

use super::need::{Need, Text, Texts};
use super::symbols::{SHARED, symbol};
use super::tokenizer::LENGTH;
use crate::model::fold::fold;

/// Maximum number of different strings.
const MOST_TEXTS: usize = 40;
/// Maximum number of string pairs when concatenating two parts.
const MOST_PAIRS: usize = 160;
/// Maximum number of symbols in a string.
const LONGEST_TEXT: usize = 64;
/// Maximum number of characters in a class.
const MOST_CHARACTERS: u32 = 128;
/// Number of times that a repetition is unrolled.
const MOST_REPEATS: u32 = 4;
/// Number of symbols at each end that can form a trigram with a neighbouring part.
const EDGE: usize = LENGTH - 1;

/// Properties common to all strings that a part of an expression matches.
#[derive(Clone, Debug)]
pub(super) struct Part {
    /// All strings, if there are few enough to list them.
    pub(super) texts: Option<Texts>,
    /// Whether every string with these symbols matches. If not, only some of them do.
    pub(super) faithful: bool,
    /// Prefixes. Every string starts with one of them.
    begins: Texts,
    /// Suffixes. Every string ends with one of them.
    ends: Texts,
    /// Trigrams in every string.
    pub(super) need: Need,
}

impl Part {
    /// A part that matches exactly these strings.
    pub(super) fn exactly(texts: Texts, faithful: bool) -> Self {
        let nothing = Texts::from([Text::new()]);
        let (begins, ends) = (nothing.clone(), nothing);
        Self { texts: Some(texts), faithful, begins, ends, need: Need::Nothing }
    }

    fn anything() -> Self {
        Self { texts: None, ..Self::exactly(Texts::new(), false) }
    }

    fn nothing() -> Self {
        Self::exactly([Text::new()].into(), true)
    }

    /// Analyses an expression.
    pub(super) fn of(hir: &Hir) -> Self {
        match hir.kind() {
            HirKind::Empty => Self::nothing(),
            HirKind::Look(_) => Self { faithful: false, ..Self::nothing() },
            HirKind::Literal(literal) => Self::literal(&literal.0),
            HirKind::Class(Class::Unicode(class)) => Self::class(class),
            HirKind::Class(Class::Bytes(class)) => {
                class.to_unicode_class().map_or_else(Self::anything, |class| Self::class(&class))
            }
            HirKind::Repetition(repetition) => Self::repetition(repetition),
            HirKind::Capture(capture) => Self::of(&capture.sub),
            HirKind::Concat(parts) => parts.iter().map(Self::of).fold(Self::nothing(), Self::then),
            HirKind::Alternation(branches) => {
                branches.iter().map(Self::of).reduce(Self::or).unwrap_or_else(Self::anything)
            }
        }
    }

    fn literal(bytes: &[u8]) -> Self {
        let Ok(text) = std::str::from_utf8(bytes) else { return Self::anything() };
        let alone = |character: char| {
            let only = [ClassUnicodeRange::new(character, character)];
            character.is_ascii() && fold(character).ranges() == only
        };
        let faithful = text.chars().all(alone);
        Self::exactly([text.chars().map(symbol).collect()].into(), faithful).bounded()
    }

    fn class(class: &ClassUnicode) -> Self {
        let sizes = class.ranges().iter().map(|range| range.end() as u32 - range.start() as u32);
        if sizes.fold(0u32, |sum, size| sum.saturating_add(size + 1)) > MOST_CHARACTERS {
            return Self::anything();
        }
        let characters = || class.ranges().iter().flat_map(|range| range.start()..=range.end());
        let texts: Texts = characters().map(|character| vec![symbol(character)]).collect();
        let mut folded = class.clone();
        folded.case_fold_simple();
        let faithful = folded == *class && texts.iter().flatten().all(|&symbol| symbol < SHARED);
        Self::exactly(texts, faithful).bounded()
    }

    fn repetition(repetition: &Repetition) -> Self {
        let part = Self::of(&repetition.sub);
        if repetition.min == 0 {
            return match part.texts {
                Some(_) if repetition.max == Some(1) => part.or(Self::nothing()),
                _ => Self::anything(),
            };
        }
        let written = repetition.min.min(MOST_REPEATS);
        let repeated = std::iter::repeat_n(part, written as usize);
        let repeated = repeated.fold(Self::nothing(), Self::then);
        if repetition.max == Some(written) { repeated } else { repeated.open() }
    }

    /// Concatenates two parts.
    pub(super) fn then(self, next: Self) -> Self {
        if let (Some(texts), Some(more)) = (&self.texts, &next.texts)
            && texts.len() * more.len() <= MOST_TEXTS
        {
            return Self::exactly(pairs(texts, more), self.faithful && next.faithful).bounded();
        }
        let need = self.need.clone().and(next.need.clone());
        match (&self.texts, &next.texts) {
            (Some(texts), None) if texts.len() * next.begins.len() <= MOST_PAIRS => {
                let (begins, ends) = (pairs(texts, &next.begins), next.ends);
                Self {
                    need: need.and(Need::of(&begins)),
                    begins: edges(begins, begin),
                    ends,
                    ..next
                }
            }
            (None, Some(texts)) if self.ends.len() * texts.len() <= MOST_PAIRS => {
                let (begins, ends) = (self.begins, pairs(&self.ends, texts));
                Self { need: need.and(Need::of(&ends)), begins, ends: edges(ends, end), ..self }
            }
            _ => {
                let (front, back) = (self.open(), next.open());
                let mut need = front.need.and(back.need);
                if front.ends.len() * back.begins.len() <= MOST_PAIRS {
                    need = need.and(Need::of(&pairs(&front.ends, &back.begins)));
                }
                let (begins, ends) = (front.begins, back.ends);
                Self { texts: None, faithful: false, begins, ends, need }
            }
        }
    }

    /// Combines two alternatives.
    fn or(self, other: Self) -> Self {
        if let (Some(texts), Some(more)) = (&self.texts, &other.texts)
            && texts.len() + more.len() <= MOST_TEXTS
        {
            let texts = texts.union(more).cloned().collect();
            return Self::exactly(texts, self.faithful && other.faithful);
        }
        let (one, other) = (self.open(), other.open());
        let union = |one: Texts, more: Texts| few(one.into_iter().chain(more).collect());
        Self {
            texts: None,
            faithful: false,
            begins: union(one.begins, other.begins),
            ends: union(one.ends, other.ends),
            need: one.need.or(other.need),
        }
    }

    /// Drops the list of strings. Keeps the prefixes, suffixes and trigrams.
    pub(super) fn open(self) -> Self {
        let Some(texts) = self.texts else { return self };
        Self {
            need: self.need.and(Need::of(&texts)),
            begins: edges(texts.clone(), begin),
            ends: edges(texts, end),
            texts: None,
            faithful: false,
        }
    }

    fn bounded(self) -> Self {
        let too_much = |texts: &Texts| {
            texts.len() > MOST_TEXTS || texts.iter().any(|text| text.len() > LONGEST_TEXT)
        };
        if self.texts.as_ref().is_some_and(too_much) { self.open() } else { self }
    }
}

fn pairs(texts: &Texts, more: &Texts) -> Texts {
    let with = |text: &Text| more.iter().map(|next| [&text[..], &next[..]].concat()).collect();
    texts.iter().flat_map(|text| -> Vec<Text> { with(text) }).collect()
}

fn begin(text: &[u8]) -> &[u8] {
    &text[..text.len().min(EDGE)]
}

fn end(text: &[u8]) -> &[u8] {
    &text[text.len().saturating_sub(EDGE)..]
}

fn edges(texts: Texts, edge: fn(&[u8]) -> &[u8]) -> Texts {
    few(texts.iter().map(|text| edge(text).to_vec()).collect())
}

/// Drops prefixes or suffixes if there are too many of them.
fn few(texts: Texts) -> Texts {
    if texts.len() > MOST_TEXTS { [Text::new()].into() } else { texts }
}
