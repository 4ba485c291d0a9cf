//! Check digit algorithms shared by several schemes.
//!
//! All functions take ASCII. They don't check for digits, but subtract `0` from any character, so
//! validate the format first.

/// Returns the value of an ASCII digit.
pub fn digit(byte: u8) -> u32 {
    u32::from(byte.wrapping_sub(b'0'))
}

/// Returns the ASCII digit for a value below 10.
pub fn ascii(value: u32) -> u8 {
    b'0' + (value % 10) as u8
}

/// Returns the sum of weight · digit from left to right, up to the end of the shorter slice.
pub fn weighted(digits: &[u8], weights: &[i32]) -> i32 {
    digits.iter().zip(weights).map(|(byte, weight)| digit(*byte) as i32 * weight).sum()
}

/// Returns the Luhn check digit (ISO/IEC 7812-1) for `digits`.
pub fn luhn(digits: &[u8]) -> u32 {
    const DOUBLED: [u32; 10] = [0, 2, 4, 6, 8, 1, 3, 5, 7, 9];
    let mut sum = 0;
    for (position, byte) in digits.iter().rev().enumerate() {
        let value = digit(*byte);
        sum += if position % 2 == 0 { DOUBLED[(value % 10) as usize] } else { value };
    }
    (10 - sum % 10) % 10
}

/// Returns whether the last digit is the correct Luhn check digit for the rest.
pub fn luhn_holds(digits: &[u8]) -> bool {
    matches!(digits.split_last(), Some((last, rest)) if luhn(rest) == digit(*last))
}

/// Returns the ISO/IEC 7064 MOD 11,10 check digit for `digits`.
pub fn mod_11_10(digits: &[u8]) -> u32 {
    let product = digits.iter().fold(10, |product, byte| {
        let sum = (product + digit(*byte)) % 10;
        (if sum == 0 { 10 } else { sum }) * 2 % 11
    });
    (11 - product) % 10
}

/// Returns whether the last digit is the correct ISO/IEC 7064 MOD 11,10 check digit for the rest.
pub fn mod_11_10_holds(digits: &[u8]) -> bool {
    matches!(digits.split_last(), Some((last, rest)) if mod_11_10(rest) == digit(*last))
}

/// Returns `text` modulo 97, where letters count as 10 to 35 (ISO/IEC 7064 MOD 97-10).
pub fn mod_97(text: &[u8]) -> u32 {
    text.iter().fold(0, |rest, byte| match byte {
        b'A'..=b'Z' => (rest * 100 + u32::from(byte - b'A') + 10) % 97,
        _ => (rest * 10 + digit(*byte)) % 97,
    })
}

/// Parses up to 19 digits.
pub fn number(digits: &[u8]) -> u64 {
    digits.iter().fold(0, |value, byte| value * 10 + u64::from(digit(*byte)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn luhn_gives_the_published_digits() {
        assert_eq!(luhn(b"7992739871"), 3);
        assert!(luhn_holds(b"4111111111111111"));
        assert!(!luhn_holds(b"4111111111111112"));
        assert!(!luhn_holds(b""));
    }

    #[test]
    fn mod_11_10_gives_the_digit_of_the_standard() {
        assert_eq!(mod_11_10(b"0794"), 5);
        assert!(mod_11_10_holds(b"136695976"));
    }

    #[test]
    fn mod_97_counts_letters_from_ten() {
        assert_eq!(mod_97(b"3214282912345698765432161182"), 1);
        assert_eq!(mod_97(b"WEST12345698765432GB82"), 1);
    }
}
