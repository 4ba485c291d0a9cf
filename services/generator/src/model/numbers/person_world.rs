//! Identity numbers outside Europe.

use super::date;
use super::imprint;
use super::number::{Number, checks, fits};
use super::outcome::Outcome;
use super::rules::{
    ecuadorian_card, free, indian_account, indonesian_person, luhn_all, sum_36, thai_check,
};
use super::scheme::{Scheme, person};
use super::vat_america::{chilean, colombian, venezuela};
use crate::model::ssn;

/// Counties whose codes have never changed, so they are valid for any birth year.
const CHINESE_RESIDENTS: &str = concat!(
    r"(110101|110105|110106|110108|120101|120104|140121|150121|210224|222401|230722|",
    r"310101|310104|310107|330122|330127|340121|350121|360121|422822|430121|510121|",
    r"520203|530124|540121|610323|620121|632221|640121|650121)\d{11}[\dX]",
);

pub const SCHEMES: &[Scheme] = &[
    person("AR", "DNI", r"\d{7,8}", free).make(r"([5-9]|[1-6]\d)\d{6}"),
    person("AU", "TFN", r"\d{8,9}", |n| checks(n.sum(&[1, 4, 3, 7, 5, 8, 6, 9, 10]) % 11 == 0)),
    person("BR", "CPF", r"\d{11}", |n| {
        fits(n.bytes().iter().any(|byte| *byte != n.at(0)))?;
        let check = |weights: &[i32]| (11 - n.sum(weights) % 11) % 11 % 10;
        let tenth = check(&[10, 9, 8, 7, 6, 5, 4, 3, 2]);
        let eleventh = check(&[11, 10, 9, 8, 7, 6, 5, 4, 3, 2]);
        checks(tenth == n.digit(9) && eleventh == n.digit(10))
    }),
    // Numbers of temporary residents start with 9.
    person("CA", "SIN", r"[1-79]\d{8}", luhn_all).make(r"((?<w96>[1-7])|(?<w4>9))\d{8}"),
    person("CN", "resident card", r"\d{17}[\dX]", china)
        .make(CHINESE_RESIDENTS)
        .imprint(imprint::china),
    person("CL", "RUT", r"\d{7,8}[\dK]", chilean).make(r"([5-9]|1\d|2[0-7])\d{6}[\dK]"),
    // Numbers of citizen cards, either in the format used before 2004 or in the current one.
    person("CO", "NIT", r"\d{8,16}", colombian).make(r"(?<w6>1[01]\d{9})|(?<w4>[1-9]\d{8})"),
    person("CR", "cédula", r"0\d{9}|1\d{10,11}", free)
        .make(r"(?<w92>0[1-7]\d{8})|(?<w8>1\d{10,11})")
        .pad(9, 10)
        .parts(&[2, 4, 4]),
    person("CU", "NI", r"\d{11}", |n| {
        let century = match n.digit(6) {
            9 => 1800,
            0..=5 => 1900,
            _ => 2000,
        };
        let (year, month, day) = date::year_month_day(n, 0);
        date::exists(century + year, month, day)
    })
    .imprint(imprint::cuba),
    person("DO", "cédula", r"\d{11}", luhn_all),
    person("EC", "CI", r"(0[1-9]|1\d|2[0-4]|30|50)[0-6]\d{7}", ecuadorian_card)
        .make(r"((?<w97>0[1-9]|1\d|2[0-4])|(?<w3>30))[0-5]\d{7}"),
    person("ID", "NIK", r"\d{16}", indonesian_person)
        // In this order: Sumatra, Java, Borneo, Bali and the Lesser Sundas, Celebes, the Moluccas
        // and Papua.
        .make(concat!(
            r"((?<w22>1[1-9]|21)|(?<w56>3[1-6])|(?<w6>6[1-4])|(?<w6b>5[1-3])|",
            r"(?<w7>7[1-6])|(?<w3>81|82|91|94))[0-2]\d{13}"
        ))
        .imprint(imprint::indonesia),
    person("IL", "identity number", r"\d{9}", |n| {
        fits(n.value(0, 9) > 0)?;
        n.luhn()
    })
    .pad(1, 9),
    person("IN", "Aadhaar", r"[2-9]\d{11}", |n| {
        fits(n.bytes().iter().ne(n.bytes().iter().rev()))?;
        checks(verhoeff(n) == 0)
    }),
    person("IN", "PAN", r"[A-Z]{5}\d{4}[A-Z]", indian_account)
        .make(r"[A-Z]{3}[ABCFGHLJPTK][A-Z]\d{4}[A-Z]"),
    person("JP", "My Number", r"\d{12}", |n| {
        let check = (-n.sum(&[6, 5, 4, 3, 2, 7, 6, 5, 4, 3, 2])).rem_euclid(11);
        checks(check % 10 == n.last())
    }),
    person("KR", "RRN", r"\d{13}", |n| {
        let century = match n.digit(6) {
            1 | 2 | 5 | 6 => 1900,
            3 | 4 | 7 | 8 => 2000,
            _ => 1800,
        };
        let (year, month, day) = date::year_month_day(n, 0);
        date::exists(century + year, month, day)?;
        fits(n.value(7, 9) <= 96)?;
        let sum = n.sum(&[2, 3, 4, 5, 6, 7, 8, 9, 2, 3, 4, 5]);
        checks((11 - sum % 11) % 10 == n.last())
    })
    .imprint(imprint::korea),
    person("MU", "NID", r"[A-Z]\d{12}[\dA-Z]", |n| {
        date::day_first(n, 1)?;
        let sum = sum_36(&n.part(0, 13), (2..=14).rev());
        n.ends_in("0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ", (17 - sum % 17) % 17)
    })
    .make(r"[A-Z]\d{12}[\dA-G]")
    .imprint(imprint::mauritius),
    person("MX", "CURP", r"[A-Z]{4}\d{6}[HM][A-Z]{2}[B-DF-HJ-NP-TV-Z]{3}[0-9A-Z]\d", mexico)
        // States grouped by population: more than five million, two to five million, and fewer. The
        // last group is for people born abroad.
        .make(concat!(
            r"[A-Z][AEIOUX][A-Z]{2}\d{6}[HM]((?<w55>MC|DF|JC|VZ|PL|GT|CS|NL)|",
            r"(?<w33>MN|OC|CH|GR|TS|BC|CL|HG|SL|SP|SR|TC|YN|QT)|",
            r"(?<w11>MS|DG|QR|ZS|AS|TL|NT|CC|CM|BS)|(?<w1>NE))[B-DF-HJ-NP-TV-Z]{3}[0-9A]\d"
        ))
        .imprint(imprint::mexico),
    person("MY", "NRIC", r"\d{12}", |n| {
        date::year_first(n, 0)?;
        fits(matches!(
            n.value(6, 8),
            1..=16 | 21..=59 | 60..=68 | 71 | 72 | 74..=79 | 82..=93 | 98 | 99
        ))
    })
    // A Malaysian state, or a country of birth.
    .make(r"\d{6}((?<w97>0[1-9]|1[0-6])|(?<w3>6[0-8]|7[1245]))\d{4}")
    .imprint(imprint::malaysia),
    person("PE", "CUI", r"\d{8}[\dA-K]?", |n| {
        if n.len() == 8 {
            return Ok(());
        }
        let rest = (n.sum(&[3, 2, 7, 6, 5, 4, 3, 2]) % 11) as usize;
        checks([b"65432110987"[rest], b"KJIHGFEDCBA"[rest]].contains(&n.at(8)))
    }),
    // The first digit is the province.
    person("PK", "CNIC", r"[1-7]\d{11}[1-9]", free)
        .make(concat!(
            r"((?<w53>3)|(?<w23>4)|(?<w15>1)|(?<w6>5)|(?<w1>6)|(?<w1b>7)|(?<w1c>2))",
            r"[1-7]\d{10}[1-9]"
        ))
        .imprint(imprint::pakistan),
    person("TH", "PIN", r"[1-8]\d{12}", thai_check),
    person("US", "SSN", r"\d{3}-\d{2}-\d{4}|\d{9}", |n| {
        let digits: String = n.text().chars().filter(char::is_ascii_digit).collect();
        fits(ssn::accepts(&digits))
    })
    .write(ssn::write)
    .keep(&['-']),
    person("US", "ITIN", r"9\d\d(-\d\d-|\d\d)\d{4}", |n| {
        let digits: String = n.text().chars().filter(char::is_ascii_digit).collect();
        let group = Number::new(&digits, n.today()).value(3, 5);
        fits(matches!(group, 70..=88 | 90..=92 | 94..=99))
    })
    .make(r"9\d\d-(7\d|8[0-8])-\d{4}")
    .keep(&['-']),
    person("VE", "RIF", r"[VE]\d{9}", venezuela).make(r"(?<w96>V[0-3]\d{8})|(?<w4>E8[0-4]\d{7})"),
    person("ZA", "identity number", r"\d{10}[01]\d\d", |n| {
        date::year_first(n, 0)?;
        n.luhn()
    })
    .imprint(imprint::south_africa),
];

