//! Splits addresses into a local part and an email domain for storage, and puts them back together.
//!
//! Account rows hold only the local part; each domain is stored once, as A-labels. However, an
//! address's digest covers the domain *as written*. For internationalized domains, we therefore
//! append the original spelling to the local part, separated by a control character that can't
//! occur in local parts.

use std::borrow::Cow;

use domain::{EmailAddress, Sha1Digest};

const SEPARATOR: char = '\u{1f}';

/// Returns the local part as stored in an account row.
pub fn stored_local(address: &EmailAddress) -> Cow<'_, str> {
    let written = &address.as_str()[address.local().len() + 1..];
    if written == address.domain() {
        Cow::Borrowed(address.local())
    } else {
        Cow::Owned(format!("{}{SEPARATOR}{written}", address.local()))
    }
}

/// Strips the original domain spelling from a stored local part.
pub fn alias(stored: &str) -> &str {
    stored.split_once(SEPARATOR).map_or(stored, |(local, _)| local)
}

/// Rebuilds the normalized address from its stored local part and domain.
pub fn full_text(stored: &str, domain: &str) -> String {
    parts(stored, domain).concat()
}

/// Computes the digest of the normalized address.
pub fn digest(stored: &str, domain: &str) -> Sha1Digest {
    Sha1Digest::of_joined(&parts(stored, domain))
}

fn parts<'a>(stored: &'a str, domain: &'a str) -> [&'a str; 3] {
    let (local, domain) = stored.split_once(SEPARATOR).unwrap_or((stored, domain));
    [local, "@", domain]
}

/// Returns `true` if the stored local part and domain match `address`.
pub fn matches(stored: &str, domain: &str, address: &EmailAddress) -> bool {
    domain == address.domain() && stored == stored_local(address)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ascii_address_is_stored_without_its_domain() {
        let address = EmailAddress::parse("Some.One@Example.com").unwrap();
        assert_eq!(stored_local(&address), "some.one");
        assert_eq!(full_text("some.one", "example.com"), address.as_str());
        assert_eq!(digest("some.one", "example.com"), address.sha1());
        assert!(matches("some.one", "example.com", &address));
        assert!(!matches("some.one", "example.org", &address));
    }

    #[test]
    fn international_address_keeps_the_hashed_domain() {
        let address = EmailAddress::parse("jürgen@bücher.example").unwrap();
        let stored = stored_local(&address).into_owned();
        assert_eq!(full_text(&stored, address.domain()), address.as_str());
        assert_eq!(digest(&stored, address.domain()), address.sha1());
        assert_eq!(alias(&stored), "jürgen");
        let other = EmailAddress::parse("jürgen@xn--bcher-kva.example").unwrap();
        assert!(matches(&stored, "xn--bcher-kva.example", &address));
        assert!(!matches(&stored, "xn--bcher-kva.example", &other));
    }
}
