//! Splits text into words, both for the index and for queries.

use std::sync::LazyLock;

use icu_normalizer::ComposingNormalizerBorrowed;
use regex_syntax::hir::{Class, HirKind};

/// Maximum length of a word in bytes. Longer words are cut off at a character boundary.
pub const LONGEST_WORD: usize = 255;

/// Calls `each` with every word in `text`, in order.
///
/// A word is a run of letters, digits and combining marks, composed (NFC) and in lower case. All
/// other characters separate words, including `_` and `-`.
///
/// ```
/// let mut words = Vec::new();
/// buckets::model::words::for_each("resume1-1_TheBackup.docx", |word| words.push(word.to_owned()));
/// assert_eq!(words, ["resume1", "1", "thebackup", "docx"]);
/// ```
pub fn for_each(text: &str, mut each: impl FnMut(&str)) {
    if text.is_ascii() {
        for_each_ascii(text, each);
        return;
    }
    let composed = ComposingNormalizerBorrowed::new_nfc().normalize(text);
    let mut word = String::new();
    let mut full = false;
    for symbol in composed.chars() {
        if is_word_character(symbol) {
            for lower in symbol.to_lowercase() {
                full = full || word.len() + lower.len_utf8() > LONGEST_WORD;
                if !full {
                    word.push(lower);
                }
            }
        } else if !word.is_empty() {
            each(&word);
            word.clear();
            full = false;
        }
    }
    if !word.is_empty() {
        each(&word);
    }
}

/// Returns the words in `text`.
pub fn of(text: &str) -> Vec<String> {
    let mut words = Vec::new();
    for_each(text, |word| words.push(word.to_owned()));
    words
}

/// Fast path for ASCII, where bytes are characters.
fn for_each_ascii(text: &str, mut each: impl FnMut(&str)) {
    let mut lower = String::new();
    for run in text.split(|symbol: char| !symbol.is_ascii_alphanumeric()) {
        let run = run.get(..LONGEST_WORD).unwrap_or(run);
        if run.bytes().any(|byte| byte.is_ascii_uppercase()) {
            lower.clear();
            lower.push_str(run);
            lower.make_ascii_lowercase();
            each(&lower);
        } else if !run.is_empty() {
            each(run);
        }
    }
}

/// Unicode letters (L), combining marks (M) and decimal digits (Nd), as sorted ranges.
static WORD_CHARACTERS: LazyLock<Vec<(char, char)>> = LazyLock::new(|| {
    let parsed = regex_syntax::parse(r"[\p{L}\p{M}\p{Nd}]").map(regex_syntax::hir::Hir::into_kind);
    match parsed {
        Ok(HirKind::Class(Class::Unicode(class))) => {
            class.iter().map(|range| (range.start(), range.end())).collect()
        }
        _ => Vec::new(),
    }
});

fn is_word_character(symbol: char) -> bool {
    if symbol.is_ascii() {
        return symbol.is_ascii_alphanumeric();
    }
    let ranges = &*WORD_CHARACTERS;
    let after = ranges.partition_point(|&(first, _)| first <= symbol);
    after > 0 && ranges[after - 1].1 >= symbol
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn separators_never_belong_to_a_word() {
        assert_eq!(of("a_b-c.d/e f"), ["a", "b", "c", "d", "e", "f"]);
        assert_eq!(of("***"), Vec::<String>::new());
    }

    #[test]
    fn composed_and_decomposed_names_are_one_word() {
        assert_eq!(of("CAFE\u{301}"), ["caf\u{e9}"]);
        assert_eq!(of("CAFE\u{301}"), of("Caf\u{e9}"));
        assert_ne!(of("cafe"), of("caf\u{e9}"));
    }

    #[test]
    fn uncomposed_marks_are_part_of_word() {
        assert_eq!(of("हिन्दी.txt"), ["हिन्दी", "txt"]);
        assert_eq!(of("İstanbul"), ["i\u{307}stanbul"]);
    }

    #[test]
    fn long_runs_are_cut_at_255_bytes() {
        let ascii = "a".repeat(300);
        assert_eq!(of(&ascii), [&ascii[..255]]);
        assert_eq!(of(&"é".repeat(200)), ["é".repeat(127)]);
    }

    #[test]
    fn ascii_and_unicode_paths_agree() {
        let text = "Some_Name-2021.TAR.gz";
        let mut with_unicode = of(&format!("{text} é"));
        assert_eq!(with_unicode.pop().as_deref(), Some("é"));
        assert_eq!(of(text), with_unicode);
    }
}
