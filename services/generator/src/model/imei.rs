//! Device identifiers (3GPP TS 23.003): reporting body, type allocation, serial number, Luhn digit.

use super::ascii_buffer::AsciiBuffer;
use super::check::{ascii, luhn, luhn_holds};
use super::random::Random;

/// Prefixes of bodies that allocate real type codes; 00 is left out, it marks test devices.
const BODIES: [u64; 5] = [1, 35, 86, 91, 99];

/// Writes an IMEI of 15 digits.
pub fn write(random: &mut Random, out: &mut String) {
    let mut imei = AsciiBuffer::new();
    imei.push_number(*random.pick(&BODIES), 2);
    imei.push_digits(random, 6);
    imei.push_number(random.between(1, 999_999), 6);
    imei.push(ascii(luhn(imei.bytes())));
    out.push_str(imei.as_str());
}

/// Whether `text` is an IMEI that [`write()`] may give.
pub fn accepts(text: &str) -> bool {
    let bytes = text.as_bytes();
    bytes.len() == 15
        && bytes.iter().all(u8::is_ascii_digit)
        && text[..2].parse().is_ok_and(|body: u64| BODIES.contains(&body))
        && &text[8..14] != "000000"
        && luhn_holds(bytes)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::seed::Seed;

    #[test]
    fn what_is_made_of_any_seed_is_accepted() {
        for seed in 0..10_000 {
            let mut random = Seed::parse(&seed.to_string()).unwrap().random("imei", "");
            let mut number = String::new();
            write(&mut random, &mut number);
            assert!(accepts(&number), "{number}");
        }
    }

    #[test]
    fn length_body_serial_number_and_check_digit_count() {
        assert!(accepts("356938035643809"));
        for wrong in [
            "356938035643808",
            "35693803564380",
            "3569380356438090",
            "35693803564380A",
            // The digits of these agree with Luhn.
            "490154203237518",
            "001234567891233",
            "350000000000006",
        ] {
            assert!(!accepts(wrong), "{wrong}");
        }
        assert!(
            ["490154203237518", "001234567891233", "350000000000006"]
                .iter()
                .all(|number| luhn_holds(number.as_bytes()))
        );
    }
}
