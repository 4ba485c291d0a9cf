//! Rules that are shared by several schemes. They use the official names of the numbers.

use super::date;
use super::number::{Number, base_36, checks, fits};
use super::outcome::{Outcome, Stage};
use crate::model::check::luhn;

/// Accepts everything. Used where only the form has been published.
pub fn free(_: &Number<'_>) -> Outcome {
    Ok(())
}

/// Checks the entire number with the Luhn algorithm.
pub fn luhn_all(n: &Number<'_>) -> Outcome {
    n.luhn()
}

/// Checks the entire number with ISO 7064 MOD 11,10.
pub fn mod_11_10(n: &Number<'_>) -> Outcome {
    n.mod_11_10()
}

/// Computes the Luhn sum modulo `modulus`, for values from an alphabet of that size.
pub fn luhn_values(values: impl DoubleEndedIterator<Item = i32>, modulus: i32) -> i32 {
    let doubled = |value: i32| value * 2 / modulus + value * 2 % modulus;
    let positions = values.rev().enumerate();
    positions.map(|(position, v)| if position % 2 == 1 { doubled(v) } else { v }).sum::<i32>()
        % modulus
}

/// Returns the check letter for a Spanish identity number.
pub fn spanish_letter(value: u64) -> char {
    const LETTERS: &[u8; 23] = b"TRWAGMYFPDXBNJZSQVHLCKE";
    char::from(LETTERS[(value % 23) as usize])
}

/// Checks a Spanish identity number, for citizens (DNI) or foreigners (NIE).
pub fn spanish_identity(n: &Number<'_>) -> Outcome {
    let series = match n.at(0) {
        b'X' => 0,
        b'Y' => 10_000_000,
        b'Z' => 20_000_000,
        _ => return checks(spanish_letter(n.value(0, 8)) == n.end()),
    };
    checks(spanish_letter(series + n.value(1, 8)) == n.end())
}

/// Checks the key before a French SIREN.
pub fn french_key(n: &Number<'_>) -> Outcome {
    const ALPHABET: &str = "0123456789ABCDEFGHJKLMNPQRSTUVWXYZ";
    let index = |byte: u8| ALPHABET.find(char::from(byte)).unwrap_or_default() as i64;
    let siren = n.value(2, 11);
    let (first, second) = (n.at(0), n.at(1));
    if first.is_ascii_digit() && second.is_ascii_digit() {
        return checks((siren * 100 + 12) % 97 == n.value(0, 2));
    }
    let key = match first.is_ascii_digit() {
        true => 24 * index(first) + index(second) - 10,
        false => 34 * index(first) + index(second) - 100,
    };
    checks((siren as i64 + 1 + key.div_euclid(11)).rem_euclid(11) == key.rem_euclid(11))
}

/// Checks a Bulgarian citizen number (ЕГН).
pub fn bulgarian_citizen(n: &Number<'_>) -> Outcome {
    let (year, month, day) = date::year_month_day(n, 0);
    let (century, month) = match month {
        40.. => (2000, month - 40),
        20.. => (1800, month - 20),
        _ => (1900, month),
    };
    date::exists(century + year, month, day)?;
    checks(n.sum(&[2, 4, 8, 5, 10, 9, 7, 3, 6]) % 11 % 10 == n.last())
}

/// Checks a Bulgarian number for foreigners.
pub fn bulgarian_foreigner(n: &Number<'_>) -> Outcome {
    checks(n.sum(&[21, 19, 17, 13, 11, 9, 7, 3, 1]) % 10 == n.last())
}

/// Checks a Czech or Slovak birth number. It had nine digits until 1953 and has had ten since then.
pub fn birth_number(n: &Number<'_>) -> Outcome {
    let (year, month, day) = date::year_month_day(n, 0);
    let year = match (n.len(), year) {
        (9, 54..=79) => return fits(false),
        (9, 80..) => 1800 + year,
        (9, _) => 1900 + year,
        (_, 54..) => 1900 + year,
        _ => 2000 + year,
    };
    // Since 2004, 20 is added to the month for days on which serial numbers have run out.
    let month = if month > 50 { month - 50 } else { month };
    let month = if month > 20 && year >= 2004 { month - 20 } else { month };
    date::exists(year, month, day)?;
    if n.len() == 9 {
        return Ok(());
    }
    checks((n.value(0, 9) % 11 % 10) as i32 == n.last())
}

/// Rejects most numbers with a check digit of 0 in place of 10, which aren't divisible by 11. Only
/// about a thousand of them were issued, until 1985.
pub fn usual_birth_number(n: &Number<'_>) -> Outcome {
    let is_early = n.len() == 9 || (54..86).contains(&n.value(0, 2)) && n.value(6, 9) < 10;
    checks(is_early || n.remainder(11) == 0)
}

/// Checks a Latvian personal code, with or without a date.
pub fn latvian_person(n: &Number<'_>) -> Outcome {
    if n.text().starts_with("32") {
        return latvian_check(n);
    }
    let (day, month, year) = date::year_month_day(n, 0);
    date::exists(1800 + 100 * n.digit(6) as u64 + year, month, day)?;
    latvian_check(n)
}

