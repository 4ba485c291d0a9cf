//! Tax numbers in Western, Northern and Southern Europe, plus the one-stop shop.

use super::number::{Number, base_36, checks, fits};
use super::outcome::Outcome;
use super::rules::{
    either, free, french_key, irish_letter, luhn_all, luhn_digit, mod_11_10, spanish_identity,
    spanish_letter,
};
use super::scheme::{Scheme, both, vat};
use crate::model::check::{luhn_holds, mod_97};

pub const SCHEMES: &[Scheme] = &[
    both("AD", "NRT", r"[ACDEFGLOPU]\d{6}[A-Z]", andorran).make(r"[AL]7\d{5}[A-Z]"),
    vat("AT", "UID", r"U\d{8}", |n| {
        // `luhn_digit` returns a check digit, which is turned back into the sum of the six digits
        // before adding the seventh.
        let sum = (10 - luhn_digit(&n.part(1, 7)) + n.digit(7)) % 10;
        checks((6 - sum).rem_euclid(10) == n.last())
    }),
    vat("BE", "BTW/TVA", r"[01]\d{9}", |n| {
        checks(97 - n.value(0, 8) % 97 == n.value(8, 10) && n.value(0, 8) > 0)
    })
    .prefixes(&["BE(0)", "(0)"])
    .pad(9, 10),
    vat("CH", "MWST/TVA/IVA", r"CHE\d{9}(MWST|TVA|IVA|TPV)", |n| {
        let sum = n.part(3, 11).sum(&[5, 4, 3, 2, 7, 6, 5, 4]);
        checks((11 - sum % 11) % 11 == n.digit(11))
    }),
    vat("CY", "ΦΠΑ", r"\d{8}[A-Z]", |n| {
        const ODD: [i32; 10] = [1, 0, 5, 7, 9, 13, 15, 17, 19, 21];
        fits(n.value(0, 2) != 12)?;
        let value = |i: usize| match i % 2 {
            0 => ODD[n.digit(i) as usize % 10],
            _ => n.digit(i),
        };
        let sum: i32 = (0..8).map(value).sum();
        checks(sum % 26 == i32::from(n.at(8) - b'A'))
    }),
    vat("DE", "USt-IdNr", r"[1-9]\d{8}", mod_11_10),
    vat("DK", "CVR", r"[1-9]\d{7}", |n| checks(n.sum(&[2, 7, 6, 5, 4, 3, 2, 1]) % 11 == 0)),
    vat("ES", "NIF", r"[\dXYZ]\d{7}[A-Z]|[KLM]\d{7}[A-Z]|[ABCDEFGHJNPQRSUVW]\d{7}[\dA-J]", spain),
    vat("EU", "one-stop shop number", r"\d{9}", one_stop).front("EU"),
    vat("FI", "ALV", r"\d{8}", |n| checks(n.sum(&[7, 9, 10, 5, 8, 4, 2, 1]) % 11 == 0)),
    vat("FO", "V-tal", r"\d{6}", free),
    vat("FR", "TVA", r"[0-9A-HJ-NP-Z]{2}\d{9}", |n| {
        let siren = n.part(2, 11);
        checks(siren.text().starts_with("000") || luhn_holds(siren.bytes()))?;
        french_key(n)
    })
    .make_rule(no_prefix_key),
    vat("GB", "VAT", r"\d{9}|\d{12}|(GD|HA)\d{3}|(GD|HA)8888\d{5}", britain)
        .make(r"(?<w93>\d{9})|(?<w5>\d{12})|(?<w2>(GD|HA)\d{3})")
        .make_rule(published_british_check),
    vat("GR", "ΑΦΜ", r"\d{9}", |n| {
        let sum = n.sum(&[256, 128, 64, 32, 16, 8, 4, 2]);
        checks(sum % 11 % 10 == n.last())
    })
    .pad(8, 9),
    vat("IE", "VAT", r"\d{7}[A-W]{1,2}|\d[A-Z+*]\d{5}[A-W]", |n| {
        let digits = |positions: [usize; 7]| positions.map(|position| n.digit(position));
        if !n.at(1).is_ascii_digit() {
            // In the old format, the first digit has the last weight, and a 0 is prepended.
            let mut old = digits([0, 2, 3, 4, 5, 6, 0]);
            old[0] = 0;
            return checks(irish_letter(&old, 0) == char::from(n.at(7)));
        }
        let second = if n.len() == 9 { (i32::from(n.at(8)) - 64) % 23 } else { 0 };
        checks(irish_letter(&digits([0, 1, 2, 3, 4, 5, 6]), second) == char::from(n.at(7)))
    })
    // The second letter is A for people and H for companies. Most samples with one are rejected, so
    // it needs a weight above its share of a quarter. Old numbers start with 7, 8 or 9.
    .make(r"(?<w18>\d{7}[A-W])|(?<w80>\d{7}[A-W]H)|(?<w2>[7-9][A-Z]\d{5}[A-W])")
    .make_rule(|n| fits(n.len() == 8 || matches!(n.at(8), b'A' | b'H'))),
    vat("IM", "import one-stop shop number", r"\d{10}", one_stop).front("IM"),
    vat("IS", "VSK", r"\d{5,6}", free),
    both("IT", "P. IVA", r"\d{11}", |n| {
        let office = matches!(n.value(7, 10), 1..=100 | 120 | 121 | 888 | 999);
        fits(n.value(0, 7) > 0 && office)?;
        n.luhn()
    })
    .make(r"\d{7}(0\d\d|100|120|121|888|999)\d"),
    both("LI", "PEID", r"[1-9]\d{3,11}", free).strip_zeros(),
    vat("LU", "TVA", r"\d{8}", |n| checks(n.value(0, 6) % 89 == n.value(6, 8))),
    vat("MC", "TVA", r"[0-9A-HJ-NP-Z]{2}000\d{6}", french_key)
        .prefixes(&["FR"])
        .make_rule(no_prefix_key),
    vat("MT", "VAT", r"[1-9]\d{7}", |n| {
        fits(n.value(0, 6) > 100_000)?;
        checks(37 - n.sum(&[3, 4, 6, 7, 8, 9]) % 37 == n.value(6, 8) as i32)
    }),
    vat("NL", "Btw", r"\d{9}B\d{2}", |n| {
        fits(n.value(10, 12) > 0)?;
        either(
            super::rules::dutch_eleven(&n.part(0, 9)),
            checks(mod_97(format!("NL{}", n.text()).as_bytes()) == 1),
        )
    }),
    vat("NO", "MVA", r"\d{9}MVA", |n| {
        checks(n.sum(&[3, 2, 7, 6, 5, 4, 3, 2, 1]) % 11 == 0 && n.value(0, 9) > 0)
    }),
    both("PT", "NIF", r"[1-9]\d{8}", |n| {
        let check = (11 - n.sum(&[9, 8, 7, 6, 5, 4, 3, 2]) % 11) % 11;
        checks(check % 10 == n.last())
    }),
    vat("SE", "Moms", r"\d{10}01", |n| luhn_all(&n.part(0, 10))),
    vat("SM", "COE", r"[1-9]\d{0,4}", |n| {
        fits(n.value(0, n.len()) >= 100 || SAN_MARINO.contains(&n.value(0, n.len())))
    })
    .strip_zeros(),
];

