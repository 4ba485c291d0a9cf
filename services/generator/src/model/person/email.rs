//! Email addresses at the domains reserved for examples (RFC 2606), and usernames.
//!
//! Both are unique within a stream, because the separator, number and domain together encode the
//! person's index, and names never contain separators or digits.

use crate::model::digits::push_padded;
use crate::model::names::{Identity, push_plain};
use crate::model::random::Random;

/// Separators and domains for consecutive people. Once these are used up, a number is added.
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

/// Appends the address of the person at `index` in a stream.
pub fn write_address(
    name: &Identity,
    language: &str,
    index: u64,
    random: &mut Random,
    out: &mut String,
) {
    let [round, position] = split(index, ENDINGS.len());
    let (separator, domain) = ENDINGS[position as usize];
    push_part(called(name, language), random.percent(25), out);
    out.push_str(separator);
    push_part(&name.surname_latin, false, out);
    push_round(round, out);
    out.push('@');
    out.push_str(domain);
}

/// Appends the username of the person at `index` in a stream.
pub fn write_username(
    name: &Identity,
    language: &str,
    index: u64,
    random: &mut Random,
    out: &mut String,
) {
    let [round, position] = split(index, SEPARATORS.len());
    let form = random.below(4);
    push_part(called(name, language), form == 0, out);
    out.push_str(SEPARATORS[position as usize]);
    push_part(&name.surname_latin, form == 1, out);
    push_round(round, out);
}

fn split(index: u64, count: usize) -> [u64; 2] {
    [index / count as u64, index % count as u64]
}

fn push_round(round: u64, out: &mut String) {
    if round > 0 {
        push_padded(round, 1, out);
    }
}

/// Appends a name in lower-case letters, or only the first of them.
fn push_part(name: &str, is_short: bool, out: &mut String) {
    let start = out.len();
    push_plain(name, "en", out);
    // A test ensures that Latin forms are never empty.
    if out.len() == start {
        out.push('x');
    }
    if is_short {
        out.truncate(start + 1);
    }
}

/// Returns the given name that a person is called by. Vietnamese given names start with the middle
/// name.
fn called<'a>(name: &'a Identity, language: &str) -> &'a str {
    let mut words = name.given_latin.split(' ');
    let called = if language == "vi" { words.next_back() } else { words.next() };
    called.unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use super::*;
    use crate::model::names::{self, plain};
    use crate::model::seed::Seed;

    #[test]
    fn addresses_and_user_names_of_a_stream_are_unique_and_hold_the_name() {
        for code in ["ja", "en_US", "ko", "vi"] {
            let culture = names::find(code).unwrap();
            let mut random = Seed::parse("mail").unwrap().random("test", code);
            let (mut addresses, mut users) = (HashSet::new(), HashSet::new());
            for index in 0..50_000 {
                let name = culture.identity(true, &mut random);
                let (mut address, mut user) = (String::new(), String::new());
                write_address(&name, culture.language(), index, &mut random, &mut address);
                write_username(&name, culture.language(), index, &mut random, &mut user);
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
        let mut address = String::new();
        write_address(&name, "vi", 0, &mut Random::of_row([1, 2], 0), &mut address);
        assert!(["minh.nguyen@example.com", "m.nguyen@example.com"].contains(&&*address));
    }
}
