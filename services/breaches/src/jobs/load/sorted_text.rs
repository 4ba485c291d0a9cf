//! The text that addresses are sorted by, with an optional suffix.

use std::borrow::Cow;

use domain::EmailAddress;

use crate::model::address_text;

/// Separates an address from its suffix. Addresses can't contain line breaks.
const SEPARATOR: char = '\n';

/// Returns the local part as stored, `@`, and the domain as A-labels.
pub fn of(address: &EmailAddress) -> Cow<'_, str> {
    match address_text::stored_local(address) {
        Cow::Borrowed(_) => Cow::Borrowed(address.as_str()),
        Cow::Owned(local) => Cow::Owned(format!("{local}@{}", address.domain())),
    }
}

/// Writes an address with a suffix.
pub fn write_with(text: &mut String, address: &EmailAddress, suffix: &str) {
    text.clear();
    text.push_str(&of(address));
    text.push(SEPARATOR);
    text.push_str(suffix);
}

/// Splits off the suffix, which may be empty.
pub fn parts(text: &str) -> (&str, &str) {
    match memchr::memchr(SEPARATOR as u8, text.as_bytes()) {
        Some(end) => (&text[..end], &text[end + 1..]),
        None => (text, ""),
    }
}

/// Splits an address into its local part as stored and its domain.
pub fn split(address: &str) -> (&str, &str) {
    address.rsplit_once('@').unwrap_or((address, ""))
}
