//! Device identifiers (3GPP TS 23.003). An IMEI consists of a reporting body, a type allocation
//! code, a serial number and a Luhn digit.

use super::ascii_buffer::AsciiBuffer;
use super::check::{ascii, luhn, luhn_holds};
use super::random::Random;

/// Reporting bodies to generate IMEIs for, all of which allocate type codes. 00 is missing, because
/// it indicates test devices.
const BODIES: [u64; 5] = [1, 35, 86, 91, 99];

/// Appends a 15-digit IMEI.
pub fn write(random: &mut Random, out: &mut String) {
    let mut imei = AsciiBuffer::new();
    imei.push_number(*random.pick(&BODIES), 2);
    imei.push_digits(random, 6);
    imei.push_number(random.between(1, 999_999), 6);
    imei.push(ascii(luhn(imei.bytes())));
    out.push_str(imei.as_str());
}

/// The first two digits of every reporting body that has ever allocated type codes.
const KNOWN_BODIES: [u64; 20] =
    [1, 10, 30, 33, 35, 44, 45, 49, 50, 51, 52, 53, 54, 86, 87, 91, 95, 97, 98, 99];

/// An error found while checking an IMEI.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ImeiFault {
    /// The number contains something other than digits, spaces, hyphens and slashes.
    #[error("An IMEI can contain only digits, spaces, hyphens and slashes.")]
    Format,
    /// There are too many or too few digits.
    #[error("An IMEI has 15 digits, not {0}.")]
    Length(usize),
    /// The first two digits don't belong to a reporting body. 00 indicates test devices.
    #[error("No reporting body has the number {0:02}.")]
    Body(u64),
    /// The serial number is 000000.
    #[error("The serial number is 0.")]
    Serial,
    /// The Luhn checksum is wrong.
    #[error("The check digit is wrong.")]
    Checksum,
}

/// Checks an IMEI as entered by the user. All reporting bodies are accepted.
///
/// # Errors
/// Returns the first problem found.
pub fn check(text: &str) -> Result<(), ImeiFault> {
    let separator = |c: &char| c.is_whitespace() || matches!(c, '-' | '/');
    let number: String = text.chars().filter(|c| !separator(c)).collect();
    if number.is_empty() || !number.bytes().all(|byte| byte.is_ascii_digit()) {
        return Err(ImeiFault::Format);
    }
    if number.len() != 15 {
        return Err(ImeiFault::Length(number.len()));
    }
    let body = super::check::number(&number.as_bytes()[..2]);
    if !KNOWN_BODIES.contains(&body) {
        return Err(ImeiFault::Body(body));
    }
    match &number[8..14] == "000000" {
        true => Err(ImeiFault::Serial),
        false if !luhn_holds(number.as_bytes()) => Err(ImeiFault::Checksum),
        false => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::seed::Seed;

    #[test]
    fn values_of_any_seed_pass_the_check() {
        for seed in 0..10_000 {
            let mut random = Seed::parse(&seed.to_string()).unwrap().random("imei", "");
            let mut number = String::new();
            write(&mut random, &mut number);
            assert_eq!(check(&number), Ok(()), "{number}");
        }
    }

    #[test]
    fn imeis_of_all_reporting_bodies_are_accepted_in_any_spelling() {
        for text in ["356938035643809", "49-015420-323751-8", "35 693803 564380 9"] {
            assert_eq!(check(text), Ok(()), "{text}");
        }
    }

    #[test]
    fn faults_have_distinct_messages() {
        for (text, fault) in [
            ("356938035643808", ImeiFault::Checksum),
            ("35693803564380", ImeiFault::Length(14)),
            ("3569380356438090", ImeiFault::Length(16)),
            ("35693803564380A", ImeiFault::Format),
            ("", ImeiFault::Format),
            // Valid Luhn checksums, so these fail for other reasons.
            ("001234567891233", ImeiFault::Body(0)),
            ("350000000000006", ImeiFault::Serial),
        ] {
            assert_eq!(check(text), Err(fault), "{text}");
        }
    }
}
