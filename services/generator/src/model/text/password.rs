//! Passwords from the operating system's random number generator.

use crate::model::random::Random;
use crate::model::seed::SeedError;

const LOWER: &[u8] = b"abcdefghijklmnopqrstuvwxyz";
const DIGITS: &[u8] = b"0123456789";
const UPPER: &[u8] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZ";
const SPECIAL: &[u8] = b"!#$%&()*+,-./:;<=>?@[]^_{|}~";

/// Character classes to use in addition to lower-case letters.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Classes {
    /// Digits.
    pub digits: bool,
    /// Capital letters.
    pub upper: bool,
    /// Punctuation, except for quotes and the backslash.
    pub special: bool,
}

/// Generates a password with at least one character from each class. If it is too short for this,
/// lower-case letters are the first to be omitted.
///
/// # Errors
/// Returns an error if the operating system doesn't provide any random bytes.
pub fn password(length: usize, classes: Classes) -> Result<String, SeedError> {
    let mut key = [0; 32];
    getrandom::fill(&mut key)?;
    Ok(sampled(&mut Random::from_key(key), length, classes))
}

/// Like [`password`], but drawn from the given stream and therefore reproducible.
pub fn sampled(random: &mut Random, length: usize, classes: Classes) -> String {
    let chosen = [(classes.digits, DIGITS), (classes.upper, UPPER), (classes.special, SPECIAL)];
    let mut alphabets: Vec<&[u8]> =
        chosen.into_iter().filter(|(wanted, _)| *wanted).map(|(_, alphabet)| alphabet).collect();
    alphabets.push(LOWER);
    let all = alphabets.concat();
    let mut password: Vec<u8> =
        alphabets.iter().take(length).map(|alphabet| *random.pick(alphabet)).collect();
    password.resize_with(length, || *random.pick(&all));
    for end in (1..password.len()).rev() {
        password.swap(end, random.index(end + 1));
    }
    password.into_iter().map(char::from).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_character_class_appears_if_and_only_if_requested() {
        let mut random = Random::from_key([7; 32]);
        for flags in 0..8 {
            let [digits, upper, special] = [1, 2, 4].map(|bit| flags & bit != 0);
            let classes = Classes { digits, upper, special };
            for length in [3, 4, 5, 20, 250] {
                for _ in 0..50 {
                    let password = sampled(&mut random, length, classes);
                    let has = |set: &[u8]| password.bytes().any(|byte| set.contains(&byte));
                    assert_eq!(password.len(), length);
                    assert_eq!(has(DIGITS), digits, "{password}");
                    assert_eq!(has(UPPER), upper, "{password}");
                    assert_eq!(has(SPECIAL), special, "{password}");
                    assert_eq!(has(LOWER), length > 3 || flags != 7, "{password}");
                }
            }
        }
    }

    #[test]
    fn required_characters_can_be_at_any_position() {
        let mut random = Random::from_key([8; 32]);
        let classes = Classes { digits: true, upper: false, special: false };
        let mut places = [0; 4];
        for _ in 0..4_000 {
            let password = sampled(&mut random, 4, classes);
            for (place, byte) in places.iter_mut().zip(password.bytes()) {
                *place += u32::from(byte.is_ascii_digit());
            }
        }
        let [least, most] = [places.iter().min().unwrap(), places.iter().max().unwrap()];
        assert!(most - least < 250, "{places:?}");
    }
}
