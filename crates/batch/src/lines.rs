//! Reads lines of any length using bounded memory.

use std::io::{self, BufRead};

const BYTE_ORDER_MARK: &[u8] = b"\xEF\xBB\xBF";

/// Reads lines using a limited amount of memory.
///
/// Since the input isn't trusted, a file with a single endless line must not use up all memory.
/// Lines are returned without their line ending (`\n` or `\r\n`), which doesn't count towards the
/// limit. If a line exceeds the limit, only its start is returned and the rest is skipped. A byte
/// order mark at the start of the input is dropped. Line numbers start at 1.
///
/// Lines that are entirely within the input's buffer aren't copied.
///
/// ```
/// use batch::{BoundedLines, Line};
///
/// let mut lines = BoundedLines::new(&b"one\r\nmuch too long\nthree"[..], 5);
/// assert_eq!(lines.next_line()?, Some((1, Line::Bytes(b"one"))));
/// assert_eq!(lines.next_line()?, Some((2, Line::TooLong { start: b"much " })));
/// assert_eq!(lines.next_line()?, Some((3, Line::Bytes(b"three"))));
/// assert_eq!(lines.next_line()?, None);
/// # Ok::<(), std::io::Error>(())
/// ```
#[derive(Debug)]
pub struct BoundedLines<R> {
    input: R,
    limit: usize,
    /// Holds lines that span several fills of the input's buffer.
    joined: Vec<u8>,
    /// Number of bytes in the input's buffer that were returned but not consumed yet.
    given: usize,
    number: u64,
}

/// A line without its line ending.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Line<'a> {
    /// The line is within the limit.
    Bytes(&'a [u8]),
    /// The line exceeds the limit.
    TooLong {
        /// The first bytes of the line, up to the limit.
        start: &'a [u8],
    },
}

/// The reason that a line can't be used as text.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum LineError {
    /// The line is longer than the limit.
    #[error("the line is too long")]
    TooLong,
    /// The line is not valid UTF-8.
    #[error("the line is not UTF-8")]
    NotUtf8,
}

impl<'a> Line<'a> {
    /// Returns the line as a string.
    ///
    /// # Errors
    /// Returns an error if the line is too long or not UTF-8.
    ///
    /// ```
    /// use batch::{Line, LineError};
    ///
    /// assert_eq!(Line::Bytes(b"caf\xC3\xA9").text(), Ok("café"));
    /// assert_eq!(Line::Bytes(b"caf\xE9").text(), Err(LineError::NotUtf8));
    /// assert_eq!(Line::TooLong { start: b"caf" }.text(), Err(LineError::TooLong));
    /// ```
    pub fn text(self) -> Result<&'a str, LineError> {
        match self {
            Self::Bytes(bytes) => std::str::from_utf8(bytes).map_err(|_| LineError::NotUtf8),
            Self::TooLong { .. } => Err(LineError::TooLong),
        }
    }
}

/// The location of the next line.
enum Found {
    /// In the input's buffer, with its lengths excluding and including the line feed.
    InBuffer {
        length: usize,
        with_end: usize,
    },
    Joined {
        too_long: bool,
    },
}

impl<R: BufRead> BoundedLines<R> {
    /// Reads lines of up to `limit` bytes from `input`.
    pub fn new(input: R, limit: usize) -> Self {
        Self { input, limit, joined: Vec::new(), given: 0, number: 0 }
    }

    /// Returns the next line and its number, or `None` at the end of the input.
    ///
    /// # Errors
    /// Returns an error if the input cannot be read.
    pub fn next_line(&mut self) -> io::Result<Option<(u64, Line<'_>)>> {
        Ok(self.next_with_return()?.map(|(number, line)| match line {
            Line::Bytes(bytes) => (number, Line::Bytes(bytes.strip_suffix(b"\r").unwrap_or(bytes))),
            too_long @ Line::TooLong { .. } => (number, too_long),
        }))
    }

    /// Like [`Self::next_line`], but keeps a trailing carriage return, for formats in which values
    /// can contain line endings.
    ///
    /// # Errors
    /// Returns an error if the input cannot be read.
    ///
    /// ```
    /// # use batch::{BoundedLines, Line};
    /// let mut lines = BoundedLines::new(&b"a\r\n"[..], 9);
    /// assert_eq!(lines.next_with_return()?, Some((1, Line::Bytes(b"a\r"))));
    /// # Ok::<(), std::io::Error>(())
    /// ```
    pub fn next_with_return(&mut self) -> io::Result<Option<(u64, Line<'_>)>> {
        self.input.consume(std::mem::take(&mut self.given));
        let Some(found) = self.find()? else { return Ok(None) };
        self.number += 1;
        let (mut bytes, too_long) = match found {
            Found::InBuffer { length, with_end } => {
                self.given = with_end;
                (&self.input.fill_buf()?[..length], false)
            }
            Found::Joined { too_long } => (self.joined.as_slice(), too_long),
        };
        if self.number == 1 {
            bytes = bytes.strip_prefix(BYTE_ORDER_MARK).unwrap_or(bytes);
        }
        let content = bytes.strip_suffix(b"\r").unwrap_or(bytes);
        let line = if too_long || content.len() > self.limit {
            Line::TooLong { start: &bytes[..self.limit.min(bytes.len())] }
        } else {
            Line::Bytes(bytes)
        };
        Ok(Some((self.number, line)))
    }

