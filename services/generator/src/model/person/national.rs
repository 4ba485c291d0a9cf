//! Identity numbers that contain letters from the name, and numbers that are faster to compute than
//! to sample.

use jiff::civil::Date;

use super::place::{areas, tax_region};
use crate::model::check::{ascii, digit, mod_11_10, weighted};
use crate::model::iban::italian_letter;
use crate::model::names::{Identity, plain};
use crate::model::numbers::{REFERENCE_DAY, Schemes, mexican_digit};
use crate::model::random::Random;
use crate::model::ssn;

/// Computes a number for countries where sampling would be slow. Apart from the state in Brazil, it
/// doesn't encode anything about the person. Returns `None` for all other countries.
pub fn computed(country: &str, state: &str, random: &mut Random) -> Option<String> {
    let digits = match country {
        "BR" => brazilian(state, random),
        "DE" => german(random),
        "RU" => russian(random),
        "TR" => turkish(random),
        _ => return None,
    };
    String::from_utf8(digits).ok()
}

/// Returns a US social security number. Until 2011, the first three digits depended on the state
/// where the person applied for it, usually soon after birth.
pub fn american(state: &str, born: Date, random: &mut Random) -> String {
    let mut number = String::with_capacity(11);
    ssn::write(random, &mut number);
    if let Some((first, last)) = areas(state, born) {
        number.replace_range(..3, &format!("{:03}", random.between(first, last)));
    }
    number
}

fn digits(count: usize, random: &mut Random) -> Vec<u8> {
    (0..count).map(|_| ascii(random.below(10) as u32)).collect()
}

/// Computes a CPF. Its ninth digit is the tax region, followed by two modulo 11 check digits.
fn brazilian(state: &str, random: &mut Random) -> Vec<u8> {
    let mut number = digits(9, random);
    if let Some(region) = tax_region(state) {
        number[8] = region;
    }
    for weights in [[10, 9, 8, 7, 6, 5, 4, 3, 2, 0], [11, 10, 9, 8, 7, 6, 5, 4, 3, 2]] {
        let rest = (11 - weighted(&number, &weights) % 11) % 11;
        number.push(ascii((rest % 10) as u32));
    }
    number
}

/// Computes a German identification number, in which one of the first ten digits occurs twice and
/// all others at most once.
fn german(random: &mut Random) -> Vec<u8> {
    let mut number = b"0123456789".to_vec();
    for last in (1..number.len()).rev() {
        number.swap(last, random.index(last + 1));
    }
    let twice = random.index(10);
    let other = (twice + 1 + random.index(9)) % 10;
    number[other] = number[twice];
    if let Some(first) = number.iter().position(|byte| *byte != b'0') {
        number.swap(0, first);
    }
    number.push(ascii(mod_11_10(&number)));
    number
}

/// Computes the ИНН of a person, which has two check digits, each computed from all digits before
/// it.
fn russian(random: &mut Random) -> Vec<u8> {
    let mut number = digits(10, random);
    for weights in [&[7, 2, 4, 10, 3, 5, 9, 4, 6, 8, 0], &[3, 7, 2, 4, 10, 3, 5, 9, 4, 6, 8]] {
        number.push(ascii((weighted(&number, weights) % 11 % 10) as u32));
    }
    number
}

/// Computes a T.C. Kimlik number, which ends with two check digits.
fn turkish(random: &mut Random) -> Vec<u8> {
    let mut number = digits(9, random);
    number[0] = ascii(random.between(1, 9) as u32);
    let tenth = weighted(&number, &[7, 9, 7, 9, 7, 9, 7, 9, 7]);
    number.push(ascii((tenth % 10) as u32));
    let sum: u32 = number.iter().map(|byte| digit(*byte)).sum();
    number.push(ascii(sum));
    number
}

/// Writes letters from the name into a generated number, and then recomputes the check character.
///
/// Leaves the number unchanged if the register wouldn't issue these letters.
pub fn with_name(number: String, name: &Identity, schemes: &Schemes) -> String {
    let mut text = number.clone().into_bytes();
    let written = match (schemes.country(), text.len()) {
        ("IT", 16) => italian(&mut text, name),
        ("MX", 18) => mexican(&mut text, name),
        _ => None,
    };
    let written = written.and_then(|()| String::from_utf8(text).ok());
    written.filter(|text| schemes.check(text, REFERENCE_DAY).is_ok()).unwrap_or(number)
}

fn capitals(name: &str) -> Option<Vec<u8>> {
    let letters = plain(name, "").to_ascii_uppercase().into_bytes();
    (!letters.is_empty()).then_some(letters)
}

fn is_vowel(letter: &u8) -> bool {
    matches!(letter, b'A' | b'E' | b'I' | b'O' | b'U')
}

/// Writes three letters of the surname and three of the given name. Consonants come first, then
/// vowels, and then X as filler. In a given name with at least four consonants, the second one is
/// skipped.
fn italian(text: &mut [u8], name: &Identity) -> Option<()> {
    let (surname, given) = (capitals(&name.surname)?, capitals(&name.given)?);
    let consonants: Vec<u8> = given.iter().copied().filter(|letter| !is_vowel(letter)).collect();
    let given = match consonants.as_slice() {
        [first, _, third, fourth, ..] => vec![*first, *third, *fourth],
        _ => given,
    };
    for (start, letters) in [(0, surname), (3, given)] {
        let (vowels, consonants): (Vec<u8>, Vec<u8>) = letters.iter().partition(|l| is_vowel(l));
        let three = consonants.into_iter().chain(vowels).chain(*b"XXX").take(3);
        text[start..start + 3].iter_mut().zip(three).for_each(|(place, letter)| *place = letter);
    }
    text[15] = italian_letter(&text[..15]);
    Some(())
}

/// Writes the initials and inner letters of both surnames and the given name.
fn mexican(text: &mut [u8], name: &Identity) -> Option<()> {
    let mut surnames = name.surname.split(' ').map(capitals);
    let first = surnames.next()??;
    let second = surnames.next().flatten().unwrap_or_else(|| b"X".to_vec());
    let given = capitals(&name.given)?;
    let inner = |letters: &[u8], vowel: bool| {
        letters.iter().skip(1).copied().find(|l| is_vowel(l) == vowel).unwrap_or(b'X')
    };
    text[..4].copy_from_slice(&[first[0], inner(&first, true), second[0], given[0]]);
    text[13..16].copy_from_slice(&[
        inner(&first, false),
        inner(&second, false),
        inner(&given, false),
    ]);
    text[17] = mexican_digit(&text[..17]);
    Some(())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn named(given: &str, surname: &str) -> Identity {
        let (given, surname) = (given.to_owned(), surname.to_owned());
        Identity { given, surname, ..Identity::default() }
    }

    #[test]
    fn italian_letters_follow_the_published_rules() {
        for (given, surname, letters) in [
            ("Mario", "Rossi", "RSSMRA"),
            ("Gianfranco", "Fo", "FOXGFR"),
            ("Anna", "De Luca", "DLCNNA"),
        ] {
            let mut text = *b"AAAAAA00A00A000A";
            italian(&mut text, &named(given, surname)).unwrap();
            assert_eq!(&text[..6], letters.as_bytes(), "{given} {surname}");
        }
        let mut text = *b"AAAA000000HDFAAA00";
        mexican(&mut text, &named("Gloria", "Hernández García")).unwrap();
        assert_eq!(&text[..17], b"HEGG000000HDFRRL0");
    }
}
