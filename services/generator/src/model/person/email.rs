//! Email addresses at the domains reserved for examples (RFC 2606), and usernames.
//!
//! Both are unique within a stream. Separator, number and domain together encode the person's
//! index, and the names themselves contain neither separators nor digits.

use crate::model::names::{Identity, plain};
use crate::model::random::Random;

/// Separators and domains for consecutive people. Once these run out, a number is added.
const ENDINGS: [(&str, &str); 9] = [
    (".", "example.com"),
    ("", "example.org"),
    ("_", "example.com"),
    (".", "example.net"),
    ("", "example.com"),
    (".", "example.org"),
    ("_", "example.net"),
    ("", "example.net"),
    ("_", "example.org"),
];

/// Separators in the usernames of consecutive people.
const SEPARATORS: [&str; 3] = ["", ".", "_"];

/// Returns the address of the person at `index` in a stream.
pub fn address(name: &Identity, language: &str, index: u64, random: &mut Random) -> String {
    let [round, position] = split(index, ENDINGS.len());
    let (separator, domain) = ENDINGS[position as usize];
    let (given, surname) = parts(name, language);
    let given = if random.percent(25) { &given[..1] } else { &given };
    format!("{given}{separator}{surname}{}@{domain}", number(round))
}

/// Returns the username of the person at `index` in a stream.
pub fn username(name: &Identity, language: &str, index: u64, random: &mut Random) -> String {
    let [round, position] = split(index, SEPARATORS.len());
    let separator = SEPARATORS[position as usize];
    let (given, surname) = parts(name, language);
    let (first, second) = match random.below(4) {
        0 => (&given[..1], &surname[..]),
        1 => (&given[..], &surname[..1]),
        _ => (&given[..], &surname[..]),
    };
    format!("{first}{separator}{second}{}", number(round))
}

fn split(index: u64, count: usize) -> [u64; 2] {
    [index / count as u64, index % count as u64]
}

fn number(round: u64) -> String {
    if round == 0 { String::new() } else { round.to_string() }
}

/// Returns the given name that a person goes by, and the surname. Vietnamese given names start with
/// the middle name.
fn parts(name: &Identity, language: &str) -> (String, String) {
    let mut words = name.given_latin.split(' ');
    let called = if language == "vi" { words.next_back() } else { words.next() };
    // A test makes sure that Latin forms are never empty.
    let part = |text: &str| Some(plain(text, "en")).filter(|text| !text.is_empty());
    let or_x = |text: &str| part(text).unwrap_or_else(|| "x".to_owned());
    (or_x(called.unwrap_or_default()), or_x(&name.surname_latin))
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use super::*;
    use crate::model::names;
    use crate::model::seed::Seed;

    #[test]
    fn addresses_and_user_names_of_a_stream_are_unique_and_hold_the_name() {
        for code in ["ja", "en_US", "ko", "vi"] {
            let culture = names::find(code).unwrap();
            let mut random = Seed::parse("mail").unwrap().random("test", code);
            let (mut addresses, mut users) = (HashSet::new(), HashSet::new());
            for index in 0..50_000 {
                let name = culture.identity(true, &mut random);
                let address = address(&name, culture.language(), index, &mut random);
                let user = username(&name, culture.language(), index, &mut random);
                assert!(address.contains(&plain(&name.surname_latin, "en")), "{address}");
                assert!(user.starts_with(&address[..1]), "{user} {address}");
                assert!(addresses.insert(address) && users.insert(user));
            }
        }
    }

    #[test]
    fn vietnamese_addresses_have_the_given_name_and_not_the_middle_name() {
        let name = Identity {
            given_latin: "Van Minh".to_owned(),
            surname_latin: "Nguyen".to_owned(),
            ..Identity::default()
        };
        assert_eq!(parts(&name, "vi"), ("minh".to_owned(), "nguyen".to_owned()));
    }
}
