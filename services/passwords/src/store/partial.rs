//! A corpus that a mirror fills range by range, possibly over several runs.
//!
//! It consists of two files next to the corpora. `mirror.data` is a corpus without its index and
//! header. `mirror.log` has a record for each complete bucket, which is only written once the
//! bucket has been synced. After a crash, buckets may be missing from the log, but the log never
//! lists a bucket that isn't in the data.

use std::fs::{self, File, OpenOptions};
use std::io::{self, BufReader, BufWriter, IntoInnerError, Read, Seek, SeekFrom, Write};
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};
use std::time::Duration;

use anyhow::{Context, bail};
use batch::Interval;

use super::contents::{self, Contents};
use super::folder::{FolderLock, KindFolder};
use super::tag_log::{self, TagLog, TagRecord};
use super::writer::Encoded;
use crate::model::{BucketDigest, DATA_START, EMPTY_DIGEST, Header, bucket_digest};

const DATA: &str = "mirror.data";
const LOG: &str = "mirror.log";
const BUFFER: usize = 1 << 20;
/// Interval between checkpoints. If the process is killed, ranges fetched since the last checkpoint
/// are lost.
const BETWEEN_CHECKPOINTS: Duration = Duration::from_secs(1);

/// An unfinished corpus that is open for appending.
pub struct PartialCorpus {
    folder: KindFolder,
    data: BufWriter<File>,
    log: File,
    /// Length of the log as of the last checkpoint.
    logged: u64,
    contents: Contents,
    next: u32,
    kept: u32,
    waiting: Vec<u8>,
    checkpoints: Interval,
}

impl PartialCorpus {
    /// Resumes an earlier run from the same `source`, or starts over.
    ///
    /// # Errors
    /// Returns an error if the folder is not readable or writable, or if it contains ranges from
    /// another source.
    pub fn open(folder: &KindFolder, _lock: &FolderLock, source: &str) -> anyhow::Result<Self> {
        let (data_path, log_path) = paths(folder);
        match tag_log::source_of(&log_path).with_context(|| unreadable(&log_path))? {
            Some(other) if other != source => bail!(
                "{} contains an unfinished mirror of {other}; finish it, or use --restart to \
                 discard what it has fetched",
                folder.path().display()
            ),
            _ => {}
        }
        let resumed = resume(folder, source);
        let (contents, next, whole) = resumed.with_context(|| unreadable(&log_path))?;
        let open = |path: &Path, length| -> io::Result<File> {
            let mut options = OpenOptions::new();
            let mut file = options.write(true).create(true).truncate(false).open(path)?;
            file.set_len(length)?;
            file.seek(SeekFrom::End(0))?;
            Ok(file)
        };
        let data = open(&data_path, contents.offset()).with_context(|| unwritable(&data_path))?;
        let mut log = open(&log_path, whole).with_context(|| unwritable(&log_path))?;
        let mut logged = whole;
        if whole == 0 {
            let head = tag_log::head(folder.kind(), source);
            log.write_all(&head).with_context(|| unwritable(&log_path))?;
            logged = head.len() as u64;
        }
        Ok(Self {
            folder: folder.clone(),
            data: BufWriter::with_capacity(BUFFER, data),
            log,
            logged,
            contents,
            next,
            kept: next,
            waiting: Vec::new(),
            checkpoints: Interval::new(BETWEEN_CHECKPOINTS),
        })
    }

    /// Returns the prefix of the first missing range. This equals the number of ranges fetched.
    pub fn next(&self) -> u32 {
        self.next
    }

    /// Returns the number of ranges that would survive a crash.
    pub fn kept(&self) -> u32 {
        self.kept
    }

    /// Returns whether all ranges so far are empty.
    pub fn is_empty(&self) -> bool {
        self.contents.is_empty()
    }

