//! An open corpus file.

use std::fs::File;
use std::io::{self, Read};
use std::path::{Path, PathBuf};

use domain::HashPrefix;

use super::access::{Access, InMemory, Positioned};
use super::trailers::Trailers;
use crate::model::bucket::BucketError;
use crate::model::{
    Bucket, BucketDigest, DATA_START, HEADER_BYTES, Header, HeaderError, INDEX_BYTES, Index,
    IndexError, Kind, PREFIXES, bucket_digest,
};

/// Number of buckets to check against their digests before serving a corpus.
const SPOT_CHECKS: usize = 64;

/// Why a file can't be used as a corpus.
#[derive(Debug, thiserror::Error)]
pub enum CorpusError {
    /// The file cannot be opened or read.
    #[error("cannot read {path}: {cause}")]
    Unreadable {
        /// The file.
        path: PathBuf,
        /// The operating system's error.
        cause: io::Error,
    },
    /// The header is invalid or has an unsupported version.
    #[error("{path}: {cause}")]
    Header {
        /// The file.
        path: PathBuf,
        /// The cause.
        cause: HeaderError,
    },
    /// The index does not match the file.
    #[error("{path}: {cause}")]
    Index {
        /// The file.
        path: PathBuf,
        /// The cause.
        cause: IndexError,
    },
    /// The file's length doesn't match its header.
    #[error("{path} has {actual} bytes, but its header states {stated}")]
    Length {
        /// The file.
        path: PathBuf,
        /// The file's actual length.
        actual: u64,
        /// The length in the header.
        stated: u64,
    },
    /// The corpus is not of the expected kind.
    #[error("{path} contains {} digests", found.label())]
    Kind {
        /// The file.
        path: PathBuf,
        /// The corpus's kind.
        found: Kind,
    },
    /// A bucket doesn't match the index.
    #[error("{path}: prefix {prefix}: {cause}")]
    Bucket {
        /// The file.
        path: PathBuf,
        /// The bucket's prefix.
        prefix: HashPrefix,
        /// The cause.
        cause: BucketProblem,
    },
}

