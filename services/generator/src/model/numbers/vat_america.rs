//! Tax numbers in the Americas.

use super::date;
use super::imprint;
use super::number::{Number, checks, fits};
use super::outcome::Outcome;
use super::outcome::Stage;
use super::rules::{ecuadorian_card, either, free, never};
use super::scheme::{Scheme, both, vat};
use crate::model::check::luhn_holds;

pub const SCHEMES: &[Scheme] = &[
    vat("AR", "CUIT", r"(20|23|24|27|30|33|34|50|51|55)\d{9}", |n| {
        let check = match 11 - n.sum(&[5, 4, 3, 2, 7, 6, 5, 4, 3, 2]) % 11 {
            11 => 0,
            10 => 9,
            other => other,
        };
        checks(check == n.last())
    }),
    // Letters have been in use since July 2026. As it is undecided whether they include I, O, U, Q
    // and F, these are accepted but not generated.
    vat("BR", "CNPJ", r"[0-9A-Z]{12}\d{2}", |n| {
        fits(n.bytes()[..12].iter().any(|byte| *byte != n.at(0)))?;
        let check = |weights: &[i32]| (11 - n.sum(weights) % 11) % 11 % 10;
        let first = check(&[5, 4, 3, 2, 9, 8, 7, 6, 5, 4, 3, 2]);
        let second = check(&[6, 5, 4, 3, 2, 9, 8, 7, 6, 5, 4, 3, 2]);
        checks(first == n.digit(12) && second == n.digit(13))
    })
    .make(concat!(
        r"(?<w90>\d{8}0001\d\d)|(?<w9>\d{8}000[1-9]\d\d)|",
        r"(?<w1>[0-9A-EGHJ-NPR-TV-Z]{8}0001\d\d)"
    )),
    vat("CA", "BN", r"\d{9}(R[CMPT]\d{4})?", |n| checks(luhn_holds(n.part(0, 9).bytes()))),
    // Company numbers are higher than personal ones, between 76 and 78 million.
    both("CL", "RUT", r"\d{7,8}[\dK]", chilean).make(r"7[678]\d{6}[\dK]"),
    both("CO", "NIT", r"\d{8,16}", colombian).make(r"(8[0369]\d|90\d|901)\d{7}"),
    vat("CR", "CPJ", r"(2[1234]00|3(00[2-9]|01[0-4]|10[1-9]|110)|4000|5001)\d{6}", free),
    vat("DO", "RNC", r"\d{9}", |n| {
        let sum = n.sum(&[7, 9, 8, 6, 5, 4, 3, 2]);
        checks((10 - sum % 11).rem_euclid(9) + 1 == n.last())
    }),
    vat("EC", "RUC", r"(0[1-9]|1\d|2[0-4]|30|50)\d{11}", ecuador),
    vat("GT", "NIT", r"\d{1,11}[\dK]", |n| {
        n.ends_in("0123456789K", (-n.sum_back(2..)).rem_euclid(11))
    })
    .make(r"[1-9]\d{5,8}[\dK]")
    .strip_zeros(),
    vat("MX", "RFC", MEXICAN_FORM, mexico)
        .make(r"[A-Z]{3,4}\d\d(0[1-9]|1[0-2])(0[1-9]|1\d|2[0-8])[1-9A-NP-Z]{2}[0-9A]")
        .make_rule(mexican_check),
    vat("PE", "RUC", r"(10|15|17|20)\d{9}", |n| {
        let sum = n.sum(&[5, 4, 3, 2, 7, 6, 5, 4, 3, 2]);
        checks((11 - sum % 11) % 10 == n.last())
    }),
    vat("PY", "RUC", r"\d{2,9}", |n| checks((-n.sum_back(2..)).rem_euclid(11) % 10 == n.last()))
        .make(r"\d{6,9}"),
    both("SV", "NIT", r"[019]\d{13}", |n| {
        let check = match n.value(10, 13) {
            ..=100 => n.sum(&[14, 13, 12, 11, 10, 9, 8, 7, 6, 5, 4, 3, 2]) % 11 % 10,
            _ => (-n.sum(&[2, 7, 6, 5, 4, 3, 2, 7, 6, 5, 4, 3, 2])).rem_euclid(11) % 10,
        };
        checks(check == n.last())
    })
    .make(r"(0[1-9]|1[0-4])(0[1-9]|1\d)\d{10}")
    .imprint(imprint::salvador),
    vat(
        "US",
        "EIN",
        r"(0[1-6]|1[0-6]|2[0-7]|3\d|4[0-8]|5\d|6[0-8]|7[1-7]|8[0-8]|9[0-58-9])\d{7}",
        free,
    ),
    vat("UY", "RUT", r"(0[1-9]|1\d|2[0-2])\d{6}001\d", |n| {
        fits(n.value(2, 8) > 0)?;
        let check = (-n.sum(&[4, 3, 2, 9, 8, 7, 6, 5, 4, 3, 2])).rem_euclid(11);
        checks(check == n.last())
    }),
    vat("VE", "RIF", r"[VEJPG]\d{9}", venezuela).make(r"J\d{9}"),
];

