//! Validates the addresses in a load. In leaked lists, an address is often followed by a secret. If
//! it's unclear where the secret starts, the line must be rejected.

use std::net::Ipv4Addr;
use std::sync::LazyLock;

use domain::{EmailAddress, EmailError};
use regex::Regex;

use super::website::{is_possible, is_top_level};

/// Separates an address from a name or secret in Chinese lists. No email provider we know of allows
/// it in local parts.
const LONG_DASH: &str = "----";

/// Parses an address more strictly than a search would, so that nothing but addresses gets stored.
///
/// # Errors
/// See [`EmailError`]. `Domain` also covers characters or a `--` that can't be in a host name, and
/// domains that look like a host name with a secret attached. `Local` also covers separators and a
/// second `@`, a sign that the address is followed by a secret that contains an `@`.
pub fn parse(text: &str) -> Result<EmailAddress, EmailError> {
    let address = EmailAddress::parse(text)?;
    let local = address.local();
    let written = &address.as_str()[local.len() + 1..];
    if local.contains(is_separator) || local.contains(LONG_DASH) {
        return Err(EmailError::Local);
    }
    if host_end(written) < written.len() || !is_domain(address.domain()) {
        return Err(EmailError::Domain);
    }
    Ok(address)
}

/// Checks whether a domain (as A-labels) can be part of a loaded address.
pub fn is_domain(text: &str) -> bool {
    text.is_ascii() && host_end(text) == text.len() && has_possible_end(text)
}

/// Returns the length of the prefix that could be a domain as written. It ends before the first
/// character that can't be in a host name, or before a `--` outside an A-label.
///
/// Leaked domains may contain `_`, be all digits, or use any script.
pub fn host_end(text: &str) -> usize {
    let bytes = text.as_bytes();
    let mut label = 0;
    for (place, character) in text.char_indices() {
        let fits = match character {
            '.' => {
                label = place + 1;
                true
            }
            '-' if bytes.get(place + 1) == Some(&b'-') => {
                is_part_of_a_label(&bytes[label..], place - label)
            }
            '-' | '_' => true,
            c if c.is_ascii() => c.is_ascii_alphanumeric(),
            c => is_word(c),
        };
        if !fits {
            return place;
        }
    }
    text.len()
}

/// Checks whether the `--` at `place` is allowed in an A-label, either as part of the `xn--` prefix
/// or right after the ASCII characters.
fn is_part_of_a_label(label: &[u8], place: usize) -> bool {
    let is_prefixed = label.get(..4).is_some_and(|start| start.eq_ignore_ascii_case(b"xn--"));
    let rest = label.get(place + 2..).unwrap_or_default();
    let rest = rest.split(|byte| *byte == b'.').next().unwrap_or_default();
    let is_last = !rest.is_empty() && rest.iter().all(u8::is_ascii_alphanumeric);
    is_prefixed && (place == 2 || (place > 4 && is_last))
}

/// Returns `true` for non-ASCII letters, marks and digits.
pub fn is_word(character: char) -> bool {
    static MARK: LazyLock<Option<Regex>> = LazyLock::new(|| Regex::new(r"^\p{M}$").ok());
    let is_mark =
        |c: char| MARK.as_ref().is_some_and(|mark| mark.is_match(c.encode_utf8(&mut [0; 4])));
    character.is_alphanumeric() || is_mark(character)
}

/// Checks whether a domain (as A-labels) has a plausible ending: an IP address, a top-level domain,
/// or other letters unless they follow a top-level domain, as in `163.com.secret`.
fn has_possible_end(domain: &str) -> bool {
    let Some((rest, last)) = domain.rsplit_once('.') else { return false };
    if last.bytes().all(|byte| byte.is_ascii_digit()) {
        return domain.parse::<Ipv4Addr>().is_ok();
    }
    if !last.bytes().all(|byte| byte.is_ascii_alphabetic()) {
        return last.starts_with("xn--") && is_top_level(last);
    }
    match rest.rsplit_once('.') {
        Some((_, before)) => !is_top_level(before) || is_top_level(last),
        None => true,
    }
}

/// Extracts the address from a string that an older version stored as an address. Returns `None` if
/// there isn't one.
pub fn within(text: &str) -> Option<EmailAddress> {
    let at = text.find('@')?;
    let before = &text[..at];
    let start = before
        .rfind(is_separator)
        .map_or(0, |place| place + before[place..].chars().next().map_or(0, char::len_utf8));
    let start =
        before[start..].rfind(LONG_DASH).map_or(start, |dash| start + dash + LONG_DASH.len());
    let mut end = at + 1 + host_end(&text[at + 1..]);
    if let Ok(address) = parse(&text[start..end]) {
        return Some(address);
    }
    // The secret must start with a hyphen, a dot or a letter from another script.
    while let Some(cut) = text[at + 1..end].rfind(|c: char| !c.is_ascii_alphanumeric()) {
        end = at + 1 + cut;
        if let Ok(address) = parse(&text[start..end])
            && is_possible(address.domain())
        {
            return Some(address);
        }
    }
    None
}

