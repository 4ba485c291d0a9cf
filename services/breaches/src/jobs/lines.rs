//! Lines of any length in bounded memory.

use std::io::{self, BufRead};

/// The limit of lines that hold one record of an address, in bytes.
pub const LONGEST: usize = 64 * 1024;

/// Reads lines; knows their numbers.
pub struct Lines<R> {
    input: R,
    longest: usize,
    buffer: Vec<u8>,
    number: u64,
}

/// A line without its end.
#[derive(Debug, PartialEq, Eq)]
pub enum Line<'a> {
    /// Its bytes, without a byte order mark.
    Bytes(&'a [u8]),
    /// More bytes than a line may have.
    TooLong,
}

impl<R: BufRead> Lines<R> {
    /// Reads from an input; lines of more than `longest` bytes are told as such and not kept.
    pub fn new(input: R, longest: usize) -> Self {
        Self { input, longest, buffer: Vec::with_capacity(256), number: 0 }
    }

    /// The next line with its number, which counts from 1.
    pub fn next_line(&mut self) -> io::Result<Option<(u64, Line<'_>)>> {
        let line = self.next_with_return()?;
        Ok(line.map(|(number, line)| match line {
            Line::Bytes(bytes) => (number, Line::Bytes(bytes.strip_suffix(b"\r").unwrap_or(bytes))),
            Line::TooLong => (number, Line::TooLong),
        }))
    }

    /// The next line as [`Self::next_line`] gives it, with the carriage return that it may end in.
    pub fn next_with_return(&mut self) -> io::Result<Option<(u64, Line<'_>)>> {
        self.buffer.clear();
        let mut too_long = false;
        let mut any = false;
        loop {
            let chunk = match self.input.fill_buf() {
                Ok(chunk) => chunk,
                Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
                Err(error) => return Err(error),
            };
            if chunk.is_empty() {
                break;
            }
            any = true;
            let end = memchr::memchr(b'\n', chunk);
            let part = &chunk[..end.unwrap_or(chunk.len())];
            too_long |= self.buffer.len() + part.len() > self.longest;
            if !too_long {
                self.buffer.extend_from_slice(part);
            }
            let used = end.map_or(chunk.len(), |end| end + 1);
            self.input.consume(used);
            if end.is_some() {
                break;
            }
        }
        if !any {
            return Ok(None);
        }
        self.number += 1;
        if too_long {
            return Ok(Some((self.number, Line::TooLong)));
        }
        let mut bytes = self.buffer.as_slice();
        if self.number == 1 {
            bytes = bytes.strip_prefix(b"\xEF\xBB\xBF").unwrap_or(bytes);
        }
        Ok(Some((self.number, Line::Bytes(bytes))))
    }
}

#[cfg(test)]
mod tests {
    use std::io::BufReader;

    use super::*;

    fn read(bytes: &[u8], capacity: usize) -> Vec<(u64, Option<Vec<u8>>)> {
        let mut lines = Lines::new(BufReader::with_capacity(capacity, bytes), LONGEST);
        let mut found = Vec::new();
        while let Some((number, line)) = lines.next_line().unwrap() {
            found.push((
                number,
                match line {
                    Line::Bytes(bytes) => Some(bytes.to_vec()),
                    Line::TooLong => None,
                },
            ));
        }
        found
    }

    #[test]
    fn marks_line_ends_and_long_lines_are_handled_whatever_the_buffer() {
        let mut text = b"\xEF\xBB\xBFa\r\n\nb\n".to_vec();
        text.extend(vec![b'x'; LONGEST + 1]);
        text.extend(b"\nlast");
        for capacity in [1, 7, 4096] {
            let expected = [
                (1, Some(b"a".to_vec())),
                (2, Some(Vec::new())),
                (3, Some(b"b".to_vec())),
                (4, None),
                (5, Some(b"last".to_vec())),
            ];
            assert_eq!(read(&text, capacity), expected);
        }
        assert_eq!(read(b"", 8), []);
    }

    #[test]
    fn a_line_may_be_as_long_as_its_reader_says() {
        let mut lines = Lines::new(b"123\n1234\n12\r\n".as_slice(), 3);
        assert_eq!(lines.next_line().unwrap(), Some((1, Line::Bytes(b"123"))));
        assert_eq!(lines.next_line().unwrap(), Some((2, Line::TooLong)));
        assert_eq!(lines.next_with_return().unwrap(), Some((3, Line::Bytes(b"12\r"))));
        assert_eq!(lines.next_line().unwrap(), None);
    }
}
