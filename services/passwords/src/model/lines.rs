//! Parses hash lists. Lines have the form `HASH:COUNT`, or `SUFFIX:COUNT` in a file for a single
//! prefix.

use super::entry::{Entry, MAX_COUNT};
use super::kind::Kind;

/// Why a line is invalid.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum LineError {
    /// The text before the colon isn't a digest of this kind. Contains the expected number of
    /// digits.
    #[error("expected {0} hexadecimal characters")]
    Digest(usize),
    /// The digest is of a different kind than the previous ones, so the list mixes both.
    #[error("the digest is of a different kind than those in earlier lines")]
    Mixture,
    /// The text after the colon isn't a number.
    #[error("the count must contain only digits")]
    Count,
    /// A line in a password list with counts doesn't start with a count.
    #[error("expected a count and one space before the password")]
    NoCount,
}

/// How digests are written in a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Form {
    /// Each line has a complete digest.
    Whole,
    /// Each line has a suffix, and all digests start with this prefix.
    Suffix(u32),
}

/// The result of parsing a block of lines.
#[derive(Debug, Default)]
pub struct Parsed {
    /// Entries in input order.
    pub entries: Vec<Entry>,
    /// Lines, including empty ones.
    pub lines: u64,
    /// Lines with a count of 0, i.e. padding that was saved along with a response.
    pub dropped: u64,
    /// Invalid lines, if the parser skips them.
    pub skipped: u64,
    /// The first entry that isn't greater than its predecessor, as an index into `entries` and a
    /// line number (starting at 0).
    pub disorder: Option<(usize, u64)>,
    /// The first repeated digest, as an index into `entries`. Its counts have been added up.
    pub repeated: Option<usize>,
    /// The first invalid line and its number (starting at 0), unless the parser skips invalid
    /// lines.
    pub error: Option<(u64, LineError)>,
}

/// Detects a list's kind from the first line with a digest, if any.
pub fn kind_of(text: &[u8], form: Form) -> Option<Kind> {
    text.split(|byte| *byte == b'\n').find_map(|line| {
        let digest = line.split(|byte| *byte == b':').next().unwrap_or_default().trim_ascii_end();
        kind_of_length(digest, form).filter(|_| digest.iter().all(u8::is_ascii_hexdigit))
    })
}

fn kind_of_length(digest: &[u8], form: Form) -> Option<Kind> {
    Kind::ALL.into_iter().find(|kind| digest.len() == digits(*kind, form))
}

fn digits(kind: Kind, form: Form) -> usize {
    match form {
        Form::Whole => kind.hash_bytes() * 2,
        Form::Suffix(_) => kind.suffix_len(),
    }
}

/// Parses complete lines. Only the last line may lack a line ending.
pub fn parse(text: &[u8], kind: Kind, form: Form, lenient: bool) -> Parsed {
    match kind {
        Kind::Sha1 => parse_kind::<20>(text, kind, form, lenient),
        Kind::Ntlm => parse_kind::<16>(text, kind, form, lenient),
    }
}

fn parse_kind<const N: usize>(text: &[u8], kind: Kind, form: Form, lenient: bool) -> Parsed {
    let mut parsed =
        Parsed { entries: Vec::with_capacity(text.len() / (2 * N)), ..Parsed::default() };
    let mut rest = text;
    while !rest.is_empty() {
        let taken = match quick_line::<N>(rest, form) {
            Some((entry, taken)) => {
                parsed.add(Some(entry));
                taken
            }
            None => {
                let end = memchr::memchr(b'\n', rest);
                match line(&rest[..end.unwrap_or(rest.len())], kind, form) {
                    Ok(entry) => parsed.add(entry),
                    Err(_) if lenient => parsed.skipped += 1,
                    Err(error) => {
                        parsed.error = Some((parsed.lines, error));
                        return parsed;
                    }
                }
                end.map_or(rest.len(), |end| end + 1)
            }
        };
        parsed.lines += 1;
        rest = &rest[taken..];
    }
    parsed
}

