//! European identity numbers.

use super::date;
use super::imprint::{self, AUSTRIAN, ITALIAN_MONTHS, NORWEGIAN_LAST, NORWEGIAN_TENTH};
use super::number::{Number, base_36, checks, fits};
use super::outcome::Outcome;
use super::rules::{
    baltic_check, birth_number, bulgarian_citizen, bulgarian_foreigner, dutch_eleven, irish_letter,
    latvian_person, mod_11_10, romanian_person, spanish_identity, usual_birth_number,
    yugoslav_check,
};
use super::scheme::{Scheme, person};
use super::vat_east::{moldovan, russian};
use super::vat_west::andorran;
use crate::model::check::luhn_holds;

pub const SCHEMES: &[Scheme] = &[
    person("AD", "NRT", r"[ACDEFGLOPU]\d{6}[A-Z]", andorran)
        .make(r"(?<w9>F[0-6]\d{5}[A-Z])|(?<w1>E\d{6}[A-Z])"),
    person("AT", "SVNR", r"[1-9]\d{9}", |n| {
        // Months 13 to 15 are used for days on which serial numbers have run out.
        let spare = (13..=15).contains(&n.value(6, 8)) && (1..=31).contains(&n.value(4, 6));
        fits(spare || date::day_first(n, 4).is_ok())?;
        checks(n.sum(AUSTRIAN) % 11 == n.digit(3))
    })
    .imprint(imprint::austria),
    person("BE", "national number", r"\d{11}", belgium).imprint(imprint::belgium),
    person("BG", "ЕГН", r"\d{10}", bulgarian_citizen).imprint(imprint::bulgaria),
    person("BG", "foreigner number", r"\d{10}", bulgarian_foreigner),
    person("CH", "AHV/AVS", r"756\d{10}", |n| {
        let sum = n.sum(&[1, 3, 1, 3, 1, 3, 1, 3, 1, 3, 1, 3]);
        checks((10 - sum % 10) % 10 == n.last())
    }),
    person("CZ", "RČ", r"\d{9,10}", birth_number)
        .make(r"\d{10}")
        .imprint(imprint::czechia)
        .make_rule(usual_birth_number),
    person("SK", "RČ", r"\d{9,10}", birth_number)
        .make(r"\d{10}")
        .imprint(imprint::czechia)
        .make_rule(usual_birth_number),
    person("DE", "IdNr", r"[1-9]\d{10}", |n| {
        fits(one_digit_repeats(n))?;
        mod_11_10(n)
    }),
    person("DK", "CPR", r"\d{10}", |n| {
        let (day, month, year) = date::year_month_day(n, 0);
        let century = match (n.digit(6), year) {
            (0..=3, _) | (4 | 9, 37..) => 1900,
            (5..=8, 58..) => 1800,
            _ => 2000,
        };
        fits(date::day(century + year, month, day).is_some_and(|born| born <= n.today()))
    })
    .imprint(imprint::denmark)
    // The check digit was abolished in 2007, but older software still checks it.
    .make_rule(|n| checks(n.sum(&[4, 3, 2, 7, 6, 5, 4, 3, 2, 1]) % 11 == 0)),
    person("EE", "isikukood", r"[1-8]\d{10}", |n| {
        baltic_birth(n)?;
        baltic_check(n)
    })
    .imprint(imprint::baltic),
    person("ES", "DNI/NIE", r"[\dXYZ]\d{7}[A-Z]", spanish_identity)
        // Foreigners make up 12 % of the population.
        .make(r"((?<w88>\d)|(?<w4>X)|(?<w7>Y)|(?<w1>Z))\d{7}[A-Z]"),
    person("FI", "HETU", r"\d{6}[-+A-FU-Y]\d{3}[0-9A-Y]", finland)
        .imprint(imprint::finland)
        .keep(&['-']),
    person("FR", "NIR", r"[1-478]\d{4}(\d[0-9AB])\d{8}", |n| {
        // The Corsican departments 2A and 2B count as 19 and 18.
        let digits = n.text().replacen("2A", "19", 1).replacen("2B", "18", 1);
        let whole = Number::new(&digits, n.today());
        fits(digits.bytes().all(|byte| byte.is_ascii_digit()))?;
        checks(97 - whole.value(0, 13) % 97 == whole.value(13, 15))
    })
    // Corsicans make up 0.5 % of the population. 20 was Corsica until 1976, and 96 to 99 mean
    // abroad.
    .make(concat!(
        r"[12]\d{4}((?<w925>0[1-9]|1\d|2[1-9]|[3-8]\d|9[0-5])|(?<w5>2[AB])|(?<w70>99))",
        r"(0[0-8]\d|[1-4]\d\d)\d{5}"
    ))
    .imprint(imprint::france),
    person("FR", "NIF", r"[0-3]\d{12}", |n| checks(n.value(0, 10) % 511 == n.value(10, 13)))
        .make(r"[0-3]\d{9}[0-5]\d\d"),
    person(
        "GB",
        "National Insurance number",
        r"[A-CEGHJ-PR-TW-Z][A-CEGHJ-NPR-TW-Z]\d{6}[A-D]",
        |n| {
            const UNUSED: [&str; 7] = ["BG", "GB", "KN", "NK", "NT", "TN", "ZZ"];
            fits(!UNUSED.contains(&n.part(0, 2).text()))
        },
    ),
    person("GB", "NHS number", r"\d{10}", |n| {
        checks(n.sum(&[10, 9, 8, 7, 6, 5, 4, 3, 2, 1]) % 11 == 0)
    }),
    person("GB", "UTR", r"\d{10}K?", |n| {
        const DIGITS: &[u8; 11] = b"21987654321";
        let sum = n.part(1, 10).sum(&[6, 7, 8, 9, 10, 5, 4, 3, 2]);
        checks(DIGITS[(sum % 11) as usize] == n.at(0))
    })
    .make(r"\d{10}"),
    person("GR", "ΑΜΚΑ", r"\d{11}", |n| {
        date::day_first(n, 0)?;
        n.luhn()
    })
    .imprint(imprint::greece),
    person("IE", "PPS number", r"\d{7}[A-W][ABHWTX]?", |n| {
        let digits: [i32; 7] = std::array::from_fn(|position| n.digit(position));
        let second = match n.at(8) {
            letter @ (b'A' | b'B' | b'H') if n.len() == 9 => i32::from(letter - b'A') + 1,
            _ => 0,
        };
        checks(irish_letter(&digits, second) == char::from(n.at(7)))
    }),
    person("IS", "kennitala", r"\d{9}[09]", |n| {
        let (day, month, year) = date::year_month_day(n, 0);
        let century = if n.last() == 9 { 1900 } else { 2000 };
        // Companies add 40 to the day.
        let day = if day > 40 { day - 40 } else { day };
        date::exists(century + year, month, day)?;
        checks(n.sum(&[3, 2, 7, 6, 5, 4, 3, 2, 1, 0]) % 11 == 0)
    })
    .make(r"\d{6}[2-9]\d\d[09]")
    .imprint(imprint::iceland),
    person("IT", "codice fiscale", ITALIAN_FORM, italy).make(ITALIAN_MAKE).imprint(imprint::italy),
    person("LT", "asmens kodas", r"[1-9]\d{10}", |n| {
        if n.at(0) != b'9' {
            baltic_birth(n)?;
        }
        baltic_check(n)
    })
    .imprint(imprint::baltic),
    person("LV", "personas kods", r"\d{11}", latvian_person).imprint(imprint::latvia),
    person("NL", "BSN", r"\d{9}", dutch_eleven).pad(8, 9),
    person("NO", "fødselsnummer", r"\d{11}", norway).imprint(imprint::norway),
    person("PL", "PESEL", r"\d{11}", |n| {
        let (year, month, day) = date::year_month_day(n, 0);
        let century = [1900, 2000, 2100, 2200, 1800][(month / 20) as usize % 5];
        date::exists(century + year, month % 20, day)?;
        let sum = n.sum(&[1, 3, 7, 9, 1, 3, 7, 9, 1, 3]);
        checks((10 - sum % 10) % 10 == n.last())
    })
    .imprint(imprint::poland),
    person("PT", "cartão de cidadão", r"\d{9}[0-9A-Z]{2}\d", |n| {
        let fold = |value: i32| if value > 9 { value - 9 } else { value };
        let positions = n.bytes().iter().rev().enumerate();
        let sum: i32 = positions
            .map(|(i, byte)| if i % 2 == 1 { fold(base_36(*byte) * 2) } else { base_36(*byte) })
            .sum();
        checks(sum % 10 == 0)
    }),
    person("RO", "CNP", r"[1-9]\d{12}", romanian_person)
        .make(r"[1-6]\d{6}[0-4]\d{5}")
        .imprint(imprint::romania),
    person("MD", "IDNP", r"\d{13}", moldovan).make(r"[02]\d{12}"),
    person("RU", "ИНН", r"\d{12}", russian),
    person("SE", "personnummer", r"(\d\d)?\d{6}[+]?\d{4}", sweden)
        .make(r"(19|20)\d{10}")
        .imprint(imprint::sweden),
    person("SI", "EMŠO", r"\d{13}", |n| {
        let year = n.value(4, 7);
        let year = if year < 800 { 2000 + year } else { 1000 + year };
        date::exists(year, n.value(2, 4), n.value(0, 2))?;
        yugoslav_check(n)
    })
    .imprint(imprint::slovenia),
    person("TR", "T.C. kimlik", r"[1-9]\d{10}", |n| {
        let tenth = (10 - n.sum(&[3, 1, 3, 1, 3, 1, 3, 1, 3]) % 10) % 10;
        let eleventh = n.sum(&[1; 10]) % 10;
        checks(tenth == n.digit(9) && eleventh == n.digit(10))
    }),
    person("UA", "РНОКПП", r"\d{10}", |n| {
        fits(n.value(0, 5) > 0)?;
        let sum = n.sum(&[-1, 5, 7, 9, 4, 6, 10, 5, 7]);
        checks(sum.rem_euclid(11) % 10 == n.last())
    })
    .imprint(imprint::ukraine),
];