/// Separators between an address and other text. None of them can be in a local part.
fn is_separator(character: char) -> bool {
    if character.is_ascii() {
        matches!(character, '@' | ':' | ';' | ',' | '|' | '<' | '>')
            || matches!(character, '(' | ')' | '[' | ']' | '"' | '\\')
            || character.is_ascii_whitespace()
            || character.is_ascii_control()
    } else {
        !is_word(character)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn domain_with_a_separator_quote_or_bracket_is_rejected() {
        let separators = ": ; , | < > \" ' ( ) [ ] { } \\ / = ! # $ % & * + ? ^ ` ~ -- ---- \
                          \u{3001} \u{200b} \u{ff1a} \u{2014} \u{b7} \u{2022} \u{2192} \u{20ac}";
        for separator in separators.split(' ').chain([" ", "\t", "\u{7f}"]) {
            for text in [
                format!("ada@corp.example{separator}hunter2"),
                format!("ada@corp.example{separator}hunter.2"),
                format!("ada@corp.example{separator}hunter.example"),
                format!("ada@corp{separator}hunter2.example"),
                format!("ada@bücher{separator}x.example"),
            ] {
                assert!(parse(&text).is_err(), "{text:?}");
            }
        }
    }

    #[test]
    fn secret_in_the_last_label_is_rejected() {
        for separator in ["-", "_", ".", "\u{4e28}", "\u{1cc}"] {
            for secret in ["hunter2", "2", "123456", "\u{5bc6}\u{7801}"] {
                let text = format!("ada@corp.example{separator}{secret}");
                assert!(parse(&text).is_err(), "{text:?}");
                let found = within(&text).map(|address| address.to_string());
                assert_eq!(found.as_deref(), Some("ada@corp.example"), "{text:?}");
            }
        }
        for text in ["ada@163.com.password", "ada@163.com.1.2.3", "ada@mail.xn--unknown-tld"] {
            assert!(parse(text).is_err(), "{text}");
        }
        for text in ["----ada@corp.example", "nick----hunter2----ada@corp.example"] {
            assert_eq!(parse(text), Err(EmailError::Local), "{text}");
            assert_eq!(within(text).unwrap().as_str(), "ada@corp.example");
        }
        assert_eq!(parse("nick\u{3001}ada@corp.example"), Err(EmailError::Local));
    }

    #[test]
    fn address_with_a_secret_that_contains_an_at_sign_is_rejected() {
        for text in [
            "ada@corp.example:hunter@2.x",
            "ada@corp.example|hunter@2.x",
            "ada@corp.example/hunter@2.x",
            "hunter2:ada@corp.example",
            "mailto:ada@corp.example",
            "Ada <ada@corp.example",
            "hunter2\"ada@corp.example",
            "hunter2\\ada@corp.example",
            "(hunter2)ada@corp.example",
            "[hunter2]ada@corp.example",
        ] {
            assert_eq!(parse(text), Err(EmailError::Local), "{text:?}");
        }
    }

    #[test]
    fn address_is_extracted_from_text_with_a_secret() {
        for text in [
            "ada@corp.example:hunter2",
            "ada@corp.example;hunter@2.x",
            "ada@corp.example=hunter2",
            "ada@corp.example----hunter2",
            "<ada@corp.example>",
            "mailto:ada@corp.example",
            "hunter2|ada@corp.example",
            "hunter2(ada@corp.example)",
            "[hunter2]ada@corp.example",
            "hunter2\"ada@corp.example\"",
        ] {
            assert_eq!(within(text).unwrap().as_str(), "ada@corp.example", "{text:?}");
        }
        for text in ["ada@corp:hunter2.example", ":@corp.example:x", "not-an-address"] {
            assert_eq!(within(text), None, "{text:?}");
        }
        assert!(is_domain("under_score.example") && !is_domain("corp.example:x"));
        assert!(!is_domain("163.com----x") && !is_domain("163.com-x") && !is_domain(""));
    }

    #[test]
    fn domains_that_are_not_host_names_are_accepted() {
        for text in [
            "a@under_score.example",
            "a@192.0.2.1",
            "o'b+c/d@-x-.example",
            "ü@bücher.example",
            "a@xn--bcher-kva.example",
            "a@xn--foo--hra.example",
            "a@\u{915}\u{94d}\u{937}.example",
            "a@shop.\u{440}\u{444}",
            "a@shop.xn--p1ai",
            "a@mail.corp.local",
            "a@gmail.con",
            "a--b@corp.example",
        ] {
            assert_eq!(parse(text), EmailAddress::parse(text), "{text}");
        }
    }
}
