//! Recognizes secrets in a text that look like addresses.

use super::csv_columns;
use super::text_reader::is_inside;

/// Returns `true` if the text between an address and the next `@` is part of a secret, as in
/// `address:secret` and `address----secret`.
pub fn follows_address(text: &[u8]) -> bool {
    let is_end = |byte: &u8| b",;\"'<>()".contains(byte) || byte.is_ascii_whitespace();
    (text.starts_with(b":") || text.starts_with(b"--")) && !text.iter().any(is_end)
}

/// Returns `true` if the last word of a text comes after the label of a secret, as in
/// `Password: secret`.
pub fn has_label(text: &[u8]) -> bool {
    let word = text.iter().rposition(|byte| !is_inside(*byte)).map_or(0, |place| place + 1);
    let is_gap = |byte: &u8| b" \t\"'".contains(byte);
    let before = without_end(&text[..word], is_gap);
    let Some((b':' | b'=', before)) = before.split_last() else { return false };
    let label = without_end(before, is_gap);
    let start = label.iter().rposition(|byte| !byte.is_ascii_alphanumeric() && *byte != b'_');
    let label = &label[start.map_or(0, |place| place + 1)..];
    std::str::from_utf8(label).is_ok_and(csv_columns::is_secret)
}

fn without_end(text: &[u8], is_end: impl Fn(&u8) -> bool) -> &[u8] {
    let end = text.iter().rposition(|byte| !is_end(byte)).map_or(0, |place| place + 1);
    &text[..end]
}

/// Returns `true` if the text ends with the user name and password of a URL, as in
/// `ftp://user:secret`.
pub fn is_user_info(text: &[u8]) -> bool {
    let is_end = |byte: &u8| b"/?#<>\"".contains(byte) || byte.is_ascii_whitespace();
    let Some(slash) = text.iter().rposition(is_end) else { return false };
    let (scheme, rest) = text.split_at(slash + 1);
    (scheme.ends_with(b"://") || scheme.ends_with(b":\\/\\/")) && rest.contains(&b':')
}
