//! The position and digest of each bucket.

use sha1::{Digest, Sha1};

use domain::HashPrefix;

use super::kind::Kind;
use super::layout::{DATA_START, INDEX_BYTES, INDEX_ENTRY_BYTES, PREFIXES};

/// Maximum bucket length in bytes: the ends, plus 65,535 entries with a 17-byte tail and a 5-byte
/// count each.
const LONGEST_BUCKET: u64 = 32 + 65_535 * 22;

/// The first 8 bytes of a bucket's SHA-1.
pub type BucketDigest = [u8; 8];

/// Computes a bucket's digest.
pub fn bucket_digest(bucket: &[u8]) -> BucketDigest {
    let full = Sha1::digest(bucket);
    let mut digest = [0; 8];
    digest.copy_from_slice(&full[..8]);
    digest
}

/// The digest of an empty bucket.
pub const EMPTY_DIGEST: BucketDigest = [0xda, 0x39, 0xa3, 0xee, 0x5e, 0x6b, 0x4b, 0x0d];

/// A corpus file's index region.
#[derive(Debug)]
pub struct Index(Vec<u8>);

/// Why an index doesn't match its corpus.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum IndexError {
    /// The region has the wrong length.
    #[error("the index is truncated")]
    Length,
    /// The region's digest doesn't match the header.
    #[error("the index is damaged")]
    Digest,
    /// The corpus ID in the header doesn't match the digests.
    #[error("the corpus id does not match the index")]
    CorpusId,
    /// The buckets aren't contiguous, or the last one doesn't end where the file ends. Contains the
    /// first invalid prefix.
    #[error("invalid offset for prefix {0:05X}")]
    Offset(usize),
}

impl Index {
    /// Creates an index from the bytes of an index region.
    ///
    /// # Errors
    /// Returns [`IndexError::Length`] if the length is wrong.
    pub fn from_bytes(bytes: Vec<u8>) -> Result<Self, IndexError> {
        if bytes.len() == INDEX_BYTES { Ok(Self(bytes)) } else { Err(IndexError::Length) }
    }

    /// Returns the encoded region.
    pub fn as_bytes(&self) -> &[u8] {
        &self.0
    }

    /// Returns the start and end offsets of a bucket in the file.
    pub fn range(&self, prefix: HashPrefix) -> (u64, u64) {
        let at = prefix.value() as usize;
        (self.offset(at), self.offset(at + 1))
    }

    /// Returns a bucket's digest.
    pub fn digest(&self, prefix: HashPrefix) -> BucketDigest {
        self.digest_at(prefix.value() as usize)
    }

    /// Returns the start offset of bucket `at`. One past the last bucket, this is the end of the
    /// file.
    pub fn offset(&self, at: usize) -> u64 {
        u64::from_le_bytes(self.eight(at * INDEX_ENTRY_BYTES))
    }

    fn digest_at(&self, at: usize) -> BucketDigest {
        self.eight(at * INDEX_ENTRY_BYTES + 8)
    }

    fn eight(&self, at: usize) -> [u8; 8] {
        let mut bytes = [0; 8];
        bytes.copy_from_slice(&self.0[at..at + 8]);
        bytes
    }

    /// Returns the whole region's SHA-1.
    pub fn region_digest(&self) -> [u8; 20] {
        Sha1::digest(&self.0).into()
    }

    /// Returns the corpus ID, which is the SHA-1 of the kind and the digest column and therefore
    /// identifies the content.
    pub fn corpus_id(&self, kind: Kind) -> [u8; 20] {
        let mut hasher = Sha1::new();
        hasher.update(kind.code().to_le_bytes());
        let mut column = Vec::with_capacity(8 * 4096);
        for block in self.0[..PREFIXES * INDEX_ENTRY_BYTES].chunks(INDEX_ENTRY_BYTES * 4096) {
            column.clear();
            for entry in block.chunks_exact(INDEX_ENTRY_BYTES) {
                column.extend_from_slice(&entry[8..]);
            }
            hasher.update(&column);
        }
        hasher.finalize().into()
    }

