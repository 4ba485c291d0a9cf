//! Writes a person's birth date and sex into a sampled number.
//!
//! Check digits are usually found by trying different last digits. Where this can't work or would
//! take too long, they are computed here.

#![expect(clippy::ptr_arg, reason = "all have one type, and one of them shortens the number")]

use jiff::civil::{Date, date};

use super::person::Person;
use crate::model::check;
use crate::model::iban::italian_letter;

/// Writes a person's birth date and sex into a sampled number.
pub type Imprint = fn(&mut Vec<u8>, &Person);

/// The letters that represent months in Italian numbers.
pub const ITALIAN_MONTHS: &[u8; 12] = b"ABCDEHLMPRST";

fn put(text: &mut [u8], at: usize, value: i64, width: usize) {
    let mut rest = value;
    for place in text[at..at + width].iter_mut().rev() {
        *place = b'0' + (rest % 10) as u8;
        rest /= 10;
    }
}

/// Writes `YYMMDD`, with `shift` added to the month.
fn year_first(text: &mut [u8], at: usize, person: &Person, shift: i8) {
    put(text, at, i64::from(person.born.year() % 100), 2);
    put(text, at + 2, i64::from(person.born.month() + shift), 2);
    put(text, at + 4, i64::from(person.born.day()), 2);
}

/// Writes `DDMMYY`, with `shift` added to the day.
fn day_first(text: &mut [u8], at: usize, person: &Person, shift: i8) {
    put(text, at, i64::from(person.born.day() + shift), 2);
    put(text, at + 2, i64::from(person.born.month()), 2);
    put(text, at + 4, i64::from(person.born.year() % 100), 2);
}

/// Writes the code for the place of birth, if any.
fn place(text: &mut [u8], at: usize, person: &Person) {
    if let Some(place) = &person.place {
        let code = place.as_bytes();
        text[at..at + code.len()].copy_from_slice(code);
    }
}

/// Makes the digit at offset `at` odd or even.
fn parity(text: &mut [u8], at: usize, odd: bool) {
    text[at] = (text[at] & !1) | u8::from(odd);
}

/// Maps the digit at offset `at` to one of `count` digits, starting at `first`.
fn within(text: &mut [u8], at: usize, first: u8, count: u8) {
    text[at] = b'0' + first + (text[at] - b'0') % count;
}

/// Writes the digit for century and sex, which is `first` for a man born in the 1900s and `first` +
/// 1 for a woman. For people born in the 2000s, `step` is added.
fn century_and_sex(text: &mut [u8], at: usize, person: &Person, first: u8, step: u8) {
    let century = if person.is_of_2000s() { step } else { 0 };
    text[at] = b'0' + first + century + u8::from(!person.is_male());
}

pub fn austria(text: &mut Vec<u8>, person: &Person) {
    day_first(text, 4, person, 0);
    // The caller rejects numbers whose check digit would be 10.
    text[3] = check::ascii(check::weighted(text, AUSTRIAN) as u32 % 11);
}

/// Weights for the Austrian check digit, the fourth of ten digits.
pub const AUSTRIAN: &[i32] = &[3, 7, 9, 0, 5, 8, 4, 2, 1, 6];

pub fn belgium(text: &mut Vec<u8>, person: &Person) {
    year_first(text, 0, person, 0);
    parity(text, 8, person.is_male());
    let front = if person.is_of_2000s() { 2_000_000_000 } else { 0 };
    let check = 97 - (front + check::number(&text[..9])) % 97;
    put(text, 9, check as i64, 2);
}

pub fn bulgaria(text: &mut Vec<u8>, person: &Person) {
    year_first(text, 0, person, if person.is_of_2000s() { 40 } else { 0 });
    parity(text, 8, !person.is_male());
}

pub fn china(text: &mut Vec<u8>, person: &Person) {
    place(text, 0, person);
    put(text, 6, i64::from(person.born.year()), 4);
    year_first(text, 8, person, 0);
    parity(text, 16, person.is_male());
}

pub fn cuba(text: &mut Vec<u8>, person: &Person) {
    year_first(text, 0, person, 0);
    match person.is_of_2000s() {
        true => within(text, 6, 6, 3),
        false => within(text, 6, 0, 6),
    }
    parity(text, 9, !person.is_male());
}

/// Czechia and Slovakia. Only numbers issued since 1954 have a check digit.
pub fn czechia(text: &mut Vec<u8>, person: &Person) {
    year_first(text, 0, person, if person.is_male() { 0 } else { 50 });
    if person.born < date(1954, 1, 1) {
        text.truncate(9);
    }
}

pub fn denmark(text: &mut Vec<u8>, person: &Person) {
    day_first(text, 0, person, 0);
    match person.is_of_2000s() {
        true => within(text, 6, 4, 6),
        false => within(text, 6, 0, 4),
    }
    parity(text, 9, person.is_male());
}

/// Estonia and Lithuania.
pub fn baltic(text: &mut Vec<u8>, person: &Person) {
    year_first(text, 1, person, 0);
    century_and_sex(text, 0, person, 3, 2);
}

pub fn finland(text: &mut Vec<u8>, person: &Person) {
    day_first(text, 0, person, 0);
    text[6] = if person.is_of_2000s() { b'A' } else { b'-' };
    parity(text, 9, person.is_male());
}

pub fn france(text: &mut Vec<u8>, person: &Person) {
    text[0] = if person.is_male() { b'1' } else { b'2' };
    put(text, 1, i64::from(person.born.year() % 100), 2);
    put(text, 3, i64::from(person.born.month()), 2);
    place(text, 5, person);
    // The Corsican departments 2A and 2B count as 19 and 18.
    let mut digits = text.clone();
    match digits[6] {
        b'A' => put(&mut digits, 5, 19, 2),
        b'B' => put(&mut digits, 5, 18, 2),
        _ => {}
    }
    put(text, 13, 97 - (check::number(&digits[..13]) % 97) as i64, 2);
}

