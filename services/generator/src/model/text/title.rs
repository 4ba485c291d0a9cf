//! Title case.

use super::letters::{lower, upper};

/// Words that stay in lower case unless they come first.
const SMALL: [&str; 21] = [
    "a", "an", "as", "at", "by", "if", "in", "of", "on", "or", "so", "to", "up", "and", "but",
    "for", "nor", "off", "the", "via", "yet",
];

/// Capitalizes the words in a string, leaving everything between them unchanged.
pub fn title(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    let mut first = true;
    while let Some(start) = rest.find(belongs) {
        out.push_str(&rest[..start]);
        let word = &rest[start..start + word_length(&rest[start..])];
        push_word(word, first, &mut out);
        first = false;
        rest = &rest[start + word.len()..];
    }
    out.push_str(rest);
    out
}

/// Returns whether a character can be part of a word, i.e. is a letter, a digit, an underscore or
/// any non-ASCII character.
fn belongs(c: char) -> bool {
    !c.is_ascii() || c.is_ascii_alphanumeric() || c == '_'
}

/// Returns the length in bytes of the leading word: a run of word characters, optionally followed
/// by an apostrophe and another run.
fn word_length(text: &str) -> usize {
    let run = |text: &str, test: fn(char) -> bool| text.find(|c| !test(c)).unwrap_or(text.len());
    let head = run(text, belongs);
    match text[head..].strip_prefix('\'') {
        Some(tail) => head + 1 + run(tail, |c| c.is_alphanumeric() || c == '_'),
        None => head,
    }
}

fn push_word(word: &str, first: bool, out: &mut String) {
    if word.chars().all(char::is_uppercase) || !first && SMALL.contains(&word) {
        return out.push_str(word);
    }
    let mut characters = word.chars();
    out.extend(characters.next().map(upper));
    out.extend(characters.map(lower));
}
