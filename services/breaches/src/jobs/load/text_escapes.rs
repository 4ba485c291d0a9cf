//! Decodes escapes near addresses in text, as used in JSON, URLs, SQL, HTML and emails.

use crate::model::loaded_address::is_word;

/// A decoded character near an `@`.
pub enum Part {
    Char(char),
    /// Can't be in an address.
    Boundary,
    Unclear,
}

/// Decides whether a decoded character can be in an address.
pub fn part(c: char) -> Part {
    let is_part = match c {
        c if c.is_ascii() => c.is_ascii_alphanumeric() || ".-_+'".contains(c),
        c => is_word(c) && !is_separate(c),
    };
    if is_part { Part::Char(c) } else { Part::Boundary }
}

/// Decodes the escape at the start of `text`, if any.
pub fn unescape(text: &[u8]) -> Option<(Part, usize)> {
    match text {
        [b'%', ..] => Some(percent(text)),
        [b'\\', ..] => Some(backslash(text)),
        [b'&', ..] => entity(text),
        _ => None,
    }
}

/// Decodes the two digits after a `=` in quoted-printable text. Also returns their length, which is
/// 0 if they could be the start of a local part, as in `?mail=22ada@corp.example`.
pub fn quoted_printable(text: &[u8]) -> (Part, usize) {
    let is_digit = |byte: &u8| matches!(byte, b'0'..=b'9' | b'A'..=b'F');
    let Some(digits) = text.get(..2).filter(|digits| digits.iter().all(is_digit)) else {
        return (Part::Boundary, 0);
    };
    let letters = digits.iter().filter(|byte| byte.is_ascii_uppercase()).count();
    let is_before_lowercase = text.get(2).is_some_and(u8::is_ascii_lowercase);
    match hex(digits) {
        // Line endings and , : ; < = [
        Some(0x0A | 0x0D | 0x2C | 0x3A..=0x3D | 0x5B) => (Part::Boundary, 2),
        // A plus sign, and parts of non-ASCII characters.
        Some(0x2B) => (Part::Unclear, 2),
        Some(0x80..) if letters == 1 || letters == 2 && is_before_lowercase => (Part::Unclear, 2),
        _ => (Part::Boundary, 0),
    }
}

fn hex(digits: &[u8]) -> Option<u32> {
    let digits = std::str::from_utf8(digits).ok()?;
    digits
        .bytes()
        .all(|byte| byte.is_ascii_hexdigit())
        .then(|| u32::from_str_radix(digits, 16).ok())?
}

/// Decodes `%XX`, or a sequence of them if the character isn't ASCII.
fn percent(text: &[u8]) -> (Part, usize) {
    let mut bytes = Vec::new();
    while let Some([b'%', digits @ ..]) = text.get(bytes.len() * 3..bytes.len() * 3 + 3)
        && let Some(byte) = hex(digits).and_then(|byte| u8::try_from(byte).ok())
        && bytes.len() < 4
    {
        bytes.push(byte);
    }
    match first_char(&bytes) {
        Some((c, size)) => (part(c), size * 3),
        None => (Part::Unclear, (bytes.len() * 3).max(1)),
    }
}

/// Decodes `\uXXXX` and other escapes in JSON and SQL.
fn backslash(text: &[u8]) -> (Part, usize) {
    let slashes = text.iter().take_while(|byte| **byte == b'\\').count();
    match &text[slashes..] {
        [b'u', rest @ ..] => match rest.get(..4).and_then(hex) {
            Some(code) => (char::from_u32(code).map_or(Part::Boundary, part), slashes + 5),
            None => (Part::Boundary, slashes),
        },
        [b'x', rest @ ..] => match rest.get(..2).and_then(hex).and_then(char::from_u32) {
            Some(c) if c.is_ascii() => (part(c), slashes + 3),
            Some(_) => (Part::Unclear, slashes + 3),
            None => (Part::Boundary, slashes),
        },
        [b'n' | b'r' | b't' | b'f' | b'b' | b'v' | b'0', ..] => (Part::Boundary, slashes + 1),
        [b'\'', ..] => (Part::Char('\''), slashes + 1),
        _ => (Part::Boundary, slashes),
    }
}

/// Decodes the HTML entity at the start of `text`, if any.
fn entity(text: &[u8]) -> Option<(Part, usize)> {
    let end = text.iter().take(12).position(|byte| *byte == b';')?;
    let part = match &text[1..end] {
        [b'#', b'x' | b'X', digits @ ..] => part(char::from_u32(hex(digits)?)?),
        [b'#', digits @ ..] => {
            let code = std::str::from_utf8(digits).ok()?.parse().ok()?;
            part(char::from_u32(code)?)
        }
        b"lt" | b"gt" | b"quot" | b"nbsp" | b"amp" | b"lsquo" | b"rsquo" | b"ldquo" | b"rdquo"
        | b"laquo" | b"raquo" | b"bull" | b"middot" | b"ndash" | b"mdash" => Part::Boundary,
        b"apos" => Part::Char('\''),
        name if !name.is_empty() && name.iter().all(u8::is_ascii_alphanumeric) => Part::Unclear,
        _ => return None,
    };
    Some((part, end + 1))
}

/// Decodes the first character and returns its length as well. Returns `None` if it isn't valid
/// UTF-8.
pub fn first_char(text: &[u8]) -> Option<(char, usize)> {
    let text = &text[..text.len().min(4)];
    let valid = match std::str::from_utf8(text) {
        Ok(valid) => valid,
        Err(error) => std::str::from_utf8(&text[..error.valid_up_to()]).ok()?,
    };
    valid.chars().next().map(|c| (c, c.len_utf8()))
}

/// Returns `true` for letters of scripts that don't put spaces between words. There's a word
/// boundary between these and Latin letters (UAX 29).
pub fn is_separate(c: char) -> bool {
    matches!(u32::from(c),
        0x0E00..=0x0EFF | 0x1000..=0x109F | 0x1780..=0x17FF | 0x2E80..=0x312F | 0x31A0..=0x4DBF
        | 0x4E00..=0x9FFF | 0xF900..=0xFAFF | 0xFF66..=0xFF9F | 0x2_0000..=0x3_FFFF)
}
