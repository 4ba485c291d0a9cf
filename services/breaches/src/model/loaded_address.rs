//! Validates addresses of loads. Leaked lists often have a secret after the address; a line from
//! which it was not split off must be rejected.

use domain::{EmailAddress, EmailError};

/// Parses an address more strictly than searches do, so only addresses are stored.
///
/// # Errors
/// See [`EmailError`]. `Domain` also means an ASCII character other than letters, digits and `- _
/// .` in the domain, as written or as A-labels. `Local` also means a separator or a second `@`, as
/// in an address followed by a secret with an `@`.
pub fn parse(text: &str) -> Result<EmailAddress, EmailError> {
    let address = EmailAddress::parse(text)?;
    let local = address.local();
    let written = &address.as_str()[local.len() + 1..];
    if local.contains(is_separator) {
        return Err(EmailError::Local);
    }
    if written.contains(is_foreign) || address.domain().contains(is_foreign) {
        return Err(EmailError::Domain);
    }
    Ok(address)
}

/// Returns whether a domain, as A-labels, may belong to a loaded address.
pub fn is_domain(text: &str) -> bool {
    !text.is_empty() && !text.contains(is_foreign)
}

/// Extracts the address from a text that an older version stored as an address.
pub fn within(text: &str) -> Option<EmailAddress> {
    let at = text.find('@')?;
    let start = text[..at].rfind(|c: char| is_foreign(c) && is_separator(c));
    let start =
        start.map_or(0, |place| place + text[place..].chars().next().map_or(0, char::len_utf8));
    let end =
        text[at + 1..].find(|c| is_foreign(c) || c == '@').map_or(text.len(), |end| at + 1 + end);
    parse(&text[start..end]).ok()
}

/// Returns whether a character cannot be in the domain of a loaded address. Leaked domains may
/// contain `_`, be numeric or be in any script.
fn is_foreign(character: char) -> bool {
    if character.is_ascii() {
        !(character.is_ascii_alphanumeric() || matches!(character, '-' | '_' | '.'))
    } else {
        character.is_whitespace() || character.is_control()
    }
}

/// Returns whether a character separates an address from other text, so no local part contains it.
fn is_separator(character: char) -> bool {
    matches!(character, '@' | ':' | ';' | ',' | '|' | '<' | '>')
        || character.is_whitespace()
        || character.is_control()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn domain_with_a_separator_quote_or_bracket_is_rejected() {
        let separators = ": ; , | < > \" ' ( ) [ ] { } \\ / = ! # $ % & * + ? ^ ` ~";
        for separator in separators.split(' ').chain([" ", "\t", "\u{7f}"]) {
            for text in [
                format!("ada@corp.example{separator}hunter2"),
                format!("ada@corp.example{separator}hunter.2"),
                format!("ada@corp{separator}hunter2.example"),
                format!("ada@bücher{separator}x.example"),
            ] {
                assert!(parse(&text).is_err(), "{text:?}");
            }
        }
        assert_eq!(parse("ada@b\u{fc}cher\u{ff1a}hunter2.example"), Err(EmailError::Domain));
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
            "<ada@corp.example>",
            "mailto:ada@corp.example",
            "hunter2|ada@corp.example",
        ] {
            assert_eq!(within(text).unwrap().as_str(), "ada@corp.example", "{text:?}");
        }
        for text in ["ada@corp:hunter2.example", ":@corp.example:x", "not-an-address"] {
            assert_eq!(within(text), None, "{text:?}");
        }
        assert!(is_domain("under_score.example") && !is_domain("corp.example:x"));
    }

    #[test]
    fn domains_that_are_not_host_names_are_accepted() {
        for text in
            ["a@under_score.example", "a@192.0.2.1", "o'b+c/d@-x-.example", "ü@bücher.example"]
        {
            assert_eq!(parse(text), EmailAddress::parse(text), "{text}");
        }
    }
}