/// Valid San Marino numbers below 100.
const SAN_MARINO: &[u64] = &[
    2, 4, 6, 7, 8, 9, 10, 11, 13, 16, 18, 19, 20, 21, 25, 26, 30, 32, 33, 35, 36, 37, 38, 39, 40,
    42, 45, 47, 49, 51, 52, 55, 56, 57, 58, 59, 61, 62, 64, 65, 66, 67, 68, 69, 70, 71, 72, 73, 74,
    75, 76, 79, 80, 81, 84, 85, 87, 88, 91, 92, 94, 95, 96, 97, 99,
];

/// Countries that issue one-stop shop numbers, by ISO number.
const ONE_STOP: &[u64] = &[
    40, 56, 100, 191, 196, 203, 208, 233, 246, 250, 276, 300, 348, 372, 380, 428, 440, 442, 470,
    528, 616, 620, 642, 703, 705, 724, 752, 900,
];

/// Rejects numbers whose key is `FR`. Although valid, validators mistake this key for a country
/// prefix.
fn no_prefix_key(n: &Number<'_>) -> Outcome {
    fits(!n.text().starts_with("FR"))
}

fn one_stop(n: &Number<'_>) -> Outcome {
    fits(ONE_STOP.contains(&n.value(0, 3)))
}

fn spain(n: &Number<'_>) -> Outcome {
    match n.at(0) {
        b'K' | b'L' | b'M' => checks(spanish_letter(n.value(1, 8)) == n.end()),
        b'0'..=b'9' | b'X' | b'Y' | b'Z' => spanish_identity(n),
        _ => {
            let control = luhn_digit(&n.part(1, 8));
            let letter = (base_36(n.at(8)) - 9).rem_euclid(10);
            let is_digit = n.at(8).is_ascii_digit();
            // Company numbers end in a digit. Numbers of foreign entities, churches and public
            // bodies end in a letter.
            let fitting = match n.at(0) {
                b'A' | b'B' | b'E' | b'H' => is_digit,
                b'N' | b'P' | b'Q' | b'R' | b'S' | b'W' => !is_digit,
                _ => true,
            };
            fits(fitting)?;
            checks(control == if is_digit { n.last() } else { letter })
        }
    }
}

fn britain(n: &Number<'_>) -> Outcome {
    let of_office = |value: u64| match n.at(0) {
        b'G' => value < 500,
        _ => value >= 500,
    };
    match n.len() {
        5 => fits(of_office(n.value(2, 5))),
        11 => {
            fits(of_office(n.value(6, 9)))?;
            checks(n.value(6, 9) % 97 == n.value(9, 11))
        }
        _ => {
            // Numbers from 100 up can also follow a second scheme, which shifts the sum by 55.
            let rest = british_rest(n);
            checks(if n.value(0, 3) >= 100 { [0, 42, 55].contains(&rest) } else { rest == 0 })?;
            checks(n.value(7, 9) <= 97)
        }
    }
}

fn british_rest(n: &Number<'_>) -> i32 {
    n.sum(&[8, 7, 6, 5, 4, 3, 2, 10, 1]) % 97
}

/// Applies the two schemes as published by HMRC. Some numbers are accepted whose sum is shifted in
/// the other direction, but validators that implement only the publication reject them.
fn published_british_check(n: &Number<'_>) -> Outcome {
    checks(matches!(n.len(), 5 | 11) || [0, 42].contains(&british_rest(n)))
}

/// Andorra: the letter indicates a resident, a non-resident, or a type of company. Some letters
/// have their own range of numbers.
pub fn andorran(n: &Number<'_>) -> Outcome {
    let value = n.value(1, 7);
    fits(match n.at(0) {
        b'F' => value <= 699_999,
        b'A' | b'L' => (700_000..800_000).contains(&value),
        _ => true,
    })
}
