//! Reads a file only up to the length that it had at the start.

use std::fs;
use std::io::{self, Read, Take};
use std::path::{Path, PathBuf};

/// A reader that stops at the length that a file had at the start. Otherwise, reading a file that
/// keeps growing might never end.
///
/// In `/proc` and on some network mounts, files can have content despite a length of 0. These are
/// read to their end.
///
/// ```
/// use std::fs::File;
/// use std::io::{Read, Write};
///
/// use batch::BoundedReader;
///
/// let mut file = tempfile::NamedTempFile::new()?;
/// file.write_all(b"one line\n")?;
/// let mut reader = BoundedReader::new(File::open(file.path())?, file.path(), 9);
/// file.write_all(b"another line\n")?;
/// let mut text = String::new();
/// reader.read_to_string(&mut text)?;
/// assert_eq!(text, "one line\n");
/// # Ok::<(), std::io::Error>(())
/// ```
#[derive(Debug)]
pub struct BoundedReader<R> {
    inner: Take<R>,
    /// The path, until it is known whether a file with a length of 0 has content.
    empty: Option<PathBuf>,
}

impl<R: Read> BoundedReader<R> {
    /// Wraps the reader of a file that is `length` bytes long.
    pub fn new(inner: R, path: &Path, length: u64) -> Self {
        match length {
            0 => Self { inner: inner.take(u64::MAX), empty: Some(path.to_owned()) },
            _ => Self { inner: inner.take(length), empty: None },
        }
    }
}

impl<R: Read> Read for BoundedReader<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let size = self.inner.read(buffer)?;
        if size > 0
            && let Some(path) = self.empty.take()
            && fs::metadata(path)?.len() > 0
        {
            // The file was empty and is being written to.
            self.inner.set_limit(0);
            return Ok(0);
        }
        Ok(size)
    }
}

#[cfg(test)]
mod tests {
    use std::fs::File;
    use std::io::Write;

    use super::*;

    fn text_of(mut reader: BoundedReader<File>) -> String {
        let mut text = String::new();
        reader.read_to_string(&mut text).unwrap();
        text
    }

    #[test]
    fn file_without_a_length_is_read_to_its_end() {
        let path = Path::new("/proc/self/limits");
        let length = fs::metadata(path).unwrap().len();
        assert_eq!(length, 0);
        let whole = fs::read_to_string(path).unwrap();
        let reader = BoundedReader::new(File::open(path).unwrap(), path, length);
        assert!(whole.contains("Max open files"));
        assert_eq!(text_of(reader), whole);
    }

    #[test]
    fn empty_file_that_is_written_meanwhile_stays_empty() {
        let mut file = tempfile::NamedTempFile::new().unwrap();
        let reader = BoundedReader::new(File::open(file.path()).unwrap(), file.path(), 0);
        file.write_all(b"a line\n").unwrap();
        assert_eq!(text_of(reader), "");
    }
}
