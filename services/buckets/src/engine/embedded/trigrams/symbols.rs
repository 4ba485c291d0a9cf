//! Maps characters to case-folded symbols.

use crate::model::fold::folded;

/// Marks both ends of a name. Names never contain it.
pub(super) const END: u8 = 0;
/// From this value on, each symbol is shared by several characters.
pub(super) const SHARED: u8 = 0x80;

/// Maps a character to its symbol, ignoring case. All non-ASCII characters have to share 128
/// symbols.
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
    fn equal_folds_share_symbol() {
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
