//! Detects formats that all values in a sample column share.

use std::net::{Ipv4Addr, Ipv6Addr};

use serde_json::{Value, json};

/// Lengths of common hexadecimal digests.
const DIGESTS: [usize; 5] = [32, 40, 56, 64, 128];

/// Returns numbers without thousands separators and with a decimal point, provided that at least
/// one of them contains a comma.
pub fn plain_numbers(values: &[&str]) -> Option<Vec<String>> {
    if !values.iter().any(|value| value.contains(',')) {
        return None;
    }
    let all = |thousands, point| -> Option<Vec<String>> {
        values.iter().map(|value| plain_number(value, thousands, point)).collect()
    };
    all(',', '.').or_else(|| all('.', ','))
}

fn plain_number(value: &str, thousands: char, point: char) -> Option<String> {
    let value = value.replace([' ', '\u{a0}', '\u{202f}'], "");
    let (sign, digits) = value.strip_prefix('-').map_or(("", &*value), |digits| ("-", digits));
    let (whole, decimals) = digits.split_once(point).unwrap_or((digits, "0"));
    let groups: Vec<_> = whole.split(thousands).collect();
    let is_number = |text: &&str| !text.is_empty() && text.bytes().all(|b| b.is_ascii_digit());
    let is_grouped = groups.len() == 1
        || groups[0].len() <= 3 && groups[1..].iter().all(|group| group.len() == 3);
    let fits = is_grouped && groups.iter().all(is_number) && is_number(&decimals);
    let decimals = if digits.contains(point) { format!(".{decimals}") } else { String::new() };
    fits.then(|| format!("{sign}{}{decimals}", groups.concat()))
}

/// Words for yes and no in samples, in addition to the ones that count as booleans.
const ANSWERS: [[&str; 2]; 8] = [
    ["ja", "nein"],
    ["oui", "non"],
    ["sí", "no"],
    ["si", "no"],
    ["wahr", "falsch"],
    ["on", "off"],
    ["y", "n"],
    ["j", "n"],
];

/// Returns the words for yes and no if all values are one of the two. They are capitalized like the
/// first value.
pub fn answers(values: &[&str]) -> Option<[String; 2]> {
    let first = values.first()?;
    let is_one = |words: &&[&str; 2]| {
        values.iter().all(|value| words.contains(&value.to_lowercase().as_str()))
    };
    let words = ANSWERS.iter().find(is_one)?;
    let begins = first.chars().next()?;
    let is_upper = first.chars().count() > 1 && first.chars().all(char::is_uppercase);
    Some(words.map(|word| match (is_upper, begins.is_uppercase()) {
        (true, _) => word.to_uppercase(),
        (_, true) => {
            let rest: String = word.chars().skip(1).collect();
            word.chars().take(1).flat_map(char::to_uppercase).collect::<String>() + &rest
        }
        _ => word.to_owned(),
    }))
}

pub fn is_uuid(value: &str) -> bool {
    let fits = |(place, byte): (usize, u8)| match place {
        8 | 13 | 18 | 23 => byte == b'-',
        _ => byte.is_ascii_hexdigit(),
    };
    value.len() == 36 && value.bytes().enumerate().all(fits)
}

/// Returns whether a value is a colour such as `#3c6e91`.
pub fn is_colour(value: &str) -> bool {
    let digits = value.strip_prefix('#');
    digits.is_some_and(|digits| {
        digits.len() == 6 && digits.bytes().all(|byte| byte.is_ascii_hexdigit())
    })
}

/// Returns the field for network addresses, if all values are addresses of the same kind.
pub fn network(values: &[&str]) -> Option<Value> {
    let all = |fits: fn(&str) -> bool| !values.is_empty() && values.iter().all(|value| fits(value));
    if all(|value| value.parse::<Ipv4Addr>().is_ok()) {
        Some(json!({"type": "ip"}))
    } else if all(|value| value.parse::<Ipv6Addr>().is_ok()) {
        Some(json!({"type": "ip", "version": 6}))
    } else if all(is_mac) {
        Some(json!({"type": "mac"}))
    } else {
        None
    }
}

fn is_mac(value: &str) -> bool {
    let is_pair = |pair: &str| pair.len() == 2 && pair.bytes().all(|byte| byte.is_ascii_hexdigit());
    value.split(':').count() == 6 && value.split(':').all(is_pair)
}

/// Returns a regular expression for hexadecimal digests, if all values are digests of the same
/// length.
pub fn digests(values: &[&str]) -> Option<String> {
    let length = values.first()?.len();
    let all = |letters: &str| {
        values.iter().all(|value| {
            let mut own = value.chars();
            value.len() == length && own.all(|c| c.is_ascii_digit() || letters.contains(c))
        })
    };
    let has_letters = values.iter().any(|value| value.contains(|c: char| c.is_ascii_alphabetic()));
    if !has_letters || !DIGESTS.contains(&length) {
        return None;
    }
    match (all("abcdef"), all("ABCDEF")) {
        (true, _) => Some(format!("[0-9a-f]{{{length}}}")),
        (_, true) => Some(format!("[0-9A-F]{{{length}}}")),
        _ => None,
    }
}

/// Returns a regular expression for values of the same shape, i.e. the same sequence of
/// punctuation, letters and digits. If the shape contains digits, the runs of letters and digits
/// can vary in length.
pub fn shape(values: &[&str]) -> Option<String> {
    let mut shapes = values.iter().map(|value| runs(value));
    let mut common: Vec<_> =
        shapes.next()?.into_iter().map(|(class, count)| (class, count, count)).collect();
    for shape in shapes {
        if shape.len() != common.len() {
            return None;
        }
        for ((class, least, most), (own, count)) in common.iter_mut().zip(shape) {
            if own != *class {
                return None;
            }
            (*least, *most) = ((*least).min(count), (*most).max(count));
        }
    }
    let is_fixed = common.iter().all(|(_, least, most)| least == most);
    let has_digits = common.iter().any(|(class, ..)| class == DIGITS);
    // A common shape takes more than one value, and words of varying length are not shapes.
    if values.len() < 2 || !is_fixed && !has_digits {
        return None;
    }
    let part = |(class, least, most): (String, usize, usize)| match (least, most) {
        (1, 1) => class,
        _ if least == most => format!("{class}{{{most}}}"),
        _ => format!("{class}{{{least},{most}}}"),
    };
    let regex: String = common.into_iter().map(part).collect();
    (regex.len() < LONGEST_SHAPE).then_some(regex)
}

/// The class of digits.
const DIGITS: &str = "[0-9]";
/// Maximum length of a shape in bytes.
const LONGEST_SHAPE: usize = 200;

/// Returns the class of each run of characters in a value, along with the length of the run.
fn runs(value: &str) -> Vec<(String, usize)> {
    let class = |letter: char| match letter {
        'A'..='Z' => "[A-Z]".to_owned(),
        'a'..='z' => "[a-z]".to_owned(),
        '0'..='9' => DIGITS.to_owned(),
        sign if sign.is_alphanumeric() => "[a-z]".to_owned(),
        sign => regex_syntax::escape(&sign.to_string()),
    };
    let mut runs: Vec<(String, usize)> = Vec::new();
    for class in value.chars().map(class) {
        match runs.last_mut() {
            Some((last, count)) if *last == class => *count += 1,
            _ => runs.push((class, 1)),
        }
    }
    runs
}
