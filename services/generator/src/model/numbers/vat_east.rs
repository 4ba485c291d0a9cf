//! Tax numbers in Central and Eastern Europe.

use super::number::{Number, checks, fits};
use super::outcome::Outcome;
use super::rules::{
    baltic_check, birth_number, bulgarian_citizen, bulgarian_foreigner, either, free,
    latvian_person, mod_11_10, romanian_person, yugoslav_check,
};
use super::scheme::{Scheme, both, vat};

pub const SCHEMES: &[Scheme] = &[
    vat("AL", "NIPT", r"[A-M]\d{8}[A-Z]", free).prefixes(&["(AL)"]),
    vat("AZ", "VÖEN", r"\d{9}[12]", |n| {
        checks(n.sum(&[4, 1, 8, 6, 2, 7, 5, 3]) % 11 == n.digit(8))
    })
    .pad(9, 10),
    vat("BG", "ДДС", r"\d{9,10}", |n| match n.len() {
        9 => {
            let first = n.sum(&[1, 2, 3, 4, 5, 6, 7, 8]) % 11;
            let second = n.sum(&[3, 4, 5, 6, 7, 8, 9, 10]) % 11 % 10;
            checks(if first == 10 { second } else { first } == n.last())
        }
        _ => {
            let other = (11 - n.sum(&[4, 3, 2, 7, 6, 5, 4, 3, 2]) % 11) % 11;
            let person = either(bulgarian_citizen(n), bulgarian_foreigner(n));
            either(person, checks(other == n.last()))
        }
    }),
    vat("BY", "УНП", r"([1-7]\d|[ABCEHKM][ABCEHKMOPT])\d{7}", |n| {
        let letter = |byte: u8| i32::from(byte.wrapping_sub(b'A')) + 10;
        let (first, second) = match n.at(0) {
            b'0'..=b'9' => (n.digit(0), n.digit(1)),
            other => {
                let position = "ABCEHKMOPT".find(char::from(n.at(1))).unwrap_or_default();
                (letter(other), position as i32)
            }
        };
        let sum = 29 * first + 23 * second + n.part(2, 8).sum(&[19, 17, 13, 7, 5, 3]);
        checks(sum % 11 == n.last())
    })
    .prefixes(&["УHП", "UNP"]),
    vat("CZ", "DIČ", r"\d{8,10}", |n| match (n.len(), n.at(0)) {
        (8, b'9') => fits(false),
        (8, _) => {
            let check = (11 - n.sum(&[8, 7, 6, 5, 4, 3, 2]) % 11) % 11;
            checks(if check == 0 { 1 } else { check % 10 } == n.last())
        }
        (9, b'6') => {
            let rest = n.part(1, 8).sum(&[8, 7, 6, 5, 4, 3, 2]) % 11;
            checks((8 - (10 - rest) % 11).rem_euclid(10) == n.last())
        }
        _ => birth_number(n),
    }),
    vat("EE", "KMKR", r"\d{9}", |n| checks(n.sum(&[3, 7, 1, 3, 7, 1, 3, 7, 1]) % 10 == 0)),
    both("HR", "OIB", r"\d{11}", mod_11_10),
    vat("HU", "ANUM", r"\d{8}", |n| checks(n.sum(&[9, 7, 3, 1, 9, 7, 3, 1]) % 10 == 0)),
    vat("LT", "PVM", r"\d{7}1\d|\d{10}1\d", baltic_check).make(r"(?<w7>\d{7}1\d)|(?<w3>\d{10}1\d)"),
    vat("LV", "PVN", r"\d{11}", |n| match n.digit(0) {
        4.. => checks(n.sum(&[9, 1, 4, 8, 3, 10, 2, 5, 7, 6, 1]) % 11 == 3),
        _ => latvian_person(n),
    }),
    // The first digit distinguishes companies from people.
    both("MD", "IDNO", r"\d{13}", moldovan).make(r"1\d{12}"),
    vat("ME", "PIB", r"\d{8}", |n| {
        let check = (-n.sum(&[8, 7, 6, 5, 4, 3, 2])).rem_euclid(11);
        checks(check % 10 == n.last())
    }),
    vat("MK", "ЕДБ", r"\d{13}", yugoslav_check),
    vat("PL", "NIP", r"\d{10}", |n| checks(n.sum(&[6, 5, 7, 2, 3, 4, 5, 6, 7]) % 11 == n.last())),
    vat("RO", "CF", r"[1-9]\d{1,9}|[1-9]\d{12}", |n| match n.len() {
        13 => romanian_person(n),
        _ => romanian_firm(n),
    })
    .make(concat!(
        r"(?<w95>[1-9]\d{1,9})|",
        r"(?<w5>[1-6]\d\d(0[1-9]|1[0-2])(0[1-9]|1\d|2[0-8])[0-4]\d{5})"
    )),
    vat("RS", "PIB", r"\d{9}", mod_11_10),
    // Companies have ten digits, people have twelve.
    both("RU", "ИНН", r"\d{10}|\d{12}", russian).make(r"\d{10}"),
    vat("SI", "ID za DDV", r"[1-9]\d{7}", |n| {
        let check = 11 - n.sum(&[8, 7, 6, 5, 4, 3, 2]) % 11;
        checks(if check == 10 { 0 } else { check } == n.last())
    }),
    vat("SK", "IČ DPH", r"\d{10}", |n| {
        let third = matches!(n.digit(2), 2 | 3 | 4 | 7 | 8 | 9);
        let firm = match n.digit(0) > 0 && third {
            true => checks(n.value(0, 10) % 11 == 0),
            false => fits(false),
        };
        either(birth_number(n), firm)
    }),
    vat("UA", "ЄДРПОУ", r"\d{8}", |n| {
        let weights = match n.digit(0) {
            3..=5 => [7, 1, 2, 3, 4, 5, 6],
            _ => [1, 2, 3, 4, 5, 6, 7],
        };
        let first = n.sum(&weights) % 11;
        let second = n.sum(&weights.map(|weight| weight + 2)) % 11 % 10;
        checks(if first == 10 { second } else { first } == n.last())
    }),
];

fn romanian_firm(n: &Number<'_>) -> Outcome {
    let weights = [2, 3, 5, 7, 1, 2, 3, 5, 7].into_iter();
    checks(10 * n.sum_back(weights) % 11 % 10 == n.last())
}

/// Moldova: three weights, repeated.
pub fn moldovan(n: &Number<'_>) -> Outcome {
    checks(n.sum(&[7, 3, 1, 7, 3, 1, 7, 3, 1, 7, 3, 1]) % 10 == n.last())
}

/// Russia: one check digit for companies, two for people.
pub fn russian(n: &Number<'_>) -> Outcome {
    if n.len() == 10 {
        return checks(n.sum(&[2, 4, 10, 3, 5, 9, 4, 6, 8]) % 11 % 10 == n.last());
    }
    let eleventh = n.sum(&[7, 2, 4, 10, 3, 5, 9, 4, 6, 8]) % 11 % 10;
    let twelfth = n.sum(&[3, 7, 2, 4, 10, 3, 5, 9, 4, 6, 8]) % 11 % 10;
    checks(eleventh == n.digit(10) && twelfth == n.digit(11))
}