impl Parsed {
    #[inline(always)]
    fn add(&mut self, entry: Option<Entry>) {
        let Some(entry) = entry else { return };
        if entry.count == 0 {
            self.dropped += 1;
            return;
        }
        if let Some(last) = self.entries.last_mut() {
            match last.compare(&entry) {
                std::cmp::Ordering::Less => {}
                std::cmp::Ordering::Equal if self.disorder.is_none() => {
                    last.count = super::entry::add_counts(last.count, entry.count);
                    self.repeated.get_or_insert(self.entries.len() - 1);
                    return;
                }
                std::cmp::Ordering::Equal => {}
                std::cmp::Ordering::Greater => {
                    self.disorder.get_or_insert((self.entries.len(), self.lines));
                }
            }
        }
        self.entries.push(entry);
    }
}

/// Parses a line in the most common form. Returns `None` for any other line, whether valid or not.
#[inline(always)]
fn quick_line<const N: usize>(text: &[u8], form: Form) -> Option<(Entry, usize)> {
    if form != Form::Whole {
        return None;
    }
    let (digits, rest) = text.split_at_checked(2 * N)?;
    let mut hash = [0; 20];
    let mut valid = true;
    for (eight, four) in digits.as_chunks::<8>().0.iter().zip(hash.as_chunks_mut::<4>().0) {
        let (bytes, good) = join(u64::from_le_bytes(*eight));
        *four = bytes.to_le_bytes();
        valid &= good;
    }
    if !valid || *rest.first()? != b':' {
        return None;
    }
    let mut count = 0u32;
    for (at, byte) in rest[1..].iter().take(10).enumerate() {
        let taken = match byte {
            b'0'..=b'9' if at < 9 => {
                count = count * 10 + u32::from(byte - b'0');
                continue;
            }
            b'\n' if at > 0 => 1,
            b'\r' if at > 0 && rest.get(at + 2) == Some(&b'\n') => 2,
            _ => return None,
        };
        return Some((Entry { hash, count }, 2 * N + 1 + at + taken));
    }
    None
}

/// Converts eight hex digits to four bytes. The second value is false if any of them isn't a digit.
#[inline(always)]
fn join(x: u64) -> (u32, bool) {
    const HIGH: u64 = 0x8080_8080_8080_8080;
    const ONES: u64 = 0x0101_0101_0101_0101;
    let plain = x & !HIGH;
    let from = |low: u64| plain.wrapping_add(ONES * (0x80 - low));
    let digit = from(0x30) & !from(0x3A);
    let folded = plain | (ONES * 0x20);
    let letter = (folded + ONES * (0x80 - 0x61)) & !(folded + ONES * (0x80 - 0x67));
    let valid = (digit | letter) & !x & HIGH == HIGH;
    let nibbles = (x & (ONES * 0x0F)) + (x >> 6 & ONES) * 9;
    let pairs = (nibbles << 4 | nibbles >> 8) & 0x00FF_00FF_00FF_00FF;
    let halves = (pairs | pairs >> 8) & 0x0000_FFFF_0000_FFFF;
    ((halves | halves >> 16) as u32, valid)
}

/// Parses a line without its line feed. Returns `None` if the line is empty.
///
/// # Errors
/// See [`LineError`].
pub fn line(line: &[u8], kind: Kind, form: Form) -> Result<Option<Entry>, LineError> {
    let line = trimmed(line);
    if line.is_empty() {
        return Ok(None);
    }
    let (digest, count) = match memchr::memchr(b':', line) {
        Some(at) => (&line[..at], Some(&line[at + 1..])),
        None => (line, None),
    };
    let wanted = digits(kind, form);
    if digest.len() != wanted || !digest.iter().all(u8::is_ascii_hexdigit) {
        let other = kind_of_length(digest, form).is_some_and(|found| found != kind);
        let mixed = other && digest.iter().all(u8::is_ascii_hexdigit);
        return Err(if mixed { LineError::Mixture } else { LineError::Digest(wanted) });
    }
    let count = count.map_or(Ok(1), read_count)?;
    Ok(Some(Entry { hash: hash_of(digest, form), count }))
}

