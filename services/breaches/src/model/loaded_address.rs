//! Which addresses a load takes. Lists of this trade hold a secret behind the address more often than
//! not: a line from which it was not split off must never pass for an address.

use domain::{EmailAddress, EmailError};

/// Reads an address as loads do: stricter than searches, so that nothing but an address is stored.
///
/// # Errors
/// See [`EmailError`]: `Domain` also for any ASCII character but letters, digits and `- _ .` in the
/// domain as it is written and as A-labels, `Local` also for a separator or another `@` before it,
/// which end an address that has a secret with an `@` behind it.
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

/// Whether a domain, as A-labels, could be that of a loaded address.
pub fn is_domain(text: &str) -> bool {
    !text.is_empty() && !text.contains(is_foreign)
}

/// The address within a text that an older version took for one: behind what separates it from a word
/// in front, and up to where its domain ends.
pub fn within(text: &str) -> Option<EmailAddress> {
    let at = text.find('@')?;
    let start = text[..at].rfind(|c: char| is_foreign(c) && is_separator(c));
    let start =
        start.map_or(0, |place| place + text[place..].chars().next().map_or(0, char::len_utf8));
    let end =
        text[at + 1..].find(|c| is_foreign(c) || c == '@').map_or(text.len(), |end| at + 1 + end);
    parse(&text[start..end]).ok()
}

/// Whether no domain of a loaded address may hold a character: leaked ones have `_` in them, are at
/// numbers or written in any script, and nothing else.
fn is_foreign(character: char) -> bool {
    if character.is_ascii() {
        !(character.is_ascii_alphanumeric() || matches!(character, '-' | '_' | '.'))
    } else {
        character.is_whitespace() || character.is_control()
    }
}

/// Whether a character ends an address or begins one, so that no local part has it.
fn is_separator(character: char) -> bool {
    matches!(character, '@' | ':' | ';' | ',' | '|' | '<' | '>')
        || character.is_whitespace()
        || character.is_control()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_separator_quote_or_bracket_is_part_of_a_domain() {
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
    fn a_secret_with_an_at_sign_does_not_make_the_address_a_local_part() {
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
    fn the_address_is_found_within_what_an_older_version_stored() {
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
        for text in ["ada@corp:hunter2.example", ":@corp.example:x", "nobody"] {
            assert_eq!(within(text), None, "{text:?}");
        }
        assert!(is_domain("under_score.example") && !is_domain("corp.example:x"));
    }

    #[test]
    fn domains_that_are_no_host_names_are_taken() {
        for text in
            ["a@under_score.example", "a@192.0.2.1", "o'b+c/d@-x-.example", "ü@bücher.example"]
        {
            assert_eq!(parse(text), EmailAddress::parse(text), "{text}");
        }
    }
}