/// Chile: a remainder of 10 is written as K.
pub fn chilean(n: &Number<'_>) -> Outcome {
    n.ends_in("0123456789K", (11 - n.sum_back((2..=7).cycle()) % 11) % 11)
}

/// Colombia: the weights are primes, applied from the right.
pub fn colombian(n: &Number<'_>) -> Outcome {
    const WEIGHTS: [i32; 15] = [3, 7, 13, 17, 19, 23, 29, 37, 41, 43, 47, 53, 59, 67, 71];
    let rest = n.sum_back(WEIGHTS.into_iter()) % 11;
    checks(if rest < 2 { rest } else { 11 - rest } == n.last())
}

/// Venezuela: the letter is included in the sum.
pub fn venezuela(n: &Number<'_>) -> Outcome {
    let letter = match n.at(0) {
        b'V' => 4,
        b'E' => 8,
        b'J' => 12,
        b'P' => 16,
        _ => 20,
    };
    let rest = (letter + n.part(1, 9).sum(&[3, 2, 7, 6, 5, 4, 3, 2])) % 11;
    checks(if rest < 2 { 0 } else { 11 - rest } == n.last())
}

fn ecuador(n: &Number<'_>) -> Outcome {
    let person = || {
        fits(n.value(10, 13) > 0)?;
        ecuadorian_card(&n.part(0, 10))
    };
    let public = || {
        fits(n.value(9, 13) > 0)?;
        checks(n.sum(&[3, 2, 7, 6, 5, 4, 3, 2, 1]) % 11 == 0)
    };
    let firm = || {
        fits(n.value(10, 13) > 0)?;
        checks(n.sum(&[4, 3, 2, 7, 6, 5, 4, 3, 2, 1]) % 11 == 0)
    };
    match n.digit(2) {
        0..=5 => person(),
        6 => either(public(), person()),
        9 => either(public(), firm()),
        _ => never(),
    }
}

/// Letters, a date, two characters and a check digit, as in the authority's schema for invoices.
const MEXICAN_FORM: &str = r"[A-Z&Ñ]{3}\d{6}[0-9A-Z]{2}[0-9A]|[A-Z&Ñ]{4}\d{6}([0-9A-Z]{2}[0-9A])?";

/// Four-letter words that the authority replaces in the numbers of people because they are
/// offensive.
const MEXICAN_WORDS: &[&str] = &[
    "BUEI", "BUEY", "CACA", "CACO", "CAGA", "CAGO", "CAKA", "CAKO", "COGE", "COJA", "COJE", "COJI",
    "COJO", "CULO", "FETO", "GUEY", "JOTO", "KACA", "KACO", "KAGA", "KAGO", "KAKA", "KOGE", "KOJO",
    "KULO", "LOCA", "LOCO", "MAME", "MAMO", "MEAR", "MEAS", "MEON", "MION", "MOCO", "MULA", "PEDA",
    "PEDO", "PENE", "PUTA", "PUTO", "QULO", "RATA", "RUIN",
];

/// Checks the Mexican check character against the characters before it, padded with spaces to 12.
fn mexican_check(n: &Number<'_>) -> Outcome {
    const ALPHABET: &str = "0123456789ABCDEFGHIJKLMN&OPQRSTUVWXYZ Ñ";
    let index = |c: char| ALPHABET.chars().position(|other| other == c).unwrap_or_default() as i32;
    let front = n.text().chars().rev().skip(1).chain(std::iter::repeat(' '));
    let sum: i32 = front.zip(2..=13).map(|(c, weight)| index(c) * weight).sum();
    n.ends_in("0123456789A", (11 - sum % 11) % 11)
}

/// Mexico: letters followed by a date. The check character isn't enforced, because it is wrong in
/// some real numbers.
fn mexico(n: &Number<'_>) -> Outcome {
    let letters = n.text().chars().take_while(|c| !c.is_ascii_digit()).count();
    let head: String = n.text().chars().take(letters).collect();
    let rest: String = n.text().chars().skip(letters).collect();
    fits(letters == 3 || !MEXICAN_WORDS.contains(&head.as_str()))?;
    let two = |from: usize| rest.get(from..from + 2).and_then(|part| part.parse().ok());
    match (two(0), two(2), two(4)) {
        (Some(year), Some(month), Some(day)) => {
            let born = [1900, 2000]
                .iter()
                .any(|century: &u64| date::day(century + year, month, day).is_some());
            fits(born)
        }
        _ => Err(Stage::Format),
    }
}
