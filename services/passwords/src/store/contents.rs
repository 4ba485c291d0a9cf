//! What stands in front of the buckets of a file that is being written.

use std::fs::File;
use std::io;
use std::os::unix::fs::FileExt;

use anyhow::bail;

use crate::model::{BucketDigest, HEADER_BYTES, Header, Index, IndexBuilder, Kind, PREFIXES};

/// Positions, digests and sizes of the buckets that were written.
#[derive(Debug)]
pub struct Contents {
    kind: Kind,
    index: IndexBuilder,
    entries: u64,
    smallest: u32,
    largest: u32,
}

impl Contents {
    /// A file without buckets.
    pub fn new(kind: Kind) -> Self {
        Self { kind, index: IndexBuilder::default(), entries: 0, smallest: u32::MAX, largest: 0 }
    }

    /// Where the next bucket begins.
    pub fn offset(&self) -> u64 {
        self.index.offset()
    }

    /// Whether no bucket holds anything.
    pub fn is_empty(&self) -> bool {
        self.entries == 0
    }

    /// Notes a bucket that holds something.
    ///
    /// # Errors
    /// It does not come after all that were noted before.
    pub fn note(
        &mut self,
        prefix: u32,
        length: u64,
        entries: u32,
        digest: BucketDigest,
    ) -> anyhow::Result<()> {
        if !self.index.push(prefix, length, digest) {
            bail!("prefix {prefix:05X} comes after a later one");
        }
        self.entries += u64::from(entries);
        self.smallest = self.smallest.min(entries);
        self.largest = self.largest.max(entries);
        Ok(())
    }

    /// The finished index and the header that belongs to it.
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

/// Writes the index, and zeros where the header will stand: without it a file is no corpus, and
/// once this is on the disk the header needs no more room.
///
/// # Errors
/// The disk is full or failing.
pub fn write_index(file: &File, index: &Index, length: u64) -> io::Result<()> {
    file.set_len(length)?;
    file.write_all_at(index.as_bytes(), HEADER_BYTES as u64)?;
    file.write_all_at(&[0; HEADER_BYTES], 0)?;
    file.sync_all()
}

/// Writes the header and makes the file a corpus.
///
/// # Errors
/// The disk is failing.
pub fn write_header(file: &File, header: &Header) -> io::Result<()> {
    file.write_all_at(&header.to_bytes(), 0)?;
    file.sync_all()
}

/// How many entries a bucket holds, as its last end says.
pub fn entries_of(bucket: &[u8]) -> u32 {
    bucket.get(30..32).map_or(0, |end| u32::from(end[0]) | u32::from(end[1]) << 8)
}
