//! Reads lines of limited length, and `sep=` lines.

use std::io::BufRead;

use super::unpack::Meter;

/// Maximum line length in bytes. This is plenty, as paths have at most 4,096 bytes.
pub(super) const LONGEST_LINE: usize = 1 << 20;

/// How a line ended.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum LineEnd {
    Feed,
    OfSource,
}

/// Reads a line. If it is too long, keeps one byte more than the maximum length, so that callers
/// notice. Drops the rest.
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

/// Parses a `sep=;` line, which spreadsheets use to declare the delimiter before the header.
/// Returns `None` for all other lines.
pub(super) fn separator(line: &[u8]) -> Option<u8> {
    // Only trim the line break. A tab could be the delimiter.
    let line = line.strip_suffix(b"\r").unwrap_or(line);
    let line = line.strip_prefix(b"\"").and_then(|rest| rest.strip_suffix(b"\"")).unwrap_or(line);
    match line {
        [b's' | b'S', b'e' | b'E', b'p' | b'P', b'=', separator] if *separator != b'"' => {
            Some(*separator)
        }
        _ => None,
    }
}
