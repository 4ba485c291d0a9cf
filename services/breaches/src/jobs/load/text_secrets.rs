//! Recognizes secrets in text that look like addresses.

use super::csv_columns::{self, ADDRESS_TITLES};
use crate::model::website;

/// Returns `true` if a byte could be part of an address, or of an escape in one.
pub fn is_inside(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || !byte.is_ascii() || b".-_+@%\\'&;#".contains(&byte)
}

/// Returns `true` if the text between an address and the next `@` belongs to a secret, as in
/// `address:secret`, `address|secret` and `address----secret`.
pub fn follows_address(text: &[u8]) -> bool {
    const ESCAPED_LINE_ENDS: [&[u8]; 6] = [b"\\n", b"\\r", b"%0a", b"%0A", b"%0d", b"%0D"];
    let is_end = |byte: &u8| b",;\"'<>()".contains(byte) || byte.is_ascii_whitespace();
    [&b":"[..], b"|", b"--"].iter().any(|separator| text.starts_with(separator))
        && !text.iter().any(is_end)
        && !ESCAPED_LINE_ENDS.iter().any(|end| memchr::memmem::find(text, end).is_some())
}

/// Returns `true` if an address might be a secret that contains an `@` and a dot, because it's on
/// the same line as another address and its domain doesn't end in a top-level domain. `between` is
/// the text between these two.
pub fn is_doubtful(between: &[u8], domain: &str) -> bool {
    let is_number = domain.ends_with(|c: char| c.is_ascii_digit());
    let has_known_end =
        !domain.is_ascii() || is_number || website::is_possible(&domain.to_ascii_lowercase());
    !has_known_end && !between.iter().any(|byte| b"\r\n".contains(byte))
}

/// Returns `true` if the last word of a text follows a label for a secret, as in `Password:
/// secret`, `"password" => "secret"` or `<password>secret`. A label for a whole login, as in
/// `Email:Password: address:secret`, doesn't count.
pub fn has_label(text: &[u8]) -> bool {
    let word = text.iter().rposition(|byte| !is_inside(*byte)).map_or(0, |place| place + 1);
    let is_gap = |byte: &u8| b" \t\"'".contains(byte);
    let before = without_end(&text[..word], is_gap);
    if let Some(before) = before.strip_suffix(b">") {
        let Some(key) = before.strip_suffix(b"=") else { return is_secret(element(before)) };
        let key = without_end(key, |byte| is_gap(byte) || *byte == b']');
        return is_secret(split_word(key).1);
    }
    let Some((b':' | b'=', before)) = before.split_last() else { return false };
    let (before, label) = split_word(without_end(before, is_gap));
    if !is_secret(label) {
        return false;
    }
    let Some((b':' | b'/' | b'|', before)) = without_end(before, is_gap).split_last() else {
        return true;
    };
    let (_, first) = split_word(without_end(before, is_gap));
    !ADDRESS_TITLES.iter().any(|title| first.eq_ignore_ascii_case(title.as_bytes()))
}

fn is_secret(label: &[u8]) -> bool {
    std::str::from_utf8(label).is_ok_and(csv_columns::is_secret)
}

/// Returns the name of the start tag at the end of a text, without its `>`. Empty if there is none.
fn element(text: &[u8]) -> &[u8] {
    let Some(start) = memchr::memrchr(b'<', text) else { return &[] };
    let tag = &text[start + 1..];
    let end = tag.iter().position(u8::is_ascii_whitespace).unwrap_or(tag.len());
    if tag.starts_with(b"/") || tag.contains(&b'>') { &[] } else { &tag[..end] }
}

/// Splits off the last word of a text.
fn split_word(text: &[u8]) -> (&[u8], &[u8]) {
    let is_inside = |byte: &u8| byte.is_ascii_alphanumeric() || *byte == b'_';
    let start = text.iter().rposition(|byte| !is_inside(byte)).map_or(0, |place| place + 1);
    text.split_at(start)
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn labels_of_secrets_are_recognised_in_common_notations() {
        for text in [
            "Password: p",
            "\"password\": \"p",
            "'password' => 'p",
            "    [user_pass] => p",
            "<password>p",
            "<user-pass type='x'>p",
        ] {
            assert!(has_label(text.as_bytes()), "{text}");
        }
        for text in [
            "ada",
            "<password>x</password>ada",
            "<passwords> are > ada",
            "<email type=\"password\">ada",
            "[email] => ada",
            "> password > ada",
            "Password: x => ada",
        ] {
            assert!(!has_label(text.as_bytes()), "{text}");
        }
    }

    #[test]
    fn secret_follows_an_address_after_a_separator_of_combo_lists() {
        for text in [":p", "|p", "--p", "----x/p"] {
            assert!(follows_address(text.as_bytes()), "{text}");
        }
        for text in [",bob", ";bob", ": bob", " | bob", "|x,bob", "|x\nbob", "-bob"] {
            assert!(!follows_address(text.as_bytes()), "{text}");
        }
    }

    #[test]
    fn domain_without_a_top_level_domain_is_doubtful_after_an_address_on_the_same_line() {
        for between in [";p", ",p", "\tp", " p", " | p", ";5f4dcc3b5aa7;p"] {
            assert!(is_doubtful(between.as_bytes(), "ss.Word"), "{between}");
            for domain in ["Corp.Example", "192.0.2.1", "b\u{fc}cher.example"] {
                assert!(!is_doubtful(between.as_bytes(), domain), "{between} {domain}");
            }
        }
        assert!(!is_doubtful(b"\nbob", "gmail.con"));
    }
}