fn china(n: &Number<'_>) -> Outcome {
    let province = matches!(
        n.value(0, 2),
        11..=15 | 21..=23 | 31..=37 | 41..=46 | 50..=54 | 61..=65 | 71 | 81..=83
    );
    fits(province && n.value(2, 6) > 0)?;
    let born = date::day(n.value(6, 10), n.value(10, 12), n.value(12, 14));
    fits(born.is_some_and(|born| born.year() > 1800))?;
    let sum = n.sum(&[7, 9, 10, 5, 8, 4, 2, 1, 6, 3, 7, 9, 10, 5, 8, 4, 2]);
    n.ends_in("0123456789X", (12 - sum % 11) % 11)
}

/// Mexican states of birth, plus NE for abroad.
const MEXICAN_STATES: &str = "AS BC BS CC CH CL CM CS DF DG GR GT HG JC MC MN MS NE NL NT OC PL QR QT SL \
                              SP SR TC TL TS VZ YN ZS";

/// Four-letter words that the Mexican register replaces because they are offensive.
const MEXICAN_WORDS: &str = "BACA BAKA BUEI BUEY CACA CACO CAGA CAGO CAKA CAKO COGE COGI COJA COJE COJI \
                             COJO COLA CULO FALO FETO GETA GUEI GUEY JETA JOTO KACA KACO KAGA KAGO \
                             KAKA KAKO KOGE KOGI KOJA KOJE KOJI KOJO KOLA KULO LILO LOCA LOCO LOKA \
                             LOKO MAME MAMO MEAR MEAS MEON MIAR MION MOCO MOKO MULA MULO NACA NACO \
                             PEDA PEDO PENE PIPI PITO POPO PUTA PUTO QULO RATA ROBA ROBE ROBO RUIN \
                             SENO TETA VACA VAGA VAGO VAKA VUEI VUEY WUEI WUEY";

