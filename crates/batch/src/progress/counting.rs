//! Counts what is read from an input.

use std::io::{self, Read};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

/// A number of bytes that a reader adds to and others look at; clones share it.
///
/// ```
/// let bytes = batch::ByteCounter::default();
/// bytes.add(5);
/// assert_eq!(bytes.clone().get(), 5);
/// ```
#[derive(Clone, Debug, Default)]
pub struct ByteCounter(Arc<AtomicU64>);

impl ByteCounter {
    /// Adds bytes.
    ///
    /// ```
    /// let bytes = batch::ByteCounter::default();
    /// bytes.add(1);
    /// bytes.add(2);
    /// assert_eq!(bytes.get(), 3);
    /// ```
    pub fn add(&self, bytes: u64) {
        self.0.fetch_add(bytes, Ordering::Relaxed);
    }

    /// The bytes so far.
    ///
    /// ```
    /// assert_eq!(batch::ByteCounter::default().get(), 0);
    /// ```
    pub fn get(&self) -> u64 {
        self.0.load(Ordering::Relaxed)
    }
}

/// Counts the bytes that are read through it.
///
/// It stands below buffers and decompression, where bytes are those of the file: so they compare
/// with its length.
///
/// ```
/// use std::io::Read;
///
/// use batch::{ByteCounter, CountingReader};
///
/// let bytes = ByteCounter::default();
/// let mut reader = CountingReader::new(&b"hello"[..], bytes.clone());
/// reader.read_to_end(&mut Vec::new())?;
/// assert_eq!(bytes.get(), 5);
/// # Ok::<(), std::io::Error>(())
/// ```
#[derive(Debug)]
pub struct CountingReader<R> {
    inner: R,
    bytes: ByteCounter,
}

impl<R> CountingReader<R> {
    /// Reads from `inner` and adds to `bytes`.
    ///
    /// ```
    /// use batch::{ByteCounter, CountingReader};
    ///
    /// let reader = CountingReader::new(std::io::stdin(), ByteCounter::default());
    /// # let _ = reader;
    /// ```
    pub fn new(inner: R, bytes: ByteCounter) -> Self {
        Self { inner, bytes }
    }
}

impl<R: Read> Read for CountingReader<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let read = self.inner.read(buffer)?;
        self.bytes.add(read as u64);
        Ok(read)
    }
}
