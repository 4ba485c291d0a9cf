//! Decompresses sources and limits the size of entries.

use std::io::{self, BufRead, BufReader, Read};
use std::path::Path;

use batch::{ARCHIVE_START, refuse_archive};
use flate2::bufread::MultiGzDecoder;

/// Maximum size of a line or entry, in bytes. A source with a larger line or entry is rejected.
const LARGEST_ENTRY: u64 = 16 << 20;
/// Minimum length of a compressed file, in bytes.
const SHORTEST: usize = 4;
const BUFFER: usize = 256 << 10;
/// Maximum zstd window size: 2^27 bytes, or 128 MiB.
const ZSTD_WINDOW: u32 = 27;

/// File extensions of compressed files.
const PACKED: [&str; 2] = [".gz", ".zst"];

/// Decompresses gzip and zstd, which are recognised by their first few bytes. Returns an error for
/// archives and other compression formats.
pub fn unpacked<'a>(name: &Path, source: impl Read + 'a) -> io::Result<Box<dyn BufRead + 'a>> {
    let mut source = source;
    // Read in a loop, because a pipe might return just one byte at a time.
    let mut head = Vec::with_capacity(ARCHIVE_START);
    source.by_ref().take(ARCHIVE_START as u64).read_to_end(&mut head)?;
    refuse_archive(&head)?;
    let name = name.to_string_lossy().to_lowercase();
    if head.len() < SHORTEST && PACKED.iter().any(|ending| name.ends_with(ending)) {
        let error = "the compressed file is truncated";
        return Err(io::Error::new(io::ErrorKind::UnexpectedEof, error));
    }
    let input = BufReader::with_capacity(BUFFER, io::Cursor::new(head.clone()).chain(source));
    if head.starts_with(&[0x1f, 0x8b]) {
        return Ok(Box::new(BufReader::with_capacity(BUFFER, MultiGzDecoder::new(input))));
    }
    if head.starts_with(&[0x28, 0xb5, 0x2f, 0xfd]) {
        let mut decoder = zstd::stream::read::Decoder::with_buffer(input)?;
        decoder.window_log_max(ZSTD_WINDOW)?;
        return Ok(Box::new(BufReader::with_capacity(BUFFER, decoder)));
    }
    Ok(Box::new(input))
}

/// Counts the bytes of each entry and returns an error if there are too many.
pub struct Meter<R> {
    inner: R,
    /// Bytes we have peeked at but not read yet.
    ahead: Vec<u8>,
    taken: usize,
    since: u64,
}

impl<R: BufRead> Meter<R> {
    /// Wraps a reader.
    pub fn new(inner: R) -> Self {
        Self { inner, ahead: Vec::new(), taken: 0, since: 0 }
    }

    /// Starts a new entry.
    pub fn reset(&mut self) {
        self.since = 0;
    }

    /// Returns up to `count` bytes without consuming them. Only works before the first read.
    pub fn peek(&mut self, count: usize) -> io::Result<&[u8]> {
        let mut limited = (&mut self.inner).take(count as u64);
        limited.read_to_end(&mut self.ahead)?;
        Ok(&self.ahead)
    }
}

impl<R: BufRead> Read for Meter<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let available = self.fill_buf()?;
        let count = available.len().min(buffer.len());
        buffer[..count].copy_from_slice(&available[..count]);
        self.consume(count);
        Ok(count)
    }
}

impl<R: BufRead> BufRead for Meter<R> {
    fn fill_buf(&mut self) -> io::Result<&[u8]> {
        if self.since > LARGEST_ENTRY {
            return Err(io::Error::other("an entry is longer than 16 MiB"));
        }
        if self.taken < self.ahead.len() {
            return Ok(&self.ahead[self.taken..]);
        }
        self.inner.fill_buf()
    }

    fn consume(&mut self, count: usize) {
        self.since += count as u64;
        if self.taken < self.ahead.len() {
            self.taken += count;
        } else {
            self.inner.consume(count);
        }
    }
}

#[cfg(test)]
mod tests {
    use std::io::Write;

    use super::*;

    /// A reader that returns one byte at a time, like a slow pipe.
    struct Trickle<'a>(&'a [u8]);

    impl Read for Trickle<'_> {
        fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
            let end = buffer.len().min(1);
            self.0.read(&mut buffer[..end])
        }
    }

    #[test]
    fn compression_is_detected_in_slow_pipe() {
        let mut gz = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
        gz.write_all(b"text").unwrap();
        let zst = zstd::encode_all(&b"text"[..], 1).unwrap();
        for bytes in [gz.finish().unwrap(), zst, b"text".to_vec(), b"t".to_vec(), Vec::new()] {
            let mut text = String::new();
            unpacked(Path::new("list"), Trickle(&bytes))
                .unwrap()
                .read_to_string(&mut text)
                .unwrap();
            assert_eq!(text, "text"[..bytes.len().min(4)]);
        }
    }
}
