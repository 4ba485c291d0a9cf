//! Card number validation.

use super::number::detect;
use super::table::CardType;
use crate::model::check::luhn_holds;

/// An error found while checking a card number.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum CardFault {
    /// The number contains something other than digits, spaces and hyphens.
    #[error("A card number can contain only digits, spaces and hyphens.")]
    Format,
    /// The number has too many or too few digits.
    #[error("{0} numbers do not have {1} digits.")]
    Length(&'static str, usize),
    /// The prefix belongs to a different brand, or to none.
    #[error("{0} numbers do not start with {1}.")]
    Prefix(&'static str, String),
    /// The Luhn checksum is wrong.
    #[error("The check digit is wrong.")]
    Checksum,
}

/// Brand name in messages when no brand was requested.
const ANY_BRAND: &str = "Card";

/// Returns the brands that could have issued a card with this number, or just `brand` if given.
/// Spaces and hyphens are ignored.
///
/// # Errors
/// Returns the first problem found.
pub fn check(
    text: &str,
    brand: Option<&'static CardType>,
) -> Result<Vec<&'static CardType>, CardFault> {
    let number: String = text.chars().filter(|c| !c.is_whitespace() && *c != '-').collect();
    if number.is_empty() || !number.bytes().all(|byte| byte.is_ascii_digit()) {
        return Err(CardFault::Format);
    }
    let name = brand.map_or(ANY_BRAND, |brand| brand.name);
    let start = || number.get(..6).unwrap_or(&number).to_owned();
    let mut brands = detect(&number);
    if brands.is_empty() && number.len() >= 6 {
        return Err(CardFault::Prefix(name, start()));
    }
    if let Some(brand) = brand {
        if !brand.has_length(number.len()) {
            return Err(CardFault::Length(name, number.len()));
        }
        if !brands.contains(&brand) {
            return Err(CardFault::Prefix(name, start()));
        }
        brands = vec![brand];
    }
    let name = brands.first().map_or(name, |brand| brand.name);
    brands.retain(|brand| brand.has_length(number.len()));
    match brands.is_empty() {
        true => Err(CardFault::Length(name, number.len())),
        false if !luhn_holds(number.as_bytes()) => Err(CardFault::Checksum),
        false => Ok(brands),
    }
}

/// Formats a card number as printed: in groups of four, except 4-6-5 for 15 digits and 4-6-4 for
/// 14.
pub fn grouped(number: &str) -> String {
    let groups: &[usize] = match number.len() {
        14 => &[4, 6, 4],
        15 => &[4, 6, 5],
        _ => &[4; 5],
    };
    let (mut rest, mut out) = (number, String::with_capacity(number.len() + 4));
    for group in groups.iter().filter(|_| number.is_ascii()) {
        let (head, tail) = rest.split_at((*group).min(rest.len()));
        if !head.is_empty() && !out.is_empty() {
            out.push(' ');
        }
        out.push_str(head);
        rest = tail;
    }
    out
}

#[cfg(test)]
mod tests {
    use super::super::number::find;
    use super::super::table::CARD_TYPES;
    use super::*;
    use crate::model::seed::Seed;

    /// With 10,000 seeds per brand, the test takes 3.6 s in a debug build.
    const SEEDS: u32 = 5_000;

    fn brands(text: &str) -> Vec<&'static str> {
        check(text, None).unwrap().iter().map(|brand| brand.name).collect()
    }

    #[test]
    fn generated_numbers_pass_the_check_of_their_brand() {
        for kind in CARD_TYPES {
            for seed in 0..SEEDS {
                let mut random = Seed::parse(&seed.to_string()).unwrap().random(kind.name, "");
                let mut number = String::new();
                kind.write_number(&mut random, &mut number);
                assert!(check(&number, Some(kind)).is_ok(), "{} {number}", kind.name);
            }
        }
    }

    #[test]
    fn usual_spellings_and_lengths_are_read() {
        assert_eq!(brands("4111 1111-1111 1111"), ["Visa"]);
        assert_eq!(brands("4222222222222"), ["Visa"]);
        assert_eq!(brands("378282246310005"), ["AmericanExpress"]);
        assert_eq!(brands("30569309025904"), ["DinersClub"]);
        assert_eq!(brands("6011000990139424"), ["Discover"]);
        assert_eq!(brands("2223003122003222"), ["Mastercard"]);
    }

    #[test]
    fn published_test_numbers_outside_the_generated_ranges_are_accepted() {
        for (number, brand) in [
            ("6200000000000005", "UnionPay"),
            ("6205500000000000004", "UnionPay"),
            ("8171999927660000", "UnionPay"),
            ("6703444444444449", "Maestro"),
            ("6799990100000000019", "Maestro"),
            ("5060990580000217499", "Verve"),
            ("5061460410120223210", "Verve"),
            ("6500020000000000", "Verve"),
            ("6500271234567890124", "Verve"),
            ("6500010000000001", "Discover"),
            ("6500280000000000", "Discover"),
            ("6370950000000005", "Hipercard"),
        ] {
            assert_eq!(brands(number), [brand], "{number}");
        }
    }

    #[test]
    fn faults_have_distinct_messages() {
        let visa = find("Visa");
        for (text, brand, message) in [
            ("4111x", None, "A card number can contain only digits, spaces and hyphens."),
            ("", None, "A card number can contain only digits, spaces and hyphens."),
            ("41111111111111111", None, "Visa numbers do not have 17 digits."),
            ("4111", visa, "Visa numbers do not have 4 digits."),
            ("4111", None, "Card numbers do not have 4 digits."),
            ("9999999999999995", None, "Card numbers do not start with 999999."),
            ("5555555555554444", visa, "Visa numbers do not start with 555555."),
            ("4111111111111112", None, "The check digit is wrong."),
        ] {
            assert_eq!(check(text, brand).unwrap_err().to_string(), message, "{text}");
        }
    }

    #[test]
    fn numbers_are_grouped_as_on_cards() {
        assert_eq!(grouped("4111111111111111"), "4111 1111 1111 1111");
        assert_eq!(grouped("378282246310005"), "3782 822463 10005");
        assert_eq!(grouped("30569309025904"), "3056 930902 5904");
        assert_eq!(grouped("6304000000000000001"), "6304 0000 0000 0000 001");
        assert_eq!(grouped("123456789012"), "1234 5678 9012");
    }
}
