//! Converts identifiers to sentences in the same way as Humanizer.NET.

use super::letters::{lower, upper};

/// Converts an identifier to a sentence: `orderIdNotFound` becomes `Order id not found`.
pub fn humanize(text: &str) -> String {
    if text.chars().all(char::is_uppercase) {
        return text.to_owned();
    }
    let separates = |c: char| matches!(c, '-' | '_');
    if !text.contains(separates) {
        return sentence(text);
    }
    let spaced = text.replace(separates, " ");
    if separator_at_blank(text) { sentence(&spaced) } else { spaced }
}

/// Returns whether there's a hyphen or underscore next to white space.
fn separator_at_blank(text: &str) -> bool {
    let pairs = text.chars().zip(text.chars().skip(1));
    pairs.into_iter().any(|(one, other)| {
        let separates = |c: char| matches!(c, '-' | '_');
        separates(one) && other.is_whitespace() || one.is_whitespace() && separates(other)
    })
}

/// Splits a string into words, joins them with spaces and in lower case, and capitalizes the first
/// letter.
fn sentence(text: &str) -> String {
    let characters: Vec<char> = text.chars().collect();
    let mut out = String::with_capacity(text.len() + text.len() / 4);
    let mut position = 0;
    while position < characters.len() {
        let Some(length) = part(&characters[position..]) else {
            position += 1;
            continue;
        };
        let piece = &characters[position..position + length];
        if !out.is_empty() {
            out.push(' ');
        }
        let behind_blank = position > 0 && characters[position - 1] == ' ';
        let capitals = piece.iter().all(|c| c.is_uppercase());
        if capitals && (piece.len() > 1 || behind_blank || piece == ['I']) {
            out.extend(piece);
        } else {
            out.extend(piece.iter().map(|c| lower(*c)));
        }
        position += length;
    }
    let shouted = out.chars().all(|c| c.is_uppercase() || matches!(c, ' ' | '&'));
    if out.contains(' ') && shouted {
        out = out.chars().map(lower).collect();
    }
    raised(out)
}

/// Capitalizes the first character after leading ampersands and spaces, if any.
fn raised(text: String) -> String {
    let at = match text.starts_with('&') {
        true => text.find(|c| !matches!(c, '&' | ' ')),
        false => Some(0),
    };
    match at.and_then(|at| Some((at, text[at..].chars().next()?))) {
        Some((at, first)) => {
            format!("{}{}{}", &text[..at], upper(first), &text[at + first.len_utf8()..])
        }
        None => text,
    }
}

/// Returns the length of the leading part of an identifier, or `None` if it doesn't start with one.
fn part(text: &[char]) -> Option<usize> {
    let run =
        |from: usize, test: fn(char) -> bool| text[from..].iter().take_while(|c| test(**c)).count();
    let first = *text.first()?;
    if first == '&' {
        return Some(1);
    }
    let length = if first.is_uppercase() && run(1, char::is_lowercase) > 0 {
        1 + run(1, char::is_lowercase)
    } else if first.is_lowercase() {
        run(0, char::is_lowercase)
    } else if first.is_ascii_digit() {
        let mut digits = run(0, |c| c.is_ascii_digit());
        if text.get(digits) == Some(&'.') {
            let fraction = run(digits + 1, |c| c.is_ascii_digit());
            digits += if fraction > 0 { 1 + fraction } else { 0 };
        }
        digits + run(digits, char::is_lowercase)
    } else if first.is_uppercase() {
        capitals(text, run(0, char::is_uppercase))?
    } else if is_other_letter(first) {
        run(0, is_other_letter)
    } else {
        return None;
    };
    let mark = matches!(text.get(length), Some(',' | ';'));
    Some(length + usize::from(mark))
}

/// Returns how many leading capitals belong to the same word: all of them if they are followed by a
/// digit or the end, and otherwise all but the last.
fn capitals(text: &[char], run: usize) -> Option<usize> {
    let ends = match text.get(run) {
        None => true,
        Some(next) => next.is_ascii_digit() || !(next.is_alphanumeric() || *next == '_'),
    };
    match (ends, run) {
        (true, _) => Some(run),
        (false, 1) => None,
        (false, _) => Some(run - 1),
    }
}

/// Returns whether a character is a letter from a script without letter case.
fn is_other_letter(c: char) -> bool {
    c.is_alphabetic() && !c.is_uppercase() && !c.is_lowercase()
}

#[cfg(test)]
mod tests {
    use super::super::change::{CaseType, change_case};
    use super::*;

    /// Test cases from Humanizer (MIT). Each consists of an operation, an input and the result as
    /// JSON.
    const CASES: &str = include_str!("../../../tests/humanizer_cases.tsv");

    #[test]
    fn published_cases_match() {
        let mut count = 0;
        for line in CASES.lines().filter(|line| !line.starts_with('#')) {
            let fields: Vec<_> = line.split('\t').collect();
            let text = |at: usize| serde_json::from_str::<String>(fields[at]).unwrap();
            let made = match fields[0] {
                "humanize" => humanize(&text(1)),
                "LowerCase" => change_case(&text(1), CaseType::Lower),
                "UpperCase" => change_case(&text(1), CaseType::Upper),
                "SentenceCase" => change_case(&text(1), CaseType::Sentence),
                _ => change_case(&text(1), CaseType::Title),
            };
            assert_eq!(made, text(2), "{line}");
            count += 1;
        }
        assert_eq!(count, 72);
    }

    #[test]
    fn examples_in_the_specification_match() {
        for (text, expected) in [
            ("orderIdNotFound", "Order id not found"),
            ("parseJSONFile", "Parse JSON file"),
            ("snake_case_Name", "snake case Name"),
            ("RELEASE 2 - NOTES", "RELEASE 2 NOTES"),
            ("Area51Gate", "Area 51 gate"),
            ("fish&chips", "Fish & chips"),
            ("version2.5beta", "Version 2.5beta"),
            ("one,Two;three", "One, two; three"),
            ("", ""),
            ("&", "&"),
            ("-", " "),
        ] {
            assert_eq!(humanize(text), expected, "{text}");
        }
    }
}