pub fn greece(text: &mut Vec<u8>, person: &Person) {
    day_first(text, 0, person, 0);
    parity(text, 9, person.is_male());
}

pub fn iceland(text: &mut Vec<u8>, person: &Person) {
    day_first(text, 0, person, 0);
    text[9] = if person.is_of_2000s() { b'0' } else { b'9' };
}

pub fn indonesia(text: &mut Vec<u8>, person: &Person) {
    day_first(text, 6, person, if person.is_male() { 0 } else { 40 });
}

pub fn italy(text: &mut Vec<u8>, person: &Person) {
    put(text, 6, i64::from(person.born.year() % 100), 2);
    text[8] = ITALIAN_MONTHS[(person.born.month() as usize - 1) % 12];
    put(text, 9, i64::from(person.born.day()) + if person.is_male() { 0 } else { 40 }, 2);
    place(text, 11, person);
    text[15] = italian_letter(&text[..15]);
}

pub fn korea(text: &mut Vec<u8>, person: &Person) {
    year_first(text, 0, person, 0);
    century_and_sex(text, 6, person, 1, 2);
}

/// Latvia. Numbers issued since July 2017 start with 32 and don't contain a date.
pub fn latvia(text: &mut Vec<u8>, person: &Person) {
    if person.born >= date(2017, 7, 1) {
        return put(text, 0, 32, 2);
    }
    day_first(text, 0, person, 0);
    text[6] = if person.is_of_2000s() { b'2' } else { b'1' };
}

pub fn malaysia(text: &mut Vec<u8>, person: &Person) {
    year_first(text, 0, person, 0);
    parity(text, 11, person.is_male());
}

pub fn mauritius(text: &mut Vec<u8>, person: &Person) {
    day_first(text, 1, person, 0);
}

pub fn salvador(text: &mut Vec<u8>, person: &Person) {
    day_first(text, 4, person, 0);
}

pub fn mexico(text: &mut Vec<u8>, person: &Person) {
    year_first(text, 4, person, 0);
    text[10] = if person.is_male() { b'H' } else { b'M' };
    text[16] = if person.is_of_2000s() { b'A' } else { b'0' };
    text[17] = mexican_digit(&text[..17]);
}

/// Returns the check digit of a Mexican CURP. Its alphabet has Ñ between N and O.
pub fn mexican_digit(front: &[u8]) -> u8 {
    let value = |byte: &u8| match byte {
        b'O'..=b'Z' => u32::from(byte - b'O') + 25,
        b'A'..=b'N' => u32::from(byte - b'A') + 10,
        _ => check::digit(*byte),
    };
    let sum: u32 =
        front.iter().zip((2..=18).rev()).map(|(byte, weight)| value(byte) * weight).sum();
    check::ascii((10 - sum % 10) % 10)
}

pub fn norway(text: &mut Vec<u8>, person: &Person) {
    day_first(text, 0, person, 0);
    within(text, 6, if person.is_of_2000s() { 5 } else { 0 }, 5);
    parity(text, 8, person.is_male());
    for (at, weights) in [(9, NORWEGIAN_TENTH), (10, NORWEGIAN_LAST)] {
        // The caller rejects numbers whose check digit would be 10.
        text[at] = b'0' + (11 - check::weighted(&text[..at], weights) % 11) as u8 % 11 % 10;
    }
}

/// Weights for the first Norwegian check digit.
pub const NORWEGIAN_TENTH: &[i32] = &[3, 7, 6, 1, 8, 9, 4, 5, 2];
/// Weights for the second Norwegian check digit.
pub const NORWEGIAN_LAST: &[i32] = &[5, 4, 3, 2, 7, 6, 5, 4, 3, 2];

/// Pakistan. The last digit is never 0.
pub fn pakistan(text: &mut Vec<u8>, person: &Person) {
    place(text, 0, person);
    let digit = check::digit(text[12]);
    text[12] = check::ascii(if person.is_male() { digit % 5 * 2 + 1 } else { digit % 4 * 2 + 2 });
}

pub fn poland(text: &mut Vec<u8>, person: &Person) {
    year_first(text, 0, person, if person.is_of_2000s() { 20 } else { 0 });
    parity(text, 9, person.is_male());
}

pub fn romania(text: &mut Vec<u8>, person: &Person) {
    year_first(text, 1, person, 0);
    century_and_sex(text, 0, person, 1, 4);
}

pub fn slovenia(text: &mut Vec<u8>, person: &Person) {
    day_first(text, 0, person, 0);
    put(text, 4, i64::from(person.born.year() % 1000), 3);
    put(text, 7, 50, 2);
    within(text, 9, if person.is_male() { 0 } else { 5 }, 5);
}

pub fn south_africa(text: &mut Vec<u8>, person: &Person) {
    year_first(text, 0, person, 0);
    within(text, 6, if person.is_male() { 5 } else { 0 }, 5);
}

pub fn sweden(text: &mut Vec<u8>, person: &Person) {
    put(text, 0, i64::from(person.born.year()), 4);
    year_first(text, 2, person, 0);
    parity(text, 10, person.is_male());
}

pub fn ukraine(text: &mut Vec<u8>, person: &Person) {
    let days = UKRAINIAN_START.until(person.born).map_or(0, |span| span.get_days());
    put(text, 0, i64::from(days), 5);
    parity(text, 8, person.is_male());
}

/// The day before day 1, because Ukrainian numbers count days.
const UKRAINIAN_START: Date = date(1899, 12, 31);
