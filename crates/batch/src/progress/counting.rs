//! Counts the bytes read from an input.

use std::io::{self, Read};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

/// A byte counter. Clones share the count.
///
/// ```
/// let bytes = batch::ByteCounter::default();
/// bytes.add(5);
/// assert_eq!(bytes.clone().get(), 5);
/// ```
#[derive(Clone, Debug, Default)]
pub struct ByteCounter(Arc<AtomicU64>);

impl ByteCounter {
    /// Adds `bytes` to the count.
    pub fn add(&self, bytes: u64) {
        self.0.fetch_add(bytes, Ordering::Relaxed);
    }

    /// Returns the number of bytes counted so far.
    pub fn get(&self) -> u64 {
        self.0.load(Ordering::Relaxed)
    }
}

/// A reader that counts the bytes passing through it.
///
/// Put this below any buffering and decompression, so that the count can be compared to the file
/// length.
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
    /// Wraps `inner` and adds the bytes read to `bytes`.
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
