//! Symbols: what is left of a character when letter case is set aside.

use crate::model::fold::folded;

/// Stands at both ends of a name; no name contains it.
pub(super) const END: u8 = 0;
/// Symbols from here on stand for several characters.
pub(super) const SHARED: u8 = 0x80;

/// The symbol of a character: that of every character which an expression takes for the same when
/// it ignores letter case. A character outside ASCII shares its symbol with others.
pub(super) fn symbol(character: char) -> u8 {
    let folded = folded(character);
    if folded.is_ascii() {
        return folded as u8;
    }
    SHARED | (u32::from(folded).wrapping_mul(0x9e37_79b1) >> 25) as u8
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::fold::{LAST_WITH_CASE, fold};

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
