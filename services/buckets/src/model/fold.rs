//! Case folding that is consistent with case-insensitive expressions.

use std::collections::HashMap;
use std::sync::LazyLock;

use regex_syntax::hir::{ClassUnicode, ClassUnicodeRange};

/// Characters above this code point don't have case variants.
pub const LAST_WITH_CASE: u32 = 0x1_ffff;

/// Returns all case variants of a character, including the character itself.
pub fn fold(character: char) -> ClassUnicode {
    let mut class = ClassUnicode::new([ClassUnicodeRange::new(character, character)]);
    class.case_fold_simple();
    class
}

/// Picks a representative from a character's case variants. If they include a lower-case ASCII
/// letter, picks that letter.
pub fn folded(character: char) -> char {
    if character.is_ascii() {
        return character.to_ascii_lowercase();
    }
    FIRST_OF_FOLD.get(&character).copied().unwrap_or(character).to_ascii_lowercase()
}

/// Folds every character in a string.
pub fn folded_text(text: &str) -> String {
    if text.is_ascii() { text.to_ascii_lowercase() } else { text.chars().map(folded).collect() }
}

/// Maps non-ASCII characters to the first of their case variants.
static FIRST_OF_FOLD: LazyLock<HashMap<char, char>> = LazyLock::new(|| {
    let cased = |character: &char| {
        let character = *character;
        !character.to_lowercase().eq([character]) || !character.to_uppercase().eq([character])
    };
    let characters = (0x80..=LAST_WITH_CASE).filter_map(char::from_u32).filter(cased);
    let first = |character| fold(character).ranges().first().map(|range| range.start());
    characters
        .filter_map(|character| Some((character, first(character)?)))
        .filter(|(character, first)| character != first)
        .collect()
});

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn kelvin_sign_and_long_s_fold_to_ascii() {
        assert_eq!(folded_text("\u{212a}EY \u{17f} ÉΣς"), "key s \u{c9}\u{3a3}\u{3a3}");
        assert_eq!(folded_text("KEY_1"), "key_1");
    }
}