/// Why a bucket can't be used.
#[derive(Debug, thiserror::Error)]
pub enum BucketProblem {
    /// The bucket can't be read.
    #[error("cannot be read: {0}")]
    Read(#[from] io::Error),
    /// The digest of the bytes doesn't match the index.
    #[error("the digest does not match")]
    Digest,
    /// The bytes aren't a valid bucket.
    #[error(transparent)]
    Content(#[from] BucketError),
    /// The operating system couldn't provide random bytes for a spot check or for padding.
    #[error("no random bytes: {0}")]
    Random(#[from] getrandom::Error),
}

/// A corpus file with a valid header and index.
pub struct Corpus {
    path: PathBuf,
    header: Header,
    index: Index,
    access: Box<dyn Access>,
    trailers: Trailers,
}

impl Corpus {
    /// Opens a file and checks its header, length and index.
    ///
    /// A file of up to `memory_limit` bytes is read into memory.
    ///
    /// # Errors
    /// See [`CorpusError`].
    pub fn open(path: &Path, memory_limit: u64) -> Result<Self, CorpusError> {
        let unreadable = |cause| CorpusError::Unreadable { path: path.to_owned(), cause };
        let mut file = File::open(path).map_err(unreadable)?;
        let actual = file.metadata().map_err(unreadable)?.len();
        let mut head = [0; HEADER_BYTES];
        if let Err(cause) = file.read_exact(&mut head) {
            if cause.kind() == io::ErrorKind::UnexpectedEof {
                let cause = HeaderError::Magic;
                return Err(CorpusError::Header { path: path.to_owned(), cause });
            }
            return Err(unreadable(cause));
        }
        let header = Header::from_bytes(&head)
            .map_err(|cause| CorpusError::Header { path: path.to_owned(), cause })?;
        if header.file_length != actual || actual < DATA_START {
            let stated = header.file_length;
            return Err(CorpusError::Length { path: path.to_owned(), actual, stated });
        }
        let mut bytes = vec![0; INDEX_BYTES];
        file.read_exact(&mut bytes).map_err(unreadable)?;
        let index = sound_index(bytes, &header)
            .map_err(|cause| CorpusError::Index { path: path.to_owned(), cause })?;
        let access: Box<dyn Access> = if actual <= memory_limit {
            Box::new(InMemory::read(&file, actual - DATA_START).map_err(unreadable)?)
        } else {
            Box::new(Positioned(file))
        };
        let trailers = Trailers::default();
        Ok(Self { path: path.to_owned(), header, index, access, trailers })
    }

    /// Checks random buckets against their digests.
    ///
    /// # Errors
    /// Returns [`CorpusError::Bucket`] if one is damaged.
    pub fn spot_check(&self) -> Result<(), CorpusError> {
        let mut buffer = Vec::new();
        for _ in 0..SPOT_CHECKS {
            let random = getrandom::u32().map_err(|cause| self.problem(0, cause.into()))?;
            let value = random % HashPrefix::COUNT;
            let Some(prefix) = HashPrefix::from_value(value) else { continue };
            self.sound_bytes(prefix, &mut buffer).map_err(|cause| self.problem(value, cause))?;
        }
        Ok(())
    }

    /// Turns a bucket problem into an error by adding the file and the prefix.
    pub fn problem(&self, prefix: u32, cause: BucketProblem) -> CorpusError {
        let prefix = HashPrefix::from_value(prefix % HashPrefix::COUNT);
        match prefix {
            Some(prefix) => CorpusError::Bucket { path: self.path.clone(), prefix, cause },
            None => {
                CorpusError::Unreadable { path: self.path.clone(), cause: io::Error::other(cause) }
            }
        }
    }

    /// Returns the path of the file.
    pub fn path(&self) -> &Path {
        &self.path
    }

    pub fn header(&self) -> &Header {
        &self.header
    }

    /// Returns the index of bucket positions.
    pub fn index(&self) -> &Index {
        &self.index
    }

    /// Returns the kind of the corpus.
    pub fn kind(&self) -> Kind {
        self.header.kind
    }

    pub fn digest(&self, prefix: HashPrefix) -> BucketDigest {
        self.index.digest(prefix)
    }

    /// Returns the cached trailers for rendered buckets.
    pub fn trailers(&self) -> &Trailers {
        &self.trailers
    }

    /// Prefetches a bucket that will be read soon.
    #[inline]
    pub fn prefetch(&self, prefix: HashPrefix) {
        let (begin, end) = self.index.range(prefix);
        self.access.prefetch(begin, end);
    }

    /// Returns a bucket's bytes without checking the digest.
    ///
    /// # Errors
    /// Returns an error if the file cannot be read.
    #[inline]
    pub fn bytes<'a>(
        &'a self,
        prefix: HashPrefix,
        buffer: &'a mut Vec<u8>,
    ) -> io::Result<&'a [u8]> {
        let (begin, end) = self.index.range(prefix);
        if begin == end { Ok(&[]) } else { self.access.bytes(begin, end, buffer) }
    }

    /// Returns a bucket's bytes after checking the digest.
    ///
    /// # Errors
    /// Returns [`BucketProblem::Read`] or [`BucketProblem::Digest`].
    pub fn sound_bytes<'a>(
        &'a self,
        prefix: HashPrefix,
        buffer: &'a mut Vec<u8>,
    ) -> Result<&'a [u8], BucketProblem> {
        let bytes = self.bytes(prefix, buffer)?;
        if bucket_digest(bytes) == self.digest(prefix) {
            Ok(bytes)
        } else {
            Err(BucketProblem::Digest)
        }
    }

    /// Returns the bytes of the buckets `first..last`, concatenated.
    ///
    /// # Errors
    /// Returns an error if the file cannot be read.
    pub fn slice<'a>(
        &'a self,
        first: usize,
        last: usize,
        buffer: &'a mut Vec<u8>,
    ) -> io::Result<&'a [u8]> {
        let begin = self.index.offset(first.min(PREFIXES));
        let end = self.index.offset(last.min(PREFIXES));
        if begin >= end { Ok(&[]) } else { self.access.bytes(begin, end, buffer) }
    }

    /// Returns the count of `hash`, or `None` if the corpus doesn't contain it.
    ///
    /// # Errors
    /// Returns an error if the bucket cannot be read or is damaged.
    pub fn find(&self, hash: &[u8], buffer: &mut Vec<u8>) -> Result<Option<u32>, BucketProblem> {
        let value = u32::from(hash[0]) << 12 | u32::from(hash[1]) << 4 | u32::from(hash[2]) >> 4;
        let Some(prefix) = HashPrefix::from_value(value) else { return Ok(None) };
        let bytes = self.sound_bytes(prefix, buffer)?;
        Ok(Bucket::parse(self.kind(), bytes)?.find(hash)?)
    }
}

fn sound_index(bytes: Vec<u8>, header: &Header) -> Result<Index, IndexError> {
    let index = Index::from_bytes(bytes)?;
    if index.region_digest() != header.index_digest {
        return Err(IndexError::Digest);
    }
    if index.corpus_id(header.kind) != header.corpus_id {
        return Err(IndexError::CorpusId);
    }
    index.check_offsets(header.file_length)?;
    Ok(index)
}
