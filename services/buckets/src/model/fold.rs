//! Letter case set aside, as an expression does that ignores it.

use std::collections::HashMap;
use std::sync::LazyLock;

use regex_syntax::hir::{ClassUnicode, ClassUnicodeRange};

/// Beyond it no character has another letter case.
pub const LAST_WITH_CASE: u32 = 0x1_ffff;

/// All characters that are the same when letter case is ignored.
pub fn fold(character: char) -> ClassUnicode {
    let mut class = ClassUnicode::new([ClassUnicodeRange::new(character, character)]);
    class.case_fold_simple();
    class
}

/// The one character that stands for all of a fold; of one with ASCII in it, a small letter.
pub fn folded(character: char) -> char {
    if character.is_ascii() {
        return character.to_ascii_lowercase();
    }
    FIRST_OF_FOLD.get(&character).copied().unwrap_or(character).to_ascii_lowercase()
}

/// A text with each of its characters folded.
pub fn folded_text(text: &str) -> String {
    if text.is_ascii() { text.to_ascii_lowercase() } else { text.chars().map(folded).collect() }
}

/// The first character of the fold of each character outside ASCII that is not alone in it.
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
    fn the_kelvin_sign_and_the_long_s_are_ascii_letters() {
        assert_eq!(folded_text("\u{212a}EY \u{17f} ÉΣς"), "key s \u{c9}\u{3a3}\u{3a3}");
        assert_eq!(folded_text("KEY_1"), "key_1");
    }
}
