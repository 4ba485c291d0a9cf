//! Converts UTF-16 to UTF-8 and strips byte order marks.

use std::io::{self, BufRead, Read};

/// Code units to convert at a time.
const UNITS: usize = 16 << 10;

/// Converts input with a UTF-16 byte order mark to UTF-8. Also strips a UTF-8 byte order mark.
/// Passes everything else through.
pub(super) fn as_utf8<'a>(mut input: Box<dyn BufRead + 'a>) -> io::Result<Box<dyn BufRead + 'a>> {
    let is_big = match input.fill_buf()? {
        [0xff, 0xfe, ..] => false,
        [0xfe, 0xff, ..] => true,
        [0xef, 0xbb, 0xbf, ..] => {
            input.consume(3);
            return Ok(input);
        }
        _ => return Ok(input),
    };
    input.consume(2);
    let reader = Utf16 { input, is_big, text: Vec::new(), read: 0, high: None };
    Ok(Box::new(io::BufReader::new(reader)))
}

struct Utf16<'a> {
    input: Box<dyn BufRead + 'a>,
    is_big: bool,
    /// Converted text. The first `read` bytes have been consumed.
    text: Vec<u8>,
    read: usize,
    /// The first half of a surrogate pair.
    high: Option<u16>,
}

impl Utf16<'_> {
    fn convert(&mut self) -> io::Result<()> {
        let mut bytes = Vec::with_capacity(UNITS * 2);
        self.input.by_ref().take(UNITS as u64 * 2).read_to_end(&mut bytes)?;
        if bytes.len() % 2 == 1 {
            let error = "the UTF-16 text ends within a character";
            return Err(io::Error::new(io::ErrorKind::UnexpectedEof, error));
        }
        let is_last = bytes.is_empty();
        let unit = |pair: &[u8]| match self.is_big {
            true => u16::from_be_bytes([pair[0], pair[1]]),
            false => u16::from_le_bytes([pair[0], pair[1]]),
        };
        let mut units: Vec<u16> = self.high.take().into_iter().collect();
        units.extend(bytes.chunks_exact(2).map(unit));
        if !is_last && units.last().is_some_and(|unit| (0xd800..0xdc00).contains(unit)) {
            self.high = units.pop();
        }
        let text: String = char::decode_utf16(units)
            .map(|symbol| symbol.unwrap_or(char::REPLACEMENT_CHARACTER))
            .collect();
        (self.text, self.read) = (text.into_bytes(), 0);
        Ok(())
    }
}

impl Read for Utf16<'_> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        while self.read == self.text.len() {
            let had_half = self.high.is_some();
            self.convert()?;
            if self.text.is_empty() && self.high.is_some() == had_half {
                return Ok(0);
            }
        }
        let count = buffer.len().min(self.text.len() - self.read);
        buffer[..count].copy_from_slice(&self.text[self.read..self.read + count]);
        self.read += count;
        Ok(count)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn converted(bytes: &[u8]) -> io::Result<String> {
        let mut text = String::new();
        as_utf8(Box::new(bytes))?.read_to_string(&mut text)?;
        Ok(text)
    }

    #[test]
    fn both_byte_orders_are_converted() {
        let text = format!("{}\u{1f600}\u{e9};x\r\n", "y".repeat(UNITS - 1));
        let units = || [0xfeff].into_iter().chain(text.encode_utf16());
        let little: Vec<u8> = units().flat_map(u16::to_le_bytes).collect();
        let big: Vec<u8> = units().flat_map(u16::to_be_bytes).collect();
        assert_eq!(converted(&little).unwrap(), text);
        assert_eq!(converted(&big).unwrap(), text);
        assert!(converted(&little[..little.len() - 1]).is_err());
        assert_eq!(converted(b"\xff\xfe\x00\xd8").unwrap(), "\u{fffd}");
        assert_eq!(converted(text.as_bytes()).unwrap(), text);
        assert_eq!(converted(format!("\u{feff}{text}").as_bytes()).unwrap(), text);
        assert_eq!(converted(b"").unwrap(), "");
    }
}
