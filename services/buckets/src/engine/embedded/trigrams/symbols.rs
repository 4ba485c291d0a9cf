//! Symbols: what is left of a character when letter case is set aside.

use std::collections::HashMap;
use std::sync::LazyLock;

use regex_syntax::hir::{ClassUnicode, ClassUnicodeRange};

/// Stands at both ends of a name; no name contains it.
pub(super) const END: u8 = 0;
/// Symbols from here on stand for several characters.
pub(super) const SHARED: u8 = 0x80;
/// Beyond it no character has another letter case.
const LAST_WITH_CASE: u32 = 0x1_ffff;

/// The symbol of a character: that of every character which an expression takes for the same when
/// it ignores letter case. A character outside ASCII shares its symbol with others.
pub(super) fn symbol(character: char) -> u8 {
    if character.is_ascii() {
        return character.to_ascii_lowercase() as u8;
    }
    let first = FIRST_OF_FOLD.get(&character).copied().unwrap_or(character);
    if first.is_ascii() {
        return first.to_ascii_lowercase() as u8;
    }
    SHARED | (u32::from(first).wrapping_mul(0x9e37_79b1) >> 25) as u8
}

/// All characters that are the same when letter case is ignored.
pub(super) fn fold(character: char) -> ClassUnicode {
    let mut class = ClassUnicode::new([ClassUnicodeRange::new(character, character)]);
    class.case_fold_simple();
    class
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
    fn a_fold_has_one_symbol() {
        for character in (0..=LAST_WITH_CASE + 0x1000).filter_map(char::from_u32) {
            let expected = symbol(character);
            for range in fold(character).ranges() {
                for other in range.start()..=range.end() {
                    assert_eq!(symbol(other), expected, "{character:?} and {other:?}");
                }
            }
        }
        assert_eq!((symbol('\u{17f}'), symbol('\u{212a}'), symbol('S')), (b's', b'k', b's'));
    }
}