/// Returns whether exactly one of the first ten digits is repeated. It must occur two or three
/// times, but not three times in a row, because the tax office (ELSTER) rules that out.
fn one_digit_repeats(n: &Number<'_>) -> bool {
    if n.bytes()[..10].windows(3).any(|three| three[0] == three[1] && three[1] == three[2]) {
        return false;
    }
    let mut counts = [0; 10];
    n.bytes()[..10].iter().for_each(|byte| counts[usize::from(byte - b'0')] += 1);
    let mut repeated = counts.iter().filter(|count| **count > 1);
    matches!((repeated.next(), repeated.next()), (Some(2 | 3), None))
}

fn belgium(n: &Number<'_>) -> Outcome {
    let (year, month, day) = date::year_month_day(n, 0);
    // Provisional numbers add 20 or 40 to the month. Month and day can be unknown.
    let month = month % 20;
    let born = |century: u64| {
        let whole = date::day(century + year, month.max(1), day.max(1));
        n.value(2, 4) < 60 && month <= 12 && whole.is_some_and(|born| born <= n.today())
    };
    fits(born(1900) || born(2000))?;
    let check = |front: u64| 97 - (front + n.value(0, 9)) % 97;
    let given = n.value(9, 11);
    let old = born(1900) && check(0) == given;
    checks(old || born(2000) && check(2_000_000_000) == given)
}

