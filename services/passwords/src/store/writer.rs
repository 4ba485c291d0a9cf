//! Writes a corpus file: data, index, fsync, header, fsync, rename, fsync of the folder.

use std::io::{self, BufWriter, Seek, SeekFrom, Write};
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};

use anyhow::{Context, bail};
use batch::AtomicFile;

use super::folder::{FolderLock, KindFolder};
use crate::model::bucket::{self, BUCKET_LIMIT};
use crate::model::{
    BucketDigest, DATA_START, Entry, HEADER_BYTES, Header, IndexBuilder, Kind, PREFIXES,
    bucket_digest,
};

const BUFFER: usize = 1 << 20;

/// Buckets made ready to be written, by whichever thread had them.
#[derive(Debug, Default)]
pub struct Encoded {
    data: Vec<u8>,
    buckets: Vec<EncodedBucket>,
}

#[derive(Debug)]
struct EncodedBucket {
    prefix: u32,
    length: usize,
    entries: usize,
    digest: BucketDigest,
}

impl Encoded {
    /// Encodes ascending entries without duplicates.
    ///
    /// # Errors
    /// A bucket would hold more entries than the format can count.
    pub fn of(kind: Kind, entries: &[Entry]) -> anyhow::Result<Self> {
        let mut encoded =
            Self { data: Vec::with_capacity(entries.len() * 19), buckets: Vec::new() };
        for bucket in entries.chunk_by(|a, b| a.prefix() == b.prefix()) {
            let Some(first) = bucket.first() else { continue };
            let begin = encoded.data.len();
            if !bucket::encode(kind, bucket, &mut encoded.data) {
                bail!(
                    "prefix {:05X} has {} entries; a bucket holds at most {BUCKET_LIMIT}",
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

/// A corpus file that does not have its name yet; dropped unfinished, it removes itself.
#[derive(Debug)]
pub struct CorpusWriter {
    folder: KindFolder,
    file: BufWriter<AtomicFile>,
    index: IndexBuilder,
    entries: u64,
    smallest: u32,
    largest: u32,
}

impl CorpusWriter {
    /// Opens an unnamed file in the folder of its kind.
    ///
    /// # Errors
    /// The folder cannot be written.
    pub fn create(folder: &KindFolder, _lock: &FolderLock) -> anyhow::Result<Self> {
        let tmp = folder.path().join(format!(".{}.tmp", folder.kind()));
        let file = AtomicFile::create_as(tmp.clone());
        let mut file = file.with_context(|| unwritable(&tmp))?;
        file.seek(SeekFrom::Start(DATA_START))?;
        Ok(Self {
            folder: folder.clone(),
            file: BufWriter::with_capacity(BUFFER, file),
            index: IndexBuilder::default(),
            entries: 0,
            smallest: u32::MAX,
            largest: 0,
        })
    }

    /// Which digests the file will hold.
    pub fn kind(&self) -> Kind {
        self.folder.kind()
    }

    /// Appends buckets, which must come after all that were appended before.
    ///
    /// # Errors
    /// The disk is full or failing, or the buckets are out of order.
    pub fn append(&mut self, encoded: &Encoded) -> anyhow::Result<()> {
        for bucket in &encoded.buckets {
            self.note(bucket.prefix, bucket.length as u64, bucket.entries as u32, bucket.digest)?;
        }
        self.write(&encoded.data)
    }

    /// Appends a bucket as it stands in another corpus.
    ///
    /// # Errors
    /// As [`Self::append`].
    pub fn copy(&mut self, prefix: u32, bytes: &[u8], digest: BucketDigest) -> anyhow::Result<()> {
        if bytes.is_empty() {
            return Ok(());
        }
        let last_end = bytes.get(30..32).unwrap_or(&[0, 0]);
        let entries = u32::from(last_end[0]) | u32::from(last_end[1]) << 8;
        self.note(prefix, bytes.len() as u64, entries, digest)?;
        self.write(bytes)
    }

    fn note(
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

    fn write(&mut self, bytes: &[u8]) -> anyhow::Result<()> {
        let written = self.file.write_all(bytes);
        written.with_context(|| unwritable(self.file.get_ref().path()))
    }

    /// Completes the file and gives it its name. Returns its path and header.
    ///
    /// # Errors
    /// The disk is full or failing.
    pub fn finish(mut self, note: &str, built_at: i64) -> anyhow::Result<(PathBuf, Header)> {
        let index = std::mem::take(&mut self.index);
        let file_length = index.offset();
        let buckets = index.stored();
        let index = index.finish();
        let header = Header {
            kind: self.kind(),
            entries: self.entries,
            file_length,
            built_at,
            smallest_bucket: if buckets < PREFIXES { 0 } else { self.smallest },
            largest_bucket: self.largest,
            index_digest: index.region_digest(),
            corpus_id: index.corpus_id(self.kind()),
            note: note.to_owned(),
        };
        let path = self.folder.corpus_path(&header.corpus_id);
        let temporary = self.file.get_ref().path().to_owned();
        seal(self.file, index.as_bytes(), &header, &path)
            .with_context(|| unwritable(&temporary))?;
        Ok((path, header))
    }
}

fn unwritable(path: &Path) -> String {
    format!("cannot write {}", path.display())
}

/// Writes the index, then the header, without which a file is no corpus, and names the file.
fn seal(file: BufWriter<AtomicFile>, index: &[u8], header: &Header, path: &Path) -> io::Result<()> {
    let whole = file.into_inner().map_err(io::IntoInnerError::into_error)?;
    let file = whole.file();
    file.set_len(header.file_length)?;
    file.write_all_at(index, HEADER_BYTES as u64)?;
    file.sync_all()?;
    file.write_all_at(&header.to_bytes(), 0)?;
    whole.commit(path)
}