fn mexico(n: &Number<'_>) -> Outcome {
    fits(MEXICAN_WORDS.split(' ').all(|word| word != n.part(0, 4).text()))?;
    fits(MEXICAN_STATES.split(' ').any(|state| state == n.part(11, 13).text()))?;
    let century = if n.at(16).is_ascii_digit() { 1900 } else { 2000 };
    let (year, month, day) = date::year_month_day(n, 4);
    date::exists(century + year, month, day)?;
    checks(imprint::mexican_digit(&n.bytes()[..17]) == n.at(17))
}

/// Computes the Verhoeff checksum, which is 0 for a valid number.
fn verhoeff(n: &Number<'_>) -> usize {
    const PERMUTED: [usize; 10] = [1, 5, 7, 6, 2, 8, 3, 0, 9, 4];
    let permute = |times: usize, digit: usize| (0..times).fold(digit, |digit, _| PERMUTED[digit]);
    // The dihedral group of a pentagon: five rotations and five reflections.
    let multiply = |a: usize, b: usize| match (a < 5, b < 5) {
        (true, true) => (a + b) % 5,
        (true, false) => 5 + (a + b - 5) % 5,
        (false, true) => 5 + (a - 5 + 5 - b) % 5,
        (false, false) => (a + 5 - b) % 5,
    };
    let positions = n.bytes().iter().rev().enumerate();
    positions.fold(0, |sum, (position, byte)| {
        multiply(sum, permute(position % 8, usize::from(byte - b'0') % 10))
    })
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::super::form::Form;
    use super::*;
    use crate::model::seed::Seed;

    #[test]
    fn generated_chinese_numbers_have_counties_that_existed_in_any_year() {
        let form = Form::new(CHINESE_RESIDENTS, None).unwrap();
        let mut random = Seed::parse("counties").unwrap().random("CN", "");
        let counties: BTreeSet<String> =
            (0..1_000).map(|_| form.sample(&mut random)[..6].to_owned()).collect();
        let expected: Vec<_> = CHINESE_RESIDENTS[1..].split([')', '|']).take(30).collect();
        assert_eq!(counties.into_iter().collect::<Vec<_>>(), expected);
    }
}