/// Checks the birth date after the digit for century and sex, for Estonia and Lithuania.
fn baltic_birth(n: &Number<'_>) -> Outcome {
    let century = 1800 + (n.digit(0) as u64 - 1) / 2 * 100;
    let (year, month, day) = date::year_month_day(n, 1);
    date::exists(century + year, month, day)
}

fn finland(n: &Number<'_>) -> Outcome {
    const CHECKS: &str = "0123456789ABCDEFHJKLMNPRSTUVWXY";
    let (day, month, year) = date::year_month_day(n, 0);
    let century = match n.at(6) {
        b'+' => 1800,
        b'A'..=b'F' => 2000,
        _ => 1900,
    };
    date::exists(century + year, month, day)?;
    fits((2..=899).contains(&n.value(7, 10)))?;
    n.ends_in(CHECKS, ((n.value(0, 6) * 1000 + n.value(7, 10)) % 31) as i32)
}

const ITALIAN_FORM: &str =
    concat!(r"[A-Z]{6}[\dLMNP-V]{2}[A-EHLMPR-T]", r"[\dLMNP-V]{2}[A-Z][\dLMNP-V]{3}[A-Z]");
/// Names mostly contribute consonants, and codes of municipalities start with letters up to L.
const ITALIAN_MAKE: &str =
    r"[BCDFGLMNPRSTVZ]{6}\d\d[A-EHLMPR-T]([04][1-9]|[15]\d|[26][0-8])[A-IL]\d{3}[A-Z]";

fn italy(n: &Number<'_>) -> Outcome {
    // Letters replace digits where two people would otherwise have the same number.
    let digit = |position: usize| {
        let byte = n.at(position);
        "LMNPQRSTUV".find(char::from(byte)).map_or(u64::from(byte.wrapping_sub(b'0')), |i| i as u64)
    };
    let year = digit(6) * 10 + digit(7);
    let month = ITALIAN_MONTHS.iter().position(|letter| *letter == n.at(8));
    let month = month.map_or(0, |position| position as u64 + 1);
    let day = match digit(9) * 10 + digit(10) {
        day if day > 40 => day - 40,
        day => day,
    };
    fits([1900, 2000].iter().any(|century| date::day(century + year, month, day).is_some()))?;
    let letter = crate::model::iban::italian_letter(&n.bytes()[..15]);
    checks(letter == n.at(15))
}

fn norway(n: &Number<'_>) -> Outcome {
    let (day, month, year) = date::year_month_day(n, 0);
    let century = match (n.value(6, 9), year) {
        (0..=499, _) => 1900,
        (900..=999, 40..) => 1900,
        (500..=749, 54..) => 1800,
        (500..=999, 0..40) => 2000,
        _ => return fits(false),
    };
    let day = if day > 40 { day - 40 } else { day };
    let month = if month > 40 { month - 40 } else { month };
    date::exists(century + year, month, day)?;
    let check = |weights: &[i32]| (11 - n.sum(weights) % 11) % 11;
    let (tenth, eleventh) = (check(NORWEGIAN_TENTH), check(NORWEGIAN_LAST));
    checks(tenth == n.digit(9) && eleventh == n.digit(10))
}

fn sweden(n: &Number<'_>) -> Outcome {
    let plus = n.text().contains('+');
    let digits = n.text().replace('+', "");
    let whole = Number::new(&digits, n.today());
    let short = whole.part(digits.len() - 10, digits.len());
    let (year, month, day) = date::year_month_day(&short, 0);
    let this_year = n.today().year() as u64;
    let year = match digits.len() {
        12 => whole.value(0, 4),
        _ => {
            let latest = this_year - (this_year + 100 - year) % 100;
            if plus { latest - 100 } else { latest }
        }
    };
    date::exists(year, month, day)?;
    checks(luhn_holds(short.bytes()))
}
