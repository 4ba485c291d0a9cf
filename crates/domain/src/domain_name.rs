//! Domain names, normalized so that comparing them has the same result as in DNS.

use std::fmt;

/// The reason that a string isn't a domain name.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum DomainError {
    /// The string is empty.
    #[error("the domain name is empty")]
    Empty,
    /// The name has more than 253 characters, or one of its labels more than 63.
    #[error("the domain name is too long")]
    TooLong,
    /// There is only one label.
    #[error("the domain name has fewer than two labels")]
    SingleLabel,
    /// A label is empty, starts or ends with `-`, or contains anything but `a-z`, `0-9` and `-`.
    #[error("the domain name has an invalid label")]
    InvalidLabel,
    /// The last label consists of digits, as in an IP address.
    #[error("the domain name ends in a number")]
    NumericTop,
}

/// A domain name, stored as two or more lowercase A-labels without a trailing dot.
///
/// Internationalized names are converted to A-labels (IDNA, UTS 46).
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct DomainName(String);

impl DomainName {
    /// Parses a domain name. Surrounding whitespace and a trailing dot are stripped.
    ///
    /// ```
    /// use domain::DomainName;
    ///
    /// assert_eq!(DomainName::parse(" Bücher.Example. ")?.as_str(), "xn--bcher-kva.example");
    /// assert!(DomainName::parse("192.0.2.1").is_err());
    /// # Ok::<(), domain::DomainError>(())
    /// ```
    ///
    /// # Errors
    /// See [`DomainError`].
    pub fn parse(text: &str) -> Result<Self, DomainError> {
        let text = text.trim();
        let text = text.strip_suffix('.').unwrap_or(text);
        if text.is_empty() {
            return Err(DomainError::Empty);
        }
        let name = if text.is_ascii() {
            text.to_ascii_lowercase()
        } else {
            idna::domain_to_ascii(text).map_err(|_| DomainError::InvalidLabel)?
        };
        check(&name)?;
        Ok(Self(name))
    }

    /// Returns the name as a string.
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// Returns whether `name`, which must be lowercase, is this domain or one of its subdomains.
    ///
    /// ```
    /// # use domain::DomainName;
    /// let domain = DomainName::parse("example.org")?;
    /// assert!(domain.covers("example.org") && domain.covers("shop.example.org"));
    /// assert!(!domain.covers("notexample.org"));
    /// # Ok::<(), domain::DomainError>(())
    /// ```
    pub fn covers(&self, name: &str) -> bool {
        name.strip_suffix(self.as_str()).is_some_and(|rest| rest.is_empty() || rest.ends_with('.'))
    }
}

fn check(name: &str) -> Result<(), DomainError> {
    if name.len() > 253 {
        return Err(DomainError::TooLong);
    }
    let mut labels = 0;
    let mut last = &b""[..];
    // Iterating over bytes is faster than iterating over chars, which matters because a load checks
    // several hundred million names.
    for label in name.as_bytes().split(|byte| *byte == b'.') {
        if label.len() > 63 {
            return Err(DomainError::TooLong);
        }
        let known = |byte: &u8| matches!(byte, b'a'..=b'z' | b'0'..=b'9' | b'-');
        match label {
            [] | [b'-', ..] | [.., b'-'] => return Err(DomainError::InvalidLabel),
            label if !label.iter().all(known) => return Err(DomainError::InvalidLabel),
            label => last = label,
        }
        labels += 1;
    }
    if labels < 2 {
        return Err(DomainError::SingleLabel);
    }
    if last.iter().all(u8::is_ascii_digit) {
        return Err(DomainError::NumericTop);
    }
    Ok(())
}

impl fmt::Display for DomainName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn every_rule_has_its_error() {
        for (text, error) in [
            ("", DomainError::Empty),
            (" . ", DomainError::Empty),
            ("localhost", DomainError::SingleLabel),
            ("a..b", DomainError::InvalidLabel),
            ("-a.example", DomainError::InvalidLabel),
            ("a-.example", DomainError::InvalidLabel),
            ("user@example.org", DomainError::InvalidLabel),
            ("example.org:443", DomainError::InvalidLabel),
            ("example.org/path", DomainError::InvalidLabel),
            ("under_score.example", DomainError::InvalidLabel),
            ("192.0.2.1", DomainError::NumericTop),
            ("[::1]", DomainError::InvalidLabel),
        ] {
            assert_eq!(DomainName::parse(text), Err(error), "{text:?}");
        }
        assert_eq!(
            DomainName::parse(&format!("{}.org", "a".repeat(64))),
            Err(DomainError::TooLong)
        );
        let long = format!("{}org", "abc.".repeat(63));
        assert_eq!(DomainName::parse(&long), Err(DomainError::TooLong));
    }

    proptest! {
        #[test]
        fn any_text_parses_or_fails_and_parsing_is_idempotent(text in "\\PC{0,40}") {
            if let Ok(name) = DomainName::parse(&text) {
                prop_assert_eq!(DomainName::parse(name.as_str()), Ok(name));
            }
        }
    }
}
