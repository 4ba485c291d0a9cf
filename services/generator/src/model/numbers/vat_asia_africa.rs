//! Tax numbers in Asia, Africa and Oceania.

use super::number::{Number, base_36, checks, fits};
use super::outcome::Outcome;
use super::rules::{free, indian_account, indonesian_person, luhn_all, luhn_values, thai_check};
use super::scheme::{Scheme, both, vat};

pub const SCHEMES: &[Scheme] = &[
    vat("AU", "ABN", r"\d{11}", |n| {
        let sum = n.part(2, 11).sum(&[3, 5, 7, 9, 11, 13, 15, 17, 19]);
        checks(11 + (-sum - 1).rem_euclid(89) == n.value(0, 2) as i32)
    }),
    vat("CN", "USCC", r"\d{8}[0-9A-HJ-NPQRTUWXY]{10}", |n| {
        const ALPHABET: &str = "0123456789ABCDEFGHJKLMNPQRTUWXY";
        let value = |byte: &u8| ALPHABET.find(char::from(*byte)).unwrap_or_default() as i32;
        let weights = std::iter::successors(Some(1), |weight| Some(weight * 3 % 31));
        let sum: i32 = n.bytes()[..17].iter().zip(weights).map(|(b, w)| value(b) * w).sum();
        n.ends_in(ALPHABET, (31 - sum % 31) % 31)
    }),
    vat("DZ", "NIF", r"\d{15}|\d{20}", free).make(r"(?<w9>\d{15})|(?<w1>\d{20})"),
    vat("EG", "TRN", r"\d{9}", free),
    vat("GH", "TIN", r"[PCGQV]00\d{7}[\dX]", |n| {
        let sum = n.part(1, 10).sum(&[1, 2, 3, 4, 5, 6, 7, 8, 9]);
        n.ends_in("0123456789X", sum % 11)
    }),
    vat("GN", "NIFp", r"\d{9}", luhn_all),
    vat("ID", "NPWP", r"\d{15,16}", |n| match (n.len(), n.at(0)) {
        (15, _) => luhn_all(&n.part(0, 9)),
        (_, b'0') => luhn_all(&n.part(0, 10)),
        _ => indonesian_person(n),
    })
    .make(r"(?<w1>\d{15})|(?<w1b>0\d{15})"),
    vat("IL", "HP", r"5\d{8}", luhn_all),
    vat("IN", "GSTIN", r"\d{2}[A-Z]{5}\d{4}[A-Z][1-9A-Z]Z[0-9A-Z]", |n| {
        fits((1..=37).contains(&n.value(0, 2)))?;
        indian_account(&n.part(2, 12))?;
        checks(luhn_values(n.bytes().iter().map(|byte| base_36(*byte)), 36) == 0)
    })
    .make(r"[0-3]\d[A-Z]{3}[ABCFGHLJPTK][A-Z]\d{4}[A-Z][1-9A-Z]Z[0-9A-Z]"),
    vat("JP", "corporate number", r"\d{13}", |n| {
        let sum = n.sum(&[0, 2, 1, 2, 1, 2, 1, 2, 1, 2, 1, 2, 1]);
        checks(9 - sum % 9 == n.digit(0))
    }),
    vat("KE", "PIN", r"[AP]\d{9}[A-Z]", free),
    vat("KR", "BRN", r"\d{10}", |n| {
        fits(n.value(0, 3) >= 101 && n.value(3, 5) > 0 && n.value(5, 9) > 0)
    })
    .make_rule(|n| {
        let sum = n.sum(&[1, 3, 7, 1, 3, 7, 1, 3, 5]) + n.digit(8) * 5 / 10;
        checks((10 - sum % 10) % 10 == n.last())
    }),
    vat("MA", "ICE", r"\d{15}", |n| checks(n.remainder(97) == 0)),
    vat("MZ", "NUIT", r"\d{9}", |n| {
        let rest = n.sum(&[8, 9, 4, 5, 6, 7, 8, 9]) % 11;
        checks(if rest == 10 { 1 } else { rest } == n.last())
    }),
    both("NZ", "IRD", r"\d{8,9}", |n| {
        let value = n.value(0, n.len());
        fits(value > 10_000_000 && value < 150_000_000)?;
        // Weights are applied from right to left, so a missing leading digit counts as 0.
        let check = |weights: [i32; 8]| (-n.sum_back(weights.into_iter())).rem_euclid(11);
        let first = check([2, 3, 4, 5, 6, 7, 2, 3]);
        let second = check([6, 7, 2, 5, 2, 3, 4, 7]);
        checks(if first == 10 { second } else { first } == n.last())
    }),
    vat("SG", "UEN", r"\d{8}[A-Z]|\d{9}[A-Z]|[RST]\d{2}[A-Z]{2}\d{4}[A-Z]", singapore).make(
        concat!(
            r"(?<w30>\d{8}[A-Z])|(?<w60>(19\d\d|20[01]\d)\d{5}[A-Z])|",
            r"(?<w10>[RST][01]\d(LL|LP|SS|FC|PF)\d{4}[A-Z])"
        ),
    ),
    vat("SN", "NINEA", r"\d{7}([012][A-HJ-NP-WZ]\d)?|\d{9}([012][A-HJ-NP-WZ]\d)?", |n| {
        let digits = if n.text().len() >= 12 || n.len() == 9 { 9 } else { 7 };
        let number = n.part(0, digits);
        // The weights 1 and 2 alternate from the left, regardless of length.
        let sum: i32 = (0..digits).map(|i| number.digit(i) * (1 + (i % 2) as i32)).sum();
        checks(sum % 10 == 0)
    }),
    vat("TH", "MOA", r"0\d{12}", thai_check),
    vat("TN", "MF", r"\d{7}[A-HJ-NP-TV-Z]([ABPDN][CMPNE](000|\d{3}))?", |n| {
        fits(n.len() == 8 || n.at(9) == b'E' || n.value(10, 13) == 0)
    }),
    vat("TR", "VKN", r"\d{10}", |n| {
        let sum: i32 = (1..=9u32)
            .map(|i| {
                let shifted = (n.digit(9 - i as usize) + i as i32) % 10;
                match shifted * 2i32.pow(i) % 9 {
                    _ if shifted == 0 => 0,
                    0 => 9,
                    other => other,
                }
            })
            .sum();
        checks((10 - sum % 10) % 10 == n.last())
    }),
    vat("TW", "UBN", r"\d{8}", |n| {
        let total = taiwanese_total(n);
        checks(total % 10 == 0 || total % 10 == 9 && n.digit(6) == 7)
    })
    .make_rule(|n| checks(taiwanese_total(n) % 10 == 0)),
    vat("VN", "MST", r"\d{10}(\d{3})?", |n| {
        fits(n.value(2, 9) > 0 && (n.len() == 10 || n.value(10, 13) > 0))?;
        let sum = n.sum(&[31, 29, 23, 19, 17, 13, 7, 5, 3]);
        checks(10 - sum % 11 == n.digit(9))
    }),
    vat("ZA", "TIN", r"[01239]\d{9}", luhn_all),
];

