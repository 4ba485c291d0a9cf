//! Reads lines from untrusted input.

use std::io::{self, BufRead, Read};

/// Maximum length of a line in bytes. All valid values are much shorter.
const LONGEST: u64 = 64 << 10;

/// A line without its line ending.
#[derive(Debug, PartialEq, Eq)]
pub enum Line<'a> {
    /// A line of valid UTF-8.
    Text(&'a str),
    /// A line that is not valid UTF-8.
    NotUtf8,
    /// A line longer than 64 KiB, which was skipped.
    TooLong,
}

/// Reads lines in bounded memory.
pub struct Lines<R> {
    input: R,
    line: Vec<u8>,
}

impl<R: BufRead> Lines<R> {
    pub fn new(input: R) -> Self {
        Self { input, line: Vec::new() }
    }

    /// Returns the next line, or `None` at EOF.
    ///
    /// # Errors
    /// Returns any error from the input.
    pub fn next(&mut self) -> io::Result<Option<Line<'_>>> {
        self.line.clear();
        let read = (&mut self.input).take(LONGEST).read_until(b'\n', &mut self.line)?;
        if read == 0 {
            return Ok(None);
        }
        if self.line.last() != Some(&b'\n') && read as u64 == LONGEST {
            self.skip()?;
            return Ok(Some(Line::TooLong));
        }
        let line = self.line.strip_suffix(b"\n").unwrap_or(&self.line);
        let line = line.strip_suffix(b"\r").unwrap_or(line);
        Ok(Some(str::from_utf8(line).map_or(Line::NotUtf8, Line::Text)))
    }

    /// Skips the rest of an overlong line.
    fn skip(&mut self) -> io::Result<()> {
        loop {
            let held = self.input.fill_buf()?;
            let (used, ended) = match held.iter().position(|byte| *byte == b'\n') {
                Some(end) => (end + 1, true),
                None => (held.len(), held.is_empty()),
            };
            self.input.consume(used);
            if ended {
                return Ok(());
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_of_any_bytes_and_length_are_read() {
        let long = "x".repeat(200_000);
        let input = [b"one\r\n\n\xff\n", long.as_bytes(), b"\nlast"].concat();
        let mut lines = Lines::new(&input[..]);
        for expected in [Line::Text("one"), Line::Text(""), Line::NotUtf8, Line::TooLong] {
            assert_eq!(lines.next().unwrap(), Some(expected));
        }
        assert_eq!(lines.next().unwrap(), Some(Line::Text("last")));
        assert_eq!(lines.next().unwrap(), None);
    }
}
