//! The text under which an address is sorted, and what may stand behind it.

use std::borrow::Cow;

use domain::EmailAddress;

use crate::model::address_text;

/// Between an address and what belongs to it; no address holds a line end.
const BETWEEN: char = '\n';

/// Local part as stored, `@`, domain as A-labels.
pub fn of(address: &EmailAddress) -> Cow<'_, str> {
    match address_text::stored_local(address) {
        Cow::Borrowed(_) => Cow::Borrowed(address.as_str()),
        Cow::Owned(local) => Cow::Owned(format!("{local}@{}", address.domain())),
    }
}

/// Writes the text of an address with something that belongs to it.
pub fn write_with(text: &mut String, address: &EmailAddress, belonging: &str) {
    text.clear();
    text.push_str(&of(address));
    text.push(BETWEEN);
    text.push_str(belonging);
}

/// The address, and what belongs to it, if anything.
pub fn parts(text: &str) -> (&str, &str) {
    match memchr::memchr(BETWEEN as u8, text.as_bytes()) {
        Some(end) => (&text[..end], &text[end + 1..]),
        None => (text, ""),
    }
}

/// Local part as stored and domain of an address.
pub fn split(address: &str) -> (&str, &str) {
    address.rsplit_once('@').unwrap_or((address, ""))
}
