//! Decodes UTF-16 input to UTF-8, and converts bare carriage returns to line feeds.

use std::io::{self, BufRead, Read};

/// Number of bytes decoded per step.
const CHUNK: usize = 16 << 10;

/// A decoding reader. UTF-16 input with a byte order mark is converted to UTF-8. If the first line
/// ends with a bare carriage return, all carriage returns are converted to line feeds.
pub struct Decoded<R> {
    input: R,
    /// The encoding, once known.
    encoding: Option<Encoding>,
    /// A high surrogate whose low surrogate is in the next chunk.
    pending: Option<u16>,
    /// Whether lines end with bare carriage returns, once known.
    has_returns: Option<bool>,
    decoded: Vec<u8>,
    consumed: usize,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Encoding {
    Bytes,
    BigEndian,
    LittleEndian,
}

impl<R: BufRead> Decoded<R> {
    pub fn new(input: R) -> Decoded<R> {
        let (decoded, consumed) = (Vec::new(), 0);
        Decoded { input, encoding: None, pending: None, has_returns: None, decoded, consumed }
    }

    /// Decodes the next chunk.
    fn refill(&mut self) -> io::Result<()> {
        (self.decoded, self.consumed) = (Vec::with_capacity(CHUNK), 0);
        while self.decoded.is_empty() {
            let mut raw = Vec::with_capacity(CHUNK);
            let limit = u64::try_from(CHUNK).unwrap_or(u64::MAX);
            if self.input.by_ref().take(limit).read_to_end(&mut raw)? == 0 {
                return self.finish();
            }
            let (encoding, mark) = match (self.encoding, &raw[..]) {
                (Some(encoding), _) => (encoding, 0),
                (None, [0xff, 0xfe, ..]) => (Encoding::LittleEndian, 2),
                (None, [0xfe, 0xff, ..]) => (Encoding::BigEndian, 2),
                (None, _) => (Encoding::Bytes, 0),
            };
            self.encoding = Some(encoding);
            match encoding {
                Encoding::Bytes => self.decoded = raw,
                Encoding::BigEndian => self.decode(&raw[mark..], u16::from_be_bytes),
                Encoding::LittleEndian => self.decode(&raw[mark..], u16::from_le_bytes),
            }
            self.end_lines();
        }
        Ok(())
    }

    /// At the end of the file, emits a replacement character for an unpaired surrogate.
    fn finish(&mut self) -> io::Result<()> {
        if self.pending.take().is_some() {
            self.push(char::REPLACEMENT_CHARACTER);
        }
        Ok(())
    }

    fn decode(&mut self, raw: &[u8], unit: fn([u8; 2]) -> u16) {
        let (units, _) = raw.as_chunks::<2>();
        let units: Vec<u16> =
            self.pending.take().into_iter().chain(units.iter().copied().map(unit)).collect();
        let is_half = units.last().is_some_and(|last| (0xd800..0xdc00).contains(last));
        let whole = units.len() - usize::from(is_half);
        self.pending = units.get(whole).copied();
        for c in char::decode_utf16(units[..whole].iter().copied()) {
            self.push(c.unwrap_or(char::REPLACEMENT_CHARACTER));
        }
    }

    fn push(&mut self, c: char) {
        self.decoded.extend_from_slice(c.encode_utf8(&mut [0; 4]).as_bytes());
    }

    fn end_lines(&mut self) {
        if self.has_returns.is_none()
            && let Some(end) = self.decoded.iter().position(|byte| matches!(byte, b'\r' | b'\n'))
        {
            let behind = self.decoded[end..].iter().find(|byte| **byte != b'\r');
            // At the end of a chunk we can't see the next byte, but no first line is that long.
            self.has_returns = Some(behind.is_some_and(|byte| *byte != b'\n'));
        }
        if self.has_returns == Some(true) {
            for byte in &mut self.decoded {
                if *byte == b'\r' {
                    *byte = b'\n';
                }
            }
        }
    }
}

/// Decodes a line.
pub fn text(bytes: Vec<u8>) -> String {
    // Fall back to Latin-1 if a line isn't valid UTF-8.
    let text = String::from_utf8(bytes)
        .unwrap_or_else(|error| error.into_bytes().into_iter().map(char::from).collect());
    text.trim_end_matches('\r').replace('\0', "")
}

impl<R: BufRead> Read for Decoded<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let read = self.fill_buf()?.read(buffer)?;
        self.consume(read);
        Ok(read)
    }
}

impl<R: BufRead> BufRead for Decoded<R> {
    fn fill_buf(&mut self) -> io::Result<&[u8]> {
        if self.consumed >= self.decoded.len() {
            self.refill()?;
        }
        Ok(&self.decoded[self.consumed..])
    }

    fn consume(&mut self, bytes: usize) {
        self.consumed += bytes;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn decoded(file: &[u8]) -> String {
        let mut text = String::new();
        Decoded::new(file).read_to_string(&mut text).unwrap();
        text
    }

    #[test]
    fn utf_16_is_decoded_in_both_byte_orders() {
        let text = format!("BEGIN\r\nSUMMARY:{}", "Größe 東京 🎷 ".repeat(3 * CHUNK / 8));
        let units = || std::iter::once(0xfeff).chain(text.encode_utf16());
        let big: Vec<u8> = units().flat_map(u16::to_be_bytes).collect();
        let little: Vec<u8> = units().flat_map(u16::to_le_bytes).collect();
        assert!(decoded(&big) == text && decoded(&little) == text);
        // An unpaired surrogate, and an incomplete code unit.
        assert_eq!(decoded(b"\xff\xfea\0\x3c\xd8\xb7"), "a\u{fffd}");
        assert_eq!(decoded(b"\xff\xfe\x3c\xd8a\0"), "\u{fffd}a");
    }

    #[test]
    fn bare_returns_end_lines_only_if_the_first_line_ends_so() {
        assert_eq!(decoded(b"a\rb\r c\r"), "a\nb\n c\n");
        assert_eq!(decoded(b"a\r\rb\r"), "a\n\nb\n");
        assert_eq!(decoded(b"a\r\nb\rc\r\n"), "a\r\nb\rc\r\n");
        assert_eq!(decoded(b"a\nb\rc"), "a\nb\rc");
        assert_eq!(decoded(b"a\r\r\nb"), "a\r\r\nb");
        assert_eq!(decoded("é\r".as_bytes()), "é\r");
    }
}
