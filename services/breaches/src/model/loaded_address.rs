//! Which addresses a load takes. Lists of this trade hold a secret behind the address more often than
//! not: a line from which it was not split off must never pass for an address.

use domain::{EmailAddress, EmailError};

/// Reads an address as loads do: stricter than searches, so that nothing but an address is stored.
///
/// # Errors
/// See [`EmailError`]: `Domain` also for whitespace, separators, quotes, brackets and slashes in the
/// domain as it is written and as A-labels, `Local` also for a separator or another `@` before it,
/// which end an address that has a secret with an `@` behind it.
pub fn parse(text: &str) -> Result<EmailAddress, EmailError> {
    let address = EmailAddress::parse(text)?;
    let local = address.local();
    let written = &address.as_str()[local.len() + 1..];
    if local.contains(['@', ':', ';', ',', '|', '<', '>']) {
        return Err(EmailError::Local);
    }
    if written.contains(is_foreign) || address.domain().contains(is_foreign) {
        return Err(EmailError::Domain);
    }
    Ok(address)
}

/// Whether no domain of a loaded address may hold a character.
fn is_foreign(character: char) -> bool {
    character.is_whitespace()
        || character.is_control()
        || matches!(
            character,
            ':' | ';'
                | ','
                | '|'
                | '<'
                | '>'
                | '"'
                | '\''
                | '('
                | ')'
                | '['
                | ']'
                | '{'
                | '}'
                | '\\'
                | '/'
        )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_separator_quote_or_bracket_is_part_of_a_domain() {
        for separator in ": ; , | < > \" ' ( ) [ ] { } \\ /".split(' ').chain([" ", "\t", "\u{7f}"])
        {
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
    fn domains_that_are_no_host_names_are_taken() {
        for text in
            ["a@under_score.example", "a@192.0.2.1", "o'b+c/d@-x-.example", "ü@bücher.example"]
        {
            assert_eq!(parse(text), EmailAddress::parse(text), "{text}");
        }
    }
}