fn taiwanese_total(n: &Number<'_>) -> i32 {
    const WEIGHTS: [i32; 8] = [1, 2, 1, 2, 1, 2, 4, 1];
    let products = (0..8).map(|i| n.digit(i) * WEIGHTS[i]);
    products.map(|product| product / 10 + product % 10).sum()
}

fn singapore(n: &Number<'_>) -> Outcome {
    const OTHER: &str = "ABCDEFGHJKLMNPQRSTUVWX0123456789";
    const CODES: &str = "CC CD CH CL CM CP CS CX DP FB FC FM FN GA GB GS HS LL LP MB MC MD MH MM MQ \
                         NB NR PA PB PF RF RP SM SS TC TU VH XL";
    let year = n.today().year() as u64;
    match (n.at(0), n.len()) {
        (b'R' | b'S' | b'T', _) => {
            fits(n.at(0) != b'T' || 2000 + n.value(1, 3) <= year)?;
            fits(CODES.split(' ').any(|code| code == n.part(3, 5).text()))?;
            let value = |byte: &u8| OTHER.find(char::from(*byte)).unwrap_or_default() as i32;
            let weights = [4, 3, 5, 3, 10, 2, 2, 5, 7];
            let sum: i32 = n.bytes().iter().zip(weights).map(|(b, w)| value(b) * w).sum();
            n.ends_in(OTHER, (sum - 5).rem_euclid(11))
        }
        (_, 9) => n.ends_in("XMKECAWLJDB", n.sum(&[10, 4, 9, 3, 8, 2, 7, 1]) % 11),
        _ => {
            fits(n.value(0, 4) <= year)?;
            n.ends_in("ZKCMDNERGWH", n.sum(&[10, 8, 6, 4, 9, 7, 5, 3, 1]) % 11)
        }
    }
}
