//! E-mail addresses at domains reserved for examples (RFC 2606).

use super::latin::plain;
use crate::model::names::Identity;
use crate::model::random::Random;

const DOMAINS: [(&str, u16); 3] = [("example.com", 6), ("example.org", 2), ("example.net", 2)];

/// The first part of the local part if the name cannot be written in Latin letters.
const FIRST: [&str; 16] = [
    "blue", "calm", "early", "gentle", "green", "happy", "little", "lucky", "quiet", "rapid",
    "red", "silver", "sunny", "tiny", "warm", "wild",
];
/// The second part of the local part if the name cannot be written in Latin letters.
const SECOND: [&str; 16] = [
    "bird", "cloud", "crane", "field", "fox", "garden", "hill", "lake", "leaf", "moon", "panda",
    "pine", "river", "stone", "tiger", "wave",
];

/// Builds an address from the name and possibly the year of birth.
pub fn make(name: &Identity, born: i16, german: bool, random: &mut Random) -> String {
    let first = |text: &str| plain(text.split(' ').next().unwrap_or_default(), german);
    let (given, surname) = (first(&name.given), plain(&name.surname, german));
    let style = random.below(4);
    let mut address = match (given, surname) {
        (Some(given), Some(surname)) => match style {
            0 => format!("{}.{surname}", &given[..1]),
            1 => format!("{given}{surname}"),
            2 => format!("{given}_{surname}"),
            _ => format!("{given}.{surname}"),
        },
        _ => format!("{}.{}", random.pick(&FIRST), random.pick(&SECOND)),
    };
    if random.percent(40) {
        address.push_str(&format!("{:02}", born % 100));
    }
    address.push('@');
    address.push_str(random.pick_weighted::<&str>(&DOMAINS));
    address
}