    /// Appends the next range.
    ///
    /// # Errors
    /// Returns an error if the disk is full or fails.
    pub fn append(&mut self, encoded: &Encoded, tag: &[u8]) -> anyhow::Result<()> {
        let (entries, digest) = match encoded.buckets.first() {
            Some(bucket) => (bucket.entries as u32, bucket.digest),
            None => (0, EMPTY_DIGEST),
        };
        self.add(&encoded.data, entries, digest, tag)
    }

    /// Appends the next range, using a bucket from another corpus.
    ///
    /// # Errors
    /// Returns the same errors as [`Self::append`].
    pub fn copy(&mut self, bytes: &[u8], digest: BucketDigest, tag: &[u8]) -> anyhow::Result<()> {
        self.add(bytes, contents::entries_of(bytes), digest, tag)
    }

    fn add(
        &mut self,
        bytes: &[u8],
        entries: u32,
        digest: BucketDigest,
        tag: &[u8],
    ) -> anyhow::Result<()> {
        let record = TagRecord { length: bytes.len() as u32, entries, digest, tag: tag.to_vec() };
        note(&mut self.contents, self.next, &record)?;
        self.data.write_all(bytes).with_context(|| unwritable(&paths(&self.folder).0))?;
        record.write(self.next, &mut self.waiting);
        self.next += 1;
        if self.checkpoints.is_due() { self.checkpoint() } else { Ok(()) }
    }

    /// Syncs everything, first the buckets and then their log records.
    ///
    /// # Errors
    /// Returns an error if the disk is full or fails.
    pub fn checkpoint(&mut self) -> anyhow::Result<()> {
        let (data_path, log_path) = paths(&self.folder);
        let mut write_data = || {
            self.data.flush()?;
            self.data.get_ref().sync_data()
        };
        write_data().with_context(|| unwritable(&data_path))?;
        let write_log = || {
            // If an earlier attempt failed, this overwrites the part that it has written. After a
            // torn record, the log would end.
            self.log.write_all_at(&self.waiting, self.logged)?;
            self.log.sync_data()
        };
        write_log().with_context(|| unwritable(&log_path))?;
        self.logged += self.waiting.len() as u64;
        self.waiting.clear();
        self.kept = self.next;
        Ok(())
    }

    /// Writes the index, leaving the remaining ranges empty. The steps that follow take no more
    /// disk space, and after a crash, this can be repeated.
    ///
    /// # Errors
    /// Returns an error if the disk is full or fails.
    pub fn complete(mut self, note: &str, built_at: i64) -> anyhow::Result<CompleteMirror> {
        self.checkpoint()?;
        let (data_path, log_path) = paths(&self.folder);
        let unwritable = || unwritable(&data_path);
        let (index, header) = self.contents.finish(note, built_at);
        let data = self.data.into_inner().map_err(IntoInnerError::into_error);
        let data = data.with_context(unwritable)?;
        contents::write_index(&data, &index, header.file_length).with_context(unwritable)?;
        // Write the tags first, because a corpus without its tags would have to be fetched again.
        let path = self.folder.corpus_path(&header.corpus_id);
        batch::copy_atomically(&log_path, &tags_path(&path)).with_context(unwritable)?;
        Ok(CompleteMirror { folder: self.folder, data, header, path })
    }
}

/// A mirror that is complete except for its header and its name.
pub struct CompleteMirror {
    folder: KindFolder,
    data: File,
    header: Header,
    path: PathBuf,
}

impl CompleteMirror {
    /// Writes the header, renames the file, and returns the path and the header.
    ///
    /// # Errors
    /// Returns an error if the disk fails.
    pub fn name(self) -> anyhow::Result<(PathBuf, Header)> {
        let (data_path, log_path) = paths(&self.folder);
        let name = || {
            contents::write_header(&self.data, &self.header)?;
            fs::rename(&data_path, &self.path)?;
            fs::remove_file(&log_path)?;
            batch::sync_folder(self.folder.path())
        };
        name().with_context(|| unwritable(&data_path))?;
        Ok((self.path, self.header))
    }
}

