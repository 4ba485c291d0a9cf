//! Social security numbers of the United States, as they were given out since 2011.

use super::random::Random;
use super::short::Short;

/// Numbers that were printed in advertisements and are refused everywhere.
const ADVERTISED: [&str; 3] = ["078-05-1120", "219-09-9999", "457-55-5462"];

/// Writes a number as `AAA-GG-SSSS`.
pub fn write(random: &mut Random, out: &mut String) {
    loop {
        let area = random.between(1, 898);
        let mut number = Short::new();
        // 666 was never an area; the draw has one value fewer so that none is likelier.
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

/// Whether nine digits make a number that could have been given out.
pub fn accepts(digits: &str) -> bool {
    let [area, group, serial] = [&digits[..3], &digits[3..5], &digits[5..]];
    let hyphened = format!("{area}-{group}-{serial}");
    ("001".."900").contains(&area)
        && area != "666"
        && group != "00"
        && serial != "0000"
        && !ADVERTISED.contains(&hyphened.as_str())
}
