//! Changes the case of strings, and replaces parts of them.

use super::letters::{lower, upper};
use super::title::title;

/// The case to convert to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CaseType {
    /// Lower case.
    Lower,
    /// Upper case.
    Upper,
    /// Capitalizes the first character and leaves the rest unchanged.
    Sentence,
    /// Capitalizes each word, except for small ones in the middle.
    Title,
}

/// Converts the letter case of a string.
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

/// Replaces all occurrences of a string. This is done incrementally, because the result can be
/// thousands of times longer than the input.
pub struct Replacing {
    text: String,
    find: String,
    replacement: String,
    done: usize,
}

impl Replacing {
    /// Prepares to replace `find`, which must not be empty, from left to right.
    pub fn new(text: String, find: String, replacement: String) -> Self {
        Self { text, find, replacement, done: 0 }
    }

    /// Returns the text up to the next occurrence, the replacement, and whether there is more to
    /// come.
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
    fn replacement_equals_that_of_the_standard_library() {
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
    fn case_changes_keep_the_number_of_letters() {
        assert_eq!(change_case("straße ﬁ İ", CaseType::Upper), "STRAßE ﬁ İ");
        assert_eq!(change_case("İĞ", CaseType::Lower), "İğ");
    }
}