    /// Returns the input, whose buffer still contains the last line returned.
    ///
    /// ```
    /// let mut lines = batch::BoundedLines::new(std::io::BufReader::new(std::io::empty()), 9);
    /// assert!(lines.get_mut().buffer().is_empty());
    /// ```
    pub fn get_mut(&mut self) -> &mut R {
        &mut self.input
    }

    /// Finds the next line. It is only copied if it doesn't fit in the input's buffer.
    fn find(&mut self) -> io::Result<Option<Found>> {
        self.joined.clear();
        // Neither a byte order mark nor a carriage return counts towards the limit.
        let room = self.limit.saturating_add(BYTE_ORDER_MARK.len() + 1);
        let (mut any, mut too_long) = (false, false);
        loop {
            let chunk = match self.input.fill_buf() {
                Ok(chunk) => chunk,
                Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
                Err(error) => return Err(error),
            };
            if chunk.is_empty() {
                return Ok(any.then_some(Found::Joined { too_long }));
            }
            let end = memchr::memchr(b'\n', chunk);
            if let (false, Some(length)) = (any, end) {
                return Ok(Some(Found::InBuffer { length, with_end: length + 1 }));
            }
            any = true;
            let part = &chunk[..end.unwrap_or(chunk.len())];
            let kept = part.len().min(room - self.joined.len());
            too_long |= kept < part.len();
            self.joined.extend_from_slice(&part[..kept]);
            let used = end.map_or(chunk.len(), |end| end + 1);
            self.input.consume(used);
            if end.is_some() {
                return Ok(Some(Found::Joined { too_long }));
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use std::io::BufReader;

    use proptest::prelude::*;

    use super::*;

    const LONGEST: usize = 64 * 1024;

    /// Reads all lines, each with its number, its bytes, and whether it is too long.
    fn read(bytes: &[u8], capacity: usize, limit: usize) -> Vec<(u64, Vec<u8>, bool)> {
        let mut lines = BoundedLines::new(BufReader::with_capacity(capacity, bytes), limit);
        let mut found = Vec::new();
        while let Some((number, line)) = lines.next_line().unwrap() {
            found.push(match line {
                Line::Bytes(bytes) => (number, bytes.to_vec(), false),
                Line::TooLong { start } => (number, start.to_vec(), true),
            });
        }
        assert!(lines.joined.capacity() <= 2 * (limit + 4).max(8));
        found
    }

    #[test]
    fn byte_order_marks_line_ends_and_long_lines_work_with_any_buffer_size() {
        let mut text = b"\xEF\xBB\xBFa\r\n\nb\n".to_vec();
        text.extend(vec![b'x'; LONGEST + 1]);
        text.extend(b"\nlast");
        for capacity in [1, 7, 4096, 1 << 20] {
            let expected = [
                (1, b"a".to_vec(), false),
                (2, Vec::new(), false),
                (3, b"b".to_vec(), false),
                (4, vec![b'x'; LONGEST], true),
                (5, b"last".to_vec(), false),
            ];
            assert_eq!(read(&text, capacity, LONGEST), expected);
        }
        assert_eq!(read(b"", 8, LONGEST), []);
    }

    #[test]
    fn length_limit_excludes_line_end_and_byte_order_mark() {
        for capacity in [1, 2, 64] {
            let text = b"\xEF\xBB\xBF123\r\n123\r\n1234\r\n123\r\r\n123\r";
            let expected = [
                (1, b"123".to_vec(), false),
                (2, b"123".to_vec(), false),
                (3, b"123".to_vec(), true),
                (4, b"123".to_vec(), true),
                (5, b"123".to_vec(), false),
            ];
            assert_eq!(read(text, capacity, 3), expected, "{capacity}");
        }
    }

    #[test]
    fn carriage_return_is_kept_on_request() {
        let mut lines = BoundedLines::new(b"123\n1234\n12\r\n".as_slice(), 3);
        assert_eq!(lines.next_line().unwrap(), Some((1, Line::Bytes(b"123"))));
        assert_eq!(lines.next_line().unwrap(), Some((2, Line::TooLong { start: b"123" })));
        assert_eq!(lines.next_with_return().unwrap(), Some((3, Line::Bytes(b"12\r"))));
        assert_eq!(lines.next_line().unwrap(), None);
        assert_eq!(lines.next_line().unwrap(), None);
    }

    proptest! {
        #[test]
        fn lines_equal_those_of_a_split(
            text in "[ab\r\n\u{feff}]{0,40}",
            capacity in 1_usize..12,
            limit in 0_usize..12,
        ) {
            let bytes = text.as_bytes();
            let mut expected: Vec<(u64, Vec<u8>, bool)> = Vec::new();
            let plain = bytes.strip_suffix(b"\n").unwrap_or(bytes);
            let pieces = plain.split(|byte| *byte == b'\n');
            for (at, piece) in pieces.enumerate().filter(|_| !bytes.is_empty()) {
                let piece = if at == 0 {
                    piece.strip_prefix(BYTE_ORDER_MARK).unwrap_or(piece)
                } else {
                    piece
                };
                let content = piece.strip_suffix(b"\r").unwrap_or(piece);
                let too_long = content.len() > limit;
                let kept = if too_long { &content[..limit] } else { content };
                expected.push((at as u64 + 1, kept.to_vec(), too_long));
            }
            prop_assert_eq!(read(bytes, capacity, limit), expected);
        }
    }
}
