//! Access to the bytes of a corpus, either in memory or with one positioned read per request.

use std::fs::File;
use std::io::{self, Read};
use std::os::unix::fs::FileExt;

use crate::model::{DATA_START, prefetch};

/// Reads bytes from the data region.
pub trait Access: Send + Sync {
    /// Returns the bytes between two offsets in the file, using `buffer` as storage if needed.
    fn bytes<'a>(&'a self, begin: u64, end: u64, buffer: &'a mut Vec<u8>) -> io::Result<&'a [u8]>;

    /// Hints that these bytes will be read soon.
    fn prefetch(&self, _begin: u64, _end: u64) {}
}

/// The whole data region in memory.
pub struct InMemory(Vec<u8>);

impl InMemory {
    /// Reads the file from the start of the data region to the end.
    pub fn read(mut file: &File, length: u64) -> io::Result<Self> {
        let mut data = vec![0; usize::try_from(length).map_err(io::Error::other)?];
        file.read_exact(&mut data)?;
        Ok(Self(data))
    }

    fn get(&self, begin: u64, end: u64) -> Option<&[u8]> {
        let (begin, end) = (begin.checked_sub(DATA_START)?, end.checked_sub(DATA_START)?);
        self.0.get(begin as usize..end as usize)
    }
}

impl Access for InMemory {
    fn bytes<'a>(&'a self, begin: u64, end: u64, _: &'a mut Vec<u8>) -> io::Result<&'a [u8]> {
        self.get(begin, end).ok_or(io::ErrorKind::UnexpectedEof.into())
    }

    fn prefetch(&self, begin: u64, end: u64) {
        prefetch::ends(self.get(begin, end).unwrap_or_default());
    }
}

/// An open file. Reads return an error if the file was truncated or the disk fails.
pub struct Positioned(pub File);

impl Access for Positioned {
    fn bytes<'a>(&'a self, begin: u64, end: u64, buffer: &'a mut Vec<u8>) -> io::Result<&'a [u8]> {
        let length = end.checked_sub(begin).ok_or(io::ErrorKind::InvalidData)? as usize;
        if buffer.len() < length {
            buffer.resize(length, 0);
        }
        self.0.read_exact_at(&mut buffer[..length], begin)?;
        Ok(&buffer[..length])
    }
}
