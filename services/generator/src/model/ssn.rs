//! US social security numbers in the format used since 2011.

use super::ascii_buffer::AsciiBuffer;
use super::random::Random;

/// Numbers that were invalidated because they had been printed in advertisements.
const ADVERTISED: [&str; 3] = ["078-05-1120", "219-09-9999", "457-55-5462"];

/// Appends a number in the format `AAA-GG-SSSS`.
pub fn write(random: &mut Random, out: &mut String) {
    loop {
        let area = random.between(1, 898);
        let mut number = AsciiBuffer::new();
        // Area 666 is never issued. Draw from a range that is shorter by one and skip 666, so that
        // all other areas are equally likely.
        number.push_number(area + u64::from(area >= 666), 3);
        number.push(b'-');
        number.push_number(random.between(1, 99), 2);
        number.push(b'-');
        number.push_number(random.between(1, 9_999), 4);
        if !ADVERTISED.contains(&number.as_str()) {
            return out.push_str(number.as_str());
        }
    }
}

/// Returns whether a number with these nine digits could have been issued.
pub fn accepts(digits: &str) -> bool {
    let [area, group, serial] = [&digits[..3], &digits[3..5], &digits[5..]];
    let hyphened = format!("{area}-{group}-{serial}");
    ("001".."900").contains(&area)
        && area != "666"
        && group != "00"
        && serial != "0000"
        && !ADVERTISED.contains(&hyphened.as_str())
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use super::*;
    use crate::model::seed::Seed;

    #[test]
    fn values_of_any_seed_pass_the_check() {
        let mut areas = HashSet::new();
        for seed in 0..10_000 {
            let mut random = Seed::parse(&seed.to_string()).unwrap().random("ssn", "");
            let mut number = String::new();
            write(&mut random, &mut number);
            assert_eq!((number.len(), &number[3..4], &number[6..7]), (11, "-", "-"));
            assert!(accepts(&number.replace('-', "")), "{number}");
            areas.insert(number[..3].to_owned());
        }
        // There are 898 areas. With this many samples, the odds of missing any given one are 1 in
        // 70,000.
        assert!(areas.contains("001") && areas.contains("899") && areas.contains("667"));
    }

    #[test]
    fn numbers_that_were_never_issued_are_rejected() {
        assert!(accepts("001010001") && accepts("899999999") && accepts("665012345"));
        for wrong in [
            "000123456",
            "666123456",
            "900123456",
            "987654321",
            "999999999",
            "123006789",
            "123450000",
            "078051120",
            "219099999",
            "457555462",
        ] {
            assert!(!accepts(wrong), "{wrong}");
        }
    }
}
