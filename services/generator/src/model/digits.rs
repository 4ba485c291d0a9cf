//! Decimal digits. Writing them directly is several times faster than the standard library's
//! formatting, which can take as long as generating a value.

/// Appends a number with at least `width` digits (up to 20), padded with zeros.
pub fn push_padded(number: u64, width: usize, out: &mut String) {
    let mut digits = [b'0'; 20];
    let mut start = digits.len();
    let mut left = number;
    while left > 0 {
        start -= 1;
        digits[start] = b'0' + (left % 10) as u8;
        left /= 10;
    }
    start = start.min(digits.len().saturating_sub(width));
    // Digits are always UTF-8.
    out.push_str(str::from_utf8(&digits[start..]).unwrap_or_default());
}

#[cfg(test)]
mod tests {
    use super::push_padded;
    use crate::model::random::Random;

    #[test]
    fn digits_are_those_of_the_standard_library() {
        let mut random = Random::of_row([1, 2], 3);
        for bits in 0..64 {
            for number in [random.bits() >> bits, u64::MAX >> bits, 1 << bits, 0] {
                for width in [1, 2, 4, 20] {
                    let mut out = "before ".to_owned();
                    push_padded(number, width, &mut out);
                    assert_eq!(out, format!("before {number:0width$}"));
                }
            }
        }
    }
}