/// Parses a decimal count, saturating at [`MAX_COUNT`].
///
/// # Errors
/// Returns [`LineError::Count`] if it isn't a number.
pub fn read_count(digits: &[u8]) -> Result<u32, LineError> {
    if digits.is_empty() || !digits.iter().all(u8::is_ascii_digit) {
        return Err(LineError::Count);
    }
    let read =
        |sum: u32, digit: &u8| sum.saturating_mul(10).saturating_add(u32::from(digit - b'0'));
    Ok(digits.iter().fold(0, read).min(MAX_COUNT))
}

/// Trims trailing spaces and tabs, as well as the CR of a CR LF. Old releases of the list pad lines
/// with spaces.
fn trimmed(line: &[u8]) -> &[u8] {
    let end = line.iter().rposition(|byte| !matches!(byte, b' ' | b'\t' | b'\r'));
    end.map_or(&[], |end| &line[..=end])
}

fn hash_of(digest: &[u8], form: Form) -> [u8; 20] {
    let mut hash = [0; 20];
    let mut put = |at: usize, digit: u8| {
        hash[at / 2] |= if at.is_multiple_of(2) { digit << 4 } else { digit };
    };
    let mut at = 0;
    if let Form::Suffix(prefix) = form {
        for shift in [16, 12, 8, 4, 0] {
            put(at, (prefix >> shift) as u8 & 15);
            at += 1;
        }
    }
    for digit in digest {
        put(at, char::from(*digit).to_digit(16).unwrap_or_default() as u8);
        at += 1;
    }
    hash
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    const SHA1: &str = "5BAA61E4C9B93F3F0682250B6CF8331B7EE68FD8";
    const NTLM: &str = "8846F7EAEE8FB117AD06BDD830B7586C";

    fn read(text: &str) -> Result<Option<u32>, LineError> {
        Ok(line(text.as_bytes(), Kind::Sha1, Form::Whole)?.map(|entry| entry.count))
    }

    #[test]
    fn hash_lines_are_parsed_by_the_rules() {
        let table = [
            (SHA1.to_owned(), Ok(Some(1))),
            (format!("{SHA1}:7"), Ok(Some(7))),
            (format!("{}:7", SHA1.to_lowercase()), Ok(Some(7))),
            (format!("{SHA1}:007"), Ok(Some(7))),
            (format!("{SHA1}:7  \r"), Ok(Some(7))),
            (format!("{SHA1}   "), Ok(Some(1))),
            (format!("{SHA1}:2147483648"), Ok(Some(MAX_COUNT))),
            (format!("{SHA1}:99999999999999999999"), Ok(Some(MAX_COUNT))),
            (format!("{SHA1}:0"), Ok(Some(0))),
            (String::new(), Ok(None)),
            ("\r".to_owned(), Ok(None)),
            (format!("{SHA1}:"), Err(LineError::Count)),
            (format!("{SHA1}:-1"), Err(LineError::Count)),
            (format!("{SHA1}:1,000"), Err(LineError::Count)),
            (format!("{SHA1}: 1"), Err(LineError::Count)),
            (format!(" {SHA1}:1"), Err(LineError::Digest(40))),
            (format!("{}:1", &SHA1[1..]), Err(LineError::Digest(40))),
            (format!("{}G:1", &SHA1[1..]), Err(LineError::Digest(40))),
            (format!("{NTLM}:1"), Err(LineError::Mixture)),
        ];
        for (text, expected) in table {
            assert_eq!(read(&text), expected, "{text}");
            let quick = parse(format!("{text}\n").as_bytes(), Kind::Sha1, Form::Whole, false);
            match expected {
                Ok(Some(0)) => assert_eq!((quick.dropped, quick.entries.len()), (1, 0)),
                Ok(Some(count)) => assert_eq!(quick.entries[0].count, count, "{text}"),
                Ok(None) => assert_eq!((quick.lines, quick.entries.len()), (1, 0)),
                Err(error) => assert_eq!(quick.error, Some((0, error)), "{text}"),
            }
        }
    }

    #[test]
    fn suffix_and_prefix_form_the_whole_hash() {
        let entry =
            line(&SHA1.as_bytes()[5..], Kind::Sha1, Form::Suffix(0x5BAA6)).unwrap().unwrap();
        let whole = line(SHA1.as_bytes(), Kind::Sha1, Form::Whole).unwrap().unwrap();
        assert_eq!(entry, whole);
        let entry =
            line(&NTLM.as_bytes()[5..], Kind::Ntlm, Form::Suffix(0x8846F)).unwrap().unwrap();
        assert_eq!(entry.hash[..3], [0x88, 0x46, 0xF7]);
    }

    #[test]
    fn disorder_and_errors_have_line_numbers() {
        let (a, b) = ("0".repeat(40), "1".repeat(40));
        let text = format!("{a}\n\n{b}:2\r\n{a}:3");
        let parsed = parse(text.as_bytes(), Kind::Sha1, Form::Whole, false);
        assert_eq!((parsed.lines, parsed.disorder), (4, Some((2, 3))));
        let text = format!("{a}\nwrong\n{b}\n");
        let parsed = parse(text.as_bytes(), Kind::Sha1, Form::Whole, false);
        assert_eq!(parsed.error, Some((1, LineError::Digest(40))));
        let parsed = parse(text.as_bytes(), Kind::Sha1, Form::Whole, true);
        assert_eq!((parsed.skipped, parsed.entries.len(), parsed.error), (1, 2, None));
    }

    #[test]
    fn equal_neighbours_add_up() {
        let text = format!("{SHA1}:2147483647\n{SHA1}:5\n");
        let parsed = parse(text.as_bytes(), Kind::Sha1, Form::Whole, false);
        assert_eq!((parsed.entries.len(), parsed.repeated), (1, Some(0)));
        assert_eq!(parsed.entries[0].count, MAX_COUNT);
    }

    #[test]
    fn the_kind_follows_from_the_first_digest() {
        let text = format!("\r\n??\n{NTLM}:1\n{SHA1}:1\n");
        assert_eq!(kind_of(text.as_bytes(), Form::Whole), Some(Kind::Ntlm));
        assert_eq!(kind_of(b"\n\n", Form::Whole), None);
        assert_eq!(kind_of(&SHA1.as_bytes()[5..], Form::Suffix(0)), Some(Kind::Sha1));
    }

    proptest! {
        #[test]
        fn eight_hex_digits_parse_like_the_standard_library(bytes in any::<[u8; 8]>(), hex in "[0-9a-fA-F]{8}") {
            for eight in [bytes, hex.as_bytes().try_into().unwrap()] {
                let text: String = eight.iter().map(|byte| char::from(*byte)).collect();
                let all = eight.iter().all(u8::is_ascii_hexdigit);
                let (value, valid) = join(u64::from_le_bytes(eight));
                prop_assert_eq!(valid, all);
                if all {
                    prop_assert_eq!(value.swap_bytes(), u32::from_str_radix(&text, 16).unwrap());
                }
            }
        }

        #[test]
        fn arbitrary_text_never_panics(text in prop::collection::vec(any::<u8>(), 0..300)) {
            for kind in Kind::ALL {
                for form in [Form::Whole, Form::Suffix(7)] {
                    let parsed = parse(&text, kind, form, true);
                    prop_assert!(parsed.error.is_none());
                    let _ = kind_of(&text, form);
                }
            }
        }
    }
}
