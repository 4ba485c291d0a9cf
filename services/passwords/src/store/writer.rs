//! Writes a corpus file, in this order: data, index, fsync, header, fsync, rename, and fsync of the
//! folder.

use std::io::{BufWriter, IntoInnerError, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};

use anyhow::{Context, bail};
use batch::AtomicFile;

use super::contents::{self, Contents};
use super::folder::{FolderLock, KindFolder};
use crate::model::bucket::{self, BUCKET_LIMIT};
use crate::model::{BucketDigest, DATA_START, Entry, Header, Kind, bucket_digest};

const BUFFER: usize = 1 << 20;

/// Encoded buckets that are ready to be written.
#[derive(Debug, Default)]
pub struct Encoded {
    pub(super) data: Vec<u8>,
    pub(super) buckets: Vec<EncodedBucket>,
}

#[derive(Debug)]
pub(super) struct EncodedBucket {
    pub(super) prefix: u32,
    pub(super) length: usize,
    pub(super) entries: usize,
    pub(super) digest: BucketDigest,
}

impl Encoded {
    /// Encodes entries, which must be ascending and without duplicates.
    ///
    /// # Errors
    /// Returns an error if a bucket would have too many entries.
    pub fn of(kind: Kind, entries: &[Entry]) -> anyhow::Result<Self> {
        let mut encoded =
            Self { data: Vec::with_capacity(entries.len() * 19), buckets: Vec::new() };
        for bucket in entries.chunk_by(|a, b| a.prefix() == b.prefix()) {
            let Some(first) = bucket.first() else { continue };
            let begin = encoded.data.len();
            if !bucket::encode(kind, bucket, &mut encoded.data) {
                bail!(
                    "prefix {:05X} has {} entries; a bucket can contain at most {BUCKET_LIMIT}",
                    first.prefix(),
                    bucket.len()
                );
            }
            encoded.buckets.push(EncodedBucket {
                prefix: first.prefix(),
                length: encoded.data.len() - begin,
                entries: bucket.len(),
                digest: bucket_digest(&encoded.data[begin..]),
            });
        }
        Ok(encoded)
    }
}

/// A corpus file without its final name. It is removed if it's dropped before it is complete.
#[derive(Debug)]
pub struct CorpusWriter {
    folder: KindFolder,
    file: BufWriter<AtomicFile>,
    contents: Contents,
}

impl CorpusWriter {
    /// Creates a file with a temporary name in the kind's folder.
    ///
    /// # Errors
    /// Returns an error if the folder is not writable.
    pub fn create(folder: &KindFolder, _lock: &FolderLock) -> anyhow::Result<Self> {
        let tmp = folder.path().join(format!(".{}.tmp", folder.kind()));
        let file = AtomicFile::create_as(tmp.clone());
        let mut file = file.with_context(|| unwritable(&tmp))?;
        file.seek(SeekFrom::Start(DATA_START))?;
        Ok(Self {
            folder: folder.clone(),
            file: BufWriter::with_capacity(BUFFER, file),
            contents: Contents::new(folder.kind()),
        })
    }

    /// Appends buckets. They must come after all buckets appended so far.
    ///
    /// # Errors
    /// Returns an error if the disk is full or fails, or the buckets are out of order.
    pub fn append(&mut self, encoded: &Encoded) -> anyhow::Result<()> {
        for bucket in &encoded.buckets {
            let (length, entries) = (bucket.length as u64, bucket.entries as u32);
            self.contents.note(bucket.prefix, length, entries, bucket.digest)?;
        }
        self.write(&encoded.data)
    }

    /// Appends a bucket from another corpus.
    ///
    /// # Errors
    /// Returns the same errors as [`Self::append`].
    pub fn copy(&mut self, prefix: u32, bytes: &[u8], digest: BucketDigest) -> anyhow::Result<()> {
        if bytes.is_empty() {
            return Ok(());
        }
        let entries = contents::entries_of(bytes);
        self.contents.note(prefix, bytes.len() as u64, entries, digest)?;
        self.write(bytes)
    }

    fn write(&mut self, bytes: &[u8]) -> anyhow::Result<()> {
        let written = self.file.write_all(bytes);
        written.with_context(|| unwritable(self.file.get_ref().path()))
    }

    /// Returns whether all buckets so far are empty.
    pub fn is_empty(&self) -> bool {
        self.contents.is_empty()
    }

    /// Writes everything but the header. The steps that follow take no more disk space.
    ///
    /// # Errors
    /// Returns an error if the disk is full or fails.
    pub fn complete(self, note: &str, built_at: i64) -> anyhow::Result<CompleteCorpus> {
        let temporary = self.file.get_ref().path().to_owned();
        let unwritable = || unwritable(&temporary);
        let (index, header) = self.contents.finish(note, built_at);
        let file = self.file.into_inner().map_err(IntoInnerError::into_error);
        let file = file.with_context(unwritable)?;
        contents::write_index(file.file(), &index, header.file_length).with_context(unwritable)?;
        let path = self.folder.corpus_path(&header.corpus_id);
        Ok(CompleteCorpus { file, header, path })
    }
}

/// A corpus file that is complete except for its header and its final name. It is removed if
/// dropped.
#[derive(Debug)]
pub struct CompleteCorpus {
    file: AtomicFile,
    header: Header,
    path: PathBuf,
}

impl CompleteCorpus {
    /// Writes the header, renames the file, and returns the path and the header.
    ///
    /// # Errors
    /// Returns an error if the disk fails.
    pub fn name(self) -> anyhow::Result<(PathBuf, Header)> {
        let temporary = self.file.path().to_owned();
        let written = contents::write_header(self.file.file(), &self.header);
        let named = written.and_then(|()| self.file.commit(&self.path));
        named.with_context(|| unwritable(&temporary))?;
        Ok((self.path, self.header))
    }
}

fn unwritable(path: &Path) -> String {
    format!("cannot write {}", path.display())
}
