//! Reads until a deadline.

use std::io::{self, BufRead, Read};
use std::time::Instant;

/// A reader that fails with [`io::ErrorKind::TimedOut`] after a deadline.
pub struct TimedReader<R> {
    inner: R,
    deadline: Instant,
}

impl<R> TimedReader<R> {
    pub fn new(inner: R, deadline: Instant) -> TimedReader<R> {
        TimedReader { inner, deadline }
    }

    fn check(&self) -> io::Result<()> {
        match Instant::now() >= self.deadline {
            true => Err(io::ErrorKind::TimedOut.into()),
            false => Ok(()),
        }
    }
}

impl<R: Read> Read for TimedReader<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        self.check()?;
        self.inner.read(buffer)
    }
}

impl<R: BufRead> BufRead for TimedReader<R> {
    fn fill_buf(&mut self) -> io::Result<&[u8]> {
        self.check()?;
        self.inner.fill_buf()
    }

    fn consume(&mut self, amount: usize) {
        self.inner.consume(amount);
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    #[test]
    fn reading_fails_after_the_deadline() {
        let (now, mut text) = (Instant::now(), String::new());
        let mut late = TimedReader::new(&b"a\nb\n"[..], now);
        let error = late.read_line(&mut text).unwrap_err();
        assert_eq!((error.kind(), text.as_str()), (io::ErrorKind::TimedOut, ""));
        let mut early = TimedReader::new(&b"a\nb\n"[..], now + Duration::from_secs(3600));
        early.read_to_string(&mut text).unwrap();
        assert_eq!(text, "a\nb\n");
    }
}
