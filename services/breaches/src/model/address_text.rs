//! How an address is split over the account row and the mail-domain row, and put together again.
//!
//! An account row holds the local part; its domain is filed once, as A-labels. The digest of an
//! address covers the domain *as it was written*, so an internationalised domain has to be kept
//! too: behind a separator that no local part can contain, because it is a control character.

use std::borrow::Cow;

use domain::{EmailAddress, Sha1Digest};

const SEPARATOR: char = '\u{1f}';

/// What the account row stores for an address.
pub fn stored_local(address: &EmailAddress) -> Cow<'_, str> {
    let written = &address.as_str()[address.local().len() + 1..];
    if written == address.domain() {
        Cow::Borrowed(address.local())
    } else {
        Cow::Owned(format!("{}{SEPARATOR}{written}", address.local()))
    }
}

/// The local part within a stored one.
pub fn alias(stored: &str) -> &str {
    stored.split_once(SEPARATOR).map_or(stored, |(local, _)| local)
}

/// The normalised text of an address whose row says `stored` at `domain`.
pub fn full_text(stored: &str, domain: &str) -> String {
    parts(stored, domain).concat()
}

/// The digest of that text.
pub fn digest(stored: &str, domain: &str) -> Sha1Digest {
    Sha1Digest::of_joined(&parts(stored, domain))
}

fn parts<'a>(stored: &'a str, domain: &'a str) -> [&'a str; 3] {
    let (local, domain) = stored.split_once(SEPARATOR).unwrap_or((stored, domain));
    [local, "@", domain]
}

/// Whether the row `stored` at `domain` is that of `address`.
pub fn is(stored: &str, domain: &str, address: &EmailAddress) -> bool {
    domain == address.domain() && stored == stored_local(address)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ascii_addresses_are_stored_without_their_domain() {
        let address = EmailAddress::parse("Some.One@Example.com").unwrap();
        assert_eq!(stored_local(&address), "some.one");
        assert_eq!(full_text("some.one", "example.com"), address.as_str());
        assert_eq!(digest("some.one", "example.com"), address.sha1());
        assert!(is("some.one", "example.com", &address));
        assert!(!is("some.one", "example.org", &address));
    }

    #[test]
    fn international_domains_keep_the_text_that_was_hashed() {
        let address = EmailAddress::parse("jürgen@bücher.example").unwrap();
        let stored = stored_local(&address).into_owned();
        assert_eq!(full_text(&stored, address.domain()), address.as_str());
        assert_eq!(digest(&stored, address.domain()), address.sha1());
        assert_eq!(alias(&stored), "jürgen");
        let other = EmailAddress::parse("jürgen@xn--bcher-kva.example").unwrap();
        assert!(is(&stored, "xn--bcher-kva.example", &address));
        assert!(!is(&stored, "xn--bcher-kva.example", &other));
    }
}
