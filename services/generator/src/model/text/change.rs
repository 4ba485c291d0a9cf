//! Letter case and replacement.

use super::letters::{lower, upper};
use super::title::title;

/// How letters are changed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CaseType {
    /// All small.
    Lower,
    /// All capital.
    Upper,
    /// The first character raised.
    Sentence,
    /// Words raised, but for small words in the middle.
    Title,
}

/// A text in another letter case.
pub fn change_case(text: &str, case: CaseType) -> String {
    match case {
        CaseType::Lower => text.chars().map(lower).collect(),
        CaseType::Upper => text.chars().map(upper).collect(),
        CaseType::Sentence => {
            let mut rest = text.chars();
            let first = rest.next().map(upper);
            first.into_iter().chain(rest).collect()
        }
        CaseType::Title => title(text),
    }
}

/// A text in which every occurrence of a text becomes another one, piece by piece: it may be thousands
/// of times as long as the text.
pub struct Replacing {
    text: String,
    find: String,
    replacement: String,
    done: usize,
}

impl Replacing {
    /// Replaces `find`, which is not empty, from left to right.
    pub fn new(text: String, find: String, replacement: String) -> Self {
        Self { text, find, replacement, done: 0 }
    }

    /// The text up to the next occurrence and what replaces that; the flag says whether more follows.
    pub fn step(&mut self) -> (&str, &str, bool) {
        let start = self.done;
        match self.text[start..].find(&self.find) {
            Some(at) => {
                self.done = start + at + self.find.len();
                (&self.text[start..start + at], &self.replacement, true)
            }
            None => {
                self.done = self.text.len();
                (&self.text[start..], "", false)
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn replaced(text: &str, find: &str, replacement: &str) -> String {
        let mut replacing = Replacing::new(text.into(), find.into(), replacement.into());
        let mut out = String::new();
        loop {
            let (before, replacement, more) = replacing.step();
            out.push_str(before);
            out.push_str(replacement);
            if !more {
                return out;
            }
        }
    }

    #[test]
    fn replacing_is_that_of_the_standard_library() {
        for (text, find, replacement) in [
            ("aaa", "aa", "b"),
            ("", "a", "b"),
            ("ÄaÄ", "Ä", ""),
            ("a.b", ".", ".."),
            ("x", "y", "z"),
        ] {
            assert_eq!(
                replaced(text, find, replacement),
                text.replace(find, replacement),
                "{text}"
            );
        }
    }

    #[test]
    fn letters_change_one_to_one() {
        assert_eq!(change_case("straße ﬁ İ", CaseType::Upper), "STRAßE ﬁ İ");
        assert_eq!(change_case("İĞ", CaseType::Lower), "İğ");
    }
}
