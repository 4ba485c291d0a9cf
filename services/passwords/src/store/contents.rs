//! The header and index of a corpus file that is being written.

use std::fs::File;
use std::io;
use std::os::unix::fs::FileExt;

use anyhow::bail;

use crate::model::{BucketDigest, HEADER_BYTES, Header, Index, IndexBuilder, Kind, PREFIXES};

/// The offsets, digests and sizes of the buckets written so far.
#[derive(Debug)]
pub struct Contents {
    kind: Kind,
    index: IndexBuilder,
    entries: u64,
    smallest: u32,
    largest: u32,
}

impl Contents {
    /// Creates the contents of a file that doesn't have any buckets yet.
    pub fn new(kind: Kind) -> Self {
        Self { kind, index: IndexBuilder::default(), entries: 0, smallest: u32::MAX, largest: 0 }
    }

    /// Returns the next bucket's start offset.
    pub fn offset(&self) -> u64 {
        self.index.offset()
    }

    /// Returns whether all buckets so far are empty.
    pub fn is_empty(&self) -> bool {
        self.entries == 0
    }

    /// Records a non-empty bucket.
    ///
    /// # Errors
    /// Returns an error if an equal or greater prefix has already been recorded.
    pub fn note(
        &mut self,
        prefix: u32,
        length: u64,
        entries: u32,
        digest: BucketDigest,
    ) -> anyhow::Result<()> {
        if !self.index.push(prefix, length, digest) {
            bail!("prefix {prefix:05X} is out of order");
        }
        self.entries += u64::from(entries);
        self.smallest = self.smallest.min(entries);
        self.largest = self.largest.max(entries);
        Ok(())
    }

    /// Returns the index and the header.
    pub fn finish(self, note: &str, built_at: i64) -> (Index, Header) {
        let file_length = self.index.offset();
        let smallest = if self.index.stored() < PREFIXES { 0 } else { self.smallest };
        let index = self.index.finish();
        let header = Header {
            kind: self.kind,
            entries: self.entries,
            file_length,
            built_at,
            smallest_bucket: smallest,
            largest_bucket: self.largest,
            index_digest: index.region_digest(),
            corpus_id: index.corpus_id(self.kind),
            note: note.to_owned(),
        };
        (index, header)
    }
}

/// Writes the index, and zeros in place of the header. Without a header, the file isn't a corpus
/// yet, and adding the header later takes no more disk space.
///
/// # Errors
/// Returns an error if the disk is full or fails.
pub fn write_index(file: &File, index: &Index, length: u64) -> io::Result<()> {
    file.set_len(length)?;
    file.write_all_at(index.as_bytes(), HEADER_BYTES as u64)?;
    file.write_all_at(&[0; HEADER_BYTES], 0)?;
    file.sync_all()
}

/// Writes the header, which turns the file into a corpus.
///
/// # Errors
/// Returns an error if the disk fails.
pub fn write_header(file: &File, header: &Header) -> io::Result<()> {
    file.write_all_at(&header.to_bytes(), 0)?;
    file.sync_all()
}

/// Returns the number of entries in a bucket.
pub fn entries_of(bucket: &[u8]) -> u32 {
    bucket.get(30..32).map_or(0, |end| u32::from(end[0]) | u32::from(end[1]) << 8)
}