fn latvian_check(n: &Number<'_>) -> Outcome {
    checks((1 + n.sum(&[10, 5, 8, 4, 2, 1, 6, 3, 7, 9])) % 11 % 10 == n.last())
}

/// Applies the weights 1 to 9 repeatedly. If the result is 10, tries again with the weights 3 to 9,
/// 1, 2 (Estonia, Lithuania).
pub fn baltic_check(n: &Number<'_>) -> Outcome {
    let sum = |shift: i32| -> i32 {
        (0..n.len() - 1).map(|i| (1 + (i as i32 + shift) % 9) * n.digit(i)).sum()
    };
    let first = sum(0) % 11;
    checks(if first == 10 { sum(2) % 11 % 10 } else { first } == n.last())
}

/// Checks a number with the Dutch eleven test.
pub fn dutch_eleven(n: &Number<'_>) -> Outcome {
    checks(n.value(0, 9) > 0 && n.sum(&[9, 8, 7, 6, 5, 4, 3, 2, -1]).rem_euclid(11) == 0)
}

/// Checks a Romanian personal number.
pub fn romanian_person(n: &Number<'_>) -> Outcome {
    let (year, month, day) = date::year_month_day(n, 1);
    let century = match n.at(0) {
        b'3' | b'4' => 1800,
        b'5' | b'6' => 2000,
        _ => 1900,
    };
    date::exists(century + year, month, day)?;
    fits(matches!(n.value(7, 9), 1..=48 | 51 | 52 | 70 | 80..=83))?;
    let check = n.sum(&[2, 7, 9, 1, 4, 6, 3, 5, 8, 2, 7, 9]) % 11;
    checks(if check == 10 { 1 } else { check } == n.last())
}

/// Checks an Ecuadorian identity card number.
pub fn ecuadorian_card(n: &Number<'_>) -> Outcome {
    let fold = |value: i32| if value > 9 { value - 9 } else { value };
    let sum: i32 = (0..10).map(|i| fold(n.digit(i) * (2 - i as i32 % 2))).sum();
    checks(sum % 10 == 0)
}

/// Checks an Indonesian personal number: region, date (with 40 added to the day for women), serial
/// number.
pub fn indonesian_person(n: &Number<'_>) -> Outcome {
    const PROVINCES: [(u64, u64); 9] =
        [(11, 19), (21, 21), (31, 36), (51, 53), (61, 64), (71, 76), (81, 82), (91, 91), (94, 94)];
    let (province, regency) = (n.value(0, 2), n.value(2, 4));
    let known = PROVINCES.iter().any(|(first, last)| (*first..=*last).contains(&province));
    fits(known && matches!(regency, 1..=30 | 71..=79))?;
    let (day, month, year) = date::year_month_day(n, 6);
    let day = if day > 40 { day - 40 } else { day };
    let born = [1900, 2000].iter().any(|century| date::day(century + year, month, day).is_some());
    fits(born)
}

/// Checks an Indian permanent account number.
pub fn indian_account(n: &Number<'_>) -> Outcome {
    fits("ABCFGHLJPTK".contains(char::from(n.at(3))) && n.value(5, 9) > 0)
}

/// Checks the Thai check digit, which is the same for people and companies.
pub fn thai_check(n: &Number<'_>) -> Outcome {
    let sum = n.sum(&[13, 12, 11, 10, 9, 8, 7, 6, 5, 4, 3, 2]);
    checks((11 - sum % 11) % 10 == n.last())
}

/// Checks the check digit of 13-digit numbers introduced in Yugoslavia (Slovenia, North Macedonia).
pub fn yugoslav_check(n: &Number<'_>) -> Outcome {
    let check = (-n.sum(&[7, 6, 5, 4, 3, 2, 7, 6, 5, 4, 3, 2])).rem_euclid(11);
    checks(if check == 10 { 0 } else { check } == n.last())
}

/// Returns the Irish check letter for seven digits and a second letter.
pub fn irish_letter(digits: &[i32], second: i32) -> char {
    const LETTERS: &[u8; 23] = b"WABCDEFGHIJKLMNOPQRSTUV";
    let sum: i32 = digits.iter().zip((2..=8).rev()).map(|(digit, weight)| digit * weight).sum();
    char::from(LETTERS[((sum + 9 * second) % 23) as usize])
}

/// Returns the Luhn digit for part of a number, for rules whose check digit isn't at the end.
pub fn luhn_digit(n: &Number<'_>) -> i32 {
    luhn(n.bytes()) as i32
}

/// Returns the better of two outcomes: success, or else the failure at the later stage.
pub fn either(one: Outcome, other: Outcome) -> Outcome {
    match (one, other) {
        (Ok(()), _) | (_, Ok(())) => Ok(()),
        (Err(one), Err(other)) => Err(one.max(other)),
    }
}

/// Rejects a number that can't exist.
pub fn never() -> Outcome {
    Err(Stage::Checksum)
}

/// Returns the sum of weight · base-36 value, from left to right.
pub fn sum_36(n: &Number<'_>, weights: impl Iterator<Item = i32>) -> i32 {
    n.bytes().iter().zip(weights).map(|(byte, weight)| base_36(*byte) * weight).sum()
}
