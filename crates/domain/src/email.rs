//! Email addresses, normalized so that they can be compared, hashed and stored.

use std::fmt;

use crate::Sha1Digest;

/// The reason that a string isn't an email address.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum EmailError {
    /// The address is shorter than 3 or longer than 254 bytes.
    #[error("the address must be 3 to 254 bytes long")]
    Length,
    /// There is no `@`.
    #[error("the address has no @")]
    NoAt,
    /// The part before the last `@` is empty, is longer than 64 bytes, or contains whitespace or
    /// control characters.
    #[error("the part before the @ is invalid")]
    Local,
    /// The part after the last `@` doesn't contain a dot, contains an invalid character, or has a
    /// label that is empty or longer than 63 bytes.
    #[error("the part after the @ is invalid")]
    Domain,
}

/// An email address, trimmed and converted to lowercase (Unicode).
///
/// Aliases (`user+tag`, dots) are kept, so they count as different addresses. The domain doesn't
/// have to be a valid host name, because in leaked addresses, it can contain underscores or be an
/// IP address. An internationalized domain stays in Unicode, because that is what gets hashed.
/// [`EmailAddress::domain`] returns its A-labels.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct EmailAddress {
    text: String,
    at: usize,
    /// The A-labels of an internationalized domain. `None` for ASCII domains, which saves memory
    /// when millions of addresses are loaded.
    a_labels: Option<String>,
}

impl EmailAddress {
    /// Parses and normalizes an address.
    ///
    /// ```
    /// use domain::EmailAddress;
    ///
    /// let address = EmailAddress::parse("  Some.One+Tag@Example.COM ")?;
    /// assert_eq!(address.as_str(), "some.one+tag@example.com");
    /// assert_eq!(address.local(), "some.one+tag");
    /// assert_eq!(address.domain(), "example.com");
    /// # Ok::<(), domain::EmailError>(())
    /// ```
    ///
    /// # Errors
    /// See [`EmailError`].
    pub fn parse(text: &str) -> Result<Self, EmailError> {
        let text = text.trim().to_lowercase();
        if !(3..=254).contains(&text.len()) {
            return Err(EmailError::Length);
        }
        let at = text.rfind('@').ok_or(EmailError::NoAt)?;
        let (local, domain) = (&text[..at], &text[at + 1..]);
        let bad = |c: char| c.is_control() || c.is_whitespace();
        let plain = local.bytes().all(|byte| byte.is_ascii_graphic());
        if local.is_empty() || local.len() > 64 || (!plain && local.contains(bad)) {
            return Err(EmailError::Local);
        }
        let a_labels = match domain {
            domain if domain.is_ascii() => None,
            domain if domain.contains(bad) => return Err(EmailError::Domain),
            domain => Some(idna::domain_to_ascii(domain).map_err(|_| EmailError::Domain)?),
        };
        if !is_mail_domain(a_labels.as_deref().unwrap_or(domain)) {
            return Err(EmailError::Domain);
        }
        Ok(Self { text, at, a_labels })
    }

    /// Returns the whole address.
    pub fn as_str(&self) -> &str {
        &self.text
    }

    /// Returns the part before the last `@`.
    pub fn local(&self) -> &str {
        &self.text[..self.at]
    }

    /// Returns the part after the last `@`, as A-labels.
    pub fn domain(&self) -> &str {
        self.a_labels.as_deref().unwrap_or(&self.text[self.at + 1..])
    }

    /// Returns the SHA-1 of the normalized address.
    ///
    /// ```
    /// let address = domain::EmailAddress::parse("Test@example.com")?;
    /// assert_eq!(address.sha1().to_string(), "567159D622FFBB50B11B0EFD307BE358624A26EE");
    /// # Ok::<(), domain::EmailError>(())
    /// ```
    pub fn sha1(&self) -> Sha1Digest {
        Sha1Digest::of(&self.text)
    }
}

/// Returns whether a string consists of two or more labels of 1 to 63 visible ASCII characters. `@`
/// is rejected as well, since IDNA maps some characters to it.
fn is_mail_domain(text: &str) -> bool {
    let mut labels = 0;
    for label in text.as_bytes().split(|byte| *byte == b'.') {
        let visible = |byte: &u8| byte.is_ascii_graphic() && *byte != b'@';
        if !(1..=63).contains(&label.len()) || !label.iter().all(visible) {
            return false;
        }
        labels += 1;
    }
    labels >= 2
}

impl fmt::Display for EmailAddress {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn every_rule_has_its_error() {
        for (text, error) in [
            ("", EmailError::Length),
            (" ", EmailError::Length),
            ("a@", EmailError::Length),
            ("abc", EmailError::NoAt),
            ("@example.org", EmailError::Local),
            ("a b@example.org", EmailError::Local),
            ("a\u{7}b@example.org", EmailError::Local),
            ("user@localhost", EmailError::Domain),
            ("user@example.org.", EmailError::Domain),
            ("user@.example.org", EmailError::Domain),
            ("user@ example.org", EmailError::Domain),
            ("user@exam\u{7f}ple.org", EmailError::Domain),
            ("user@b\u{fc}\u{ff20}x.example", EmailError::Domain),
        ] {
            assert_eq!(EmailAddress::parse(text), Err(error), "{text:?}");
        }
        assert_eq!(
            EmailAddress::parse(&format!("{}@example.org", "a".repeat(65))),
            Err(EmailError::Local)
        );
        assert_eq!(EmailAddress::parse(&"a".repeat(255)), Err(EmailError::Length));
        let label = |length| format!("user@{}.org", "a".repeat(length));
        assert_eq!(EmailAddress::parse(&label(64)), Err(EmailError::Domain));
        assert!(EmailAddress::parse(&label(63)).is_ok());
    }

    #[test]
    fn a_domain_need_not_be_a_host_name() {
        for domain in ["under_score.example", "192.0.2.1", "-a-.example"] {
            let address = EmailAddress::parse(&format!("user@{domain}")).unwrap();
            assert_eq!(address.domain(), domain);
        }
    }

    #[test]
    fn the_hashed_text_keeps_an_international_domain() {
        let address = EmailAddress::parse("Jürgen@BÜCHER.example").unwrap();
        assert_eq!(address.as_str(), "jürgen@bücher.example");
        assert_eq!(address.domain(), "xn--bcher-kva.example");
    }

    proptest! {
        #[test]
        fn parsing_is_idempotent(text in "\\PC{0,20}@\\PC{0,20}") {
            if let Ok(address) = EmailAddress::parse(&text) {
                prop_assert!(address.domain().bytes().all(|byte| byte.is_ascii_graphic()));
                prop_assert_eq!(EmailAddress::parse(address.as_str()), Ok(address));
            }
        }
    }
}