    /// Checks that the buckets cover the file without gaps, from the start of the data to the end.
    ///
    /// # Errors
    /// Returns [`IndexError::Offset`] with the first invalid prefix.
    pub fn check_offsets(&self, file_length: u64) -> Result<(), IndexError> {
        let mut before = DATA_START;
        for at in 0..=PREFIXES {
            let offset = self.offset(at);
            let begins = at > 0 || offset == DATA_START;
            let ascends = (before..=file_length).contains(&offset);
            if !begins || !ascends || offset - before > LONGEST_BUCKET {
                return Err(IndexError::Offset(at));
            }
            before = offset;
        }
        if before != file_length || self.digest_at(PREFIXES) != [0; 8] {
            return Err(IndexError::Offset(PREFIXES));
        }
        Ok(())
    }
}

/// Collects offsets and digests while buckets are written in prefix order.
#[derive(Debug)]
pub struct IndexBuilder {
    bytes: Vec<u8>,
    next: usize,
    stored: usize,
    offset: u64,
}

impl Default for IndexBuilder {
    fn default() -> Self {
        Self { bytes: Vec::with_capacity(INDEX_BYTES), next: 0, stored: 0, offset: DATA_START }
    }
}

impl IndexBuilder {
    /// Records the next bucket. Skipped prefixes have empty buckets.
    ///
    /// Returns false and changes nothing if the prefix isn't greater than the previous one.
    pub fn push(&mut self, prefix: u32, length: u64, digest: BucketDigest) -> bool {
        let at = prefix as usize;
        if at < self.next || at >= PREFIXES {
            return false;
        }
        self.fill_to(at);
        self.entry(digest);
        self.offset += length;
        self.next += 1;
        self.stored += 1;
        true
    }

    /// Returns the next bucket's start offset.
    pub fn offset(&self) -> u64 {
        self.offset
    }

    /// Returns the number of non-empty buckets.
    pub fn stored(&self) -> usize {
        self.stored
    }

    fn fill_to(&mut self, at: usize) {
        while self.next < at {
            self.entry(EMPTY_DIGEST);
            self.next += 1;
        }
    }

    fn entry(&mut self, digest: BucketDigest) {
        self.bytes.extend_from_slice(&self.offset.to_le_bytes());
        self.bytes.extend_from_slice(&digest);
    }

    /// Returns the finished index.
    pub fn finish(mut self) -> Index {
        self.fill_to(PREFIXES);
        self.entry([0; 8]);
        Index(self.bytes)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn empty_index_has_the_digest_of_empty_data_everywhere() {
        assert_eq!(bucket_digest(b""), EMPTY_DIGEST);
        let index = IndexBuilder::default().finish();
        let prefix = HashPrefix::from_value(0xFFFFF).unwrap();
        assert_eq!(index.range(prefix), (DATA_START, DATA_START));
        assert_eq!(index.digest(prefix), EMPTY_DIGEST);
        assert_eq!(index.check_offsets(DATA_START), Ok(()));
        assert_eq!(index.check_offsets(DATA_START + 1), Err(IndexError::Offset(PREFIXES)));
    }

    #[test]
    fn buckets_must_come_in_prefix_order() {
        let mut builder = IndexBuilder::default();
        assert!(builder.push(5, 100, [1; 8]));
        assert!(!builder.push(5, 1, [2; 8]));
        assert!(!builder.push(4, 1, [2; 8]));
        assert!(builder.push(6, 10, [3; 8]));
        let index = builder.finish();
        let six = HashPrefix::from_value(6).unwrap();
        assert_eq!(index.range(six), (DATA_START + 100, DATA_START + 110));
        assert_eq!(index.digest(six), [3; 8]);
        assert_eq!(index.check_offsets(DATA_START + 110), Ok(()));
    }

    #[test]
    fn corpus_id_depends_only_on_kind_and_digests() {
        let build = |length, digest| {
            let mut builder = IndexBuilder::default();
            builder.push(1, length, digest);
            builder.finish()
        };
        let one = build(10, [1; 8]);
        assert_eq!(one.corpus_id(Kind::Sha1), build(20, [1; 8]).corpus_id(Kind::Sha1));
        assert_ne!(one.corpus_id(Kind::Sha1), one.corpus_id(Kind::Ntlm));
        assert_ne!(one.corpus_id(Kind::Sha1), build(10, [2; 8]).corpus_id(Kind::Sha1));
    }
}
