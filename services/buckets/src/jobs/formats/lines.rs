//! Reads lines of limited length, and the line that declares a table's delimiter.

use std::io::BufRead;

use super::unpack::Meter;

/// Maximum length of a line in bytes. Paths have at most 4,096 bytes.
pub(super) const LONGEST_LINE: usize = 1 << 20;

/// How a line ends.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum LineEnd {
    Feed,
    OfSource,
}

/// Reads a line. Bytes in excess of the maximum length are dropped.
pub(super) fn read_line<R: BufRead>(
    input: &mut Meter<R>,
    line: &mut Vec<u8>,
) -> std::io::Result<LineEnd> {
    loop {
        input.reset();
        let available = input.fill_buf()?;
        if available.is_empty() {
            return Ok(LineEnd::OfSource);
        }
        let end = memchr::memchr(b'\n', available);
        let count = end.map_or(available.len(), |end| end + 1);
        let room = (LONGEST_LINE + 1).saturating_sub(line.len());
        line.extend_from_slice(&available[..count.min(room)]);
        input.consume(count);
        if end.is_some() {
            return Ok(LineEnd::Feed);
        }
    }
}

/// Returns the delimiter that a line `sep=;` declares. Spreadsheets read and write such a line
/// before the header. Returns `None` for any other line.
pub(super) fn separator(line: &[u8]) -> Option<u8> {
    // A tab may be the delimiter, so only the line break is trimmed.
    let line = line.strip_suffix(b"\r").unwrap_or(line);
    let line = line.strip_prefix(b"\"").and_then(|rest| rest.strip_suffix(b"\"")).unwrap_or(line);
    match line {
        [b's' | b'S', b'e' | b'E', b'p' | b'P', b'=', separator] if *separator != b'"' => {
            Some(*separator)
        }
        _ => None,
    }
}