/// Reads the state left by an earlier run: the contents, the number of ranges, and the length of
/// the intact part of the log.
fn resume(folder: &KindFolder, source: &str) -> io::Result<(Contents, u32, u64)> {
    let (data_path, log_path) = paths(folder);
    let mut data = match File::open(&data_path) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => None,
        data => Some(BufReader::with_capacity(BUFFER, data?)),
    };
    if let Some(data) = &mut data {
        data.seek(SeekFrom::Start(DATA_START))?;
    }
    let mut bucket = Vec::new();
    let mut contents = Contents::new(folder.kind());
    let mut next = 0;
    let Some(mut log) = TagLog::open(&log_path, folder.kind(), source)? else {
        return Ok((contents, next, 0));
    };
    let mut whole = log.whole();
    while let Some(record) = log.next_record()? {
        // The data is shorter than the log or doesn't match it, so fetch the ranges again from here
        // on.
        if !holds(data.as_mut(), &record, &mut bucket)?
            || note(&mut contents, next, &record).is_err()
        {
            break;
        }
        next += 1;
        whole = log.whole();
    }
    Ok((contents, next, whole))
}

/// Returns whether the next bytes are the bucket described by `record`.
fn holds(
    data: Option<&mut BufReader<File>>,
    record: &TagRecord,
    bucket: &mut Vec<u8>,
) -> io::Result<bool> {
    bucket.clear();
    if let Some(data) = data {
        data.take(u64::from(record.length)).read_to_end(bucket)?;
    }
    Ok(bucket.len() == record.length as usize && bucket_digest(bucket) == record.digest)
}

fn note(contents: &mut Contents, prefix: u32, record: &TagRecord) -> anyhow::Result<()> {
    if record.length == 0 {
        return Ok(());
    }
    contents.note(prefix, u64::from(record.length), record.entries, record.digest)
}

/// Removes an unfinished mirror's files and returns their paths.
///
/// # Errors
/// Returns an error if a file cannot be removed.
pub fn remove_partial(folder: &KindFolder, _lock: &FolderLock) -> anyhow::Result<Vec<PathBuf>> {
    let (data, log) = paths(folder);
    let mut removed = Vec::new();
    for path in [log, data] {
        match fs::remove_file(&path) {
            Ok(()) => removed.push(path),
            Err(error) if error.kind() == io::ErrorKind::NotFound => {}
            Err(error) => {
                return Err(error).with_context(|| format!("cannot remove {}", path.display()));
            }
        }
    }
    Ok(removed)
}

/// Returns the path of a mirrored corpus's tag file.
pub fn tags_path(corpus: &Path) -> PathBuf {
    corpus.with_extension("tags")
}

fn paths(folder: &KindFolder) -> (PathBuf, PathBuf) {
    (folder.path().join(DATA), folder.path().join(LOG))
}

fn unreadable(path: &Path) -> String {
    format!("cannot read {}", path.display())
}

fn unwritable(path: &Path) -> String {
    format!("cannot write {}", path.display())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::Kind;

    #[test]
    fn ranges_of_a_checkpoint_that_failed_once_are_kept() {
        const SOURCE: &str = "https://ranges.example";
        let data = testkit::Folder::new();
        let folder = KindFolder::new(data.path(), Kind::Sha1);
        let lock = folder.lock().unwrap();
        let open = || PartialCorpus::open(&folder, &lock, SOURCE).unwrap();
        for run in 0..3 {
            let mut corpus = open();
            assert_eq!((corpus.next(), corpus.kept()), (2 * run, 2 * run));
            for _ in 0..2 {
                corpus.append(&Encoded::default(), b"\"tag\"").unwrap();
            }
            // A write that the disk has cut short.
            corpus.log.write_all_at(b"torn", corpus.logged).unwrap();
            corpus.checkpoint().unwrap();
            assert_eq!(corpus.kept(), 2 * run + 2);
        }
        assert_eq!(open().next(), 6);
    }
}
