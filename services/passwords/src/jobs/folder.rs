//! Reads folders with one file per prefix, as written by mirroring clients.

use std::collections::BTreeMap;
use std::fs::{self, File, Metadata, TryLockError};
use std::io::Read;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

use anyhow::{Context, bail};
use batch::ProgressReporter;
use domain::HashPrefix;

use super::export_folder::{JOURNAL, MANIFEST};
use super::first_bytes;
use super::reading::{BadLine, Reading};
use super::tally::Tally;
use super::worker_pool::{WorkerPool, in_order};
use crate::model::lines::{self, Form};
use crate::model::{Entry, Kind, PREFIXES, sort_and_add_up};

/// How many files a thread reads per batch.
const BATCH: usize = 32;
/// Files with entity tags that the official downloader and `export` write alongside the ranges.
const SIDE_FILES: [&str; 3] = ["sha1.index", "ntlm.index", MANIFEST];
/// Maximum file size in bytes. None of the service's responses are this large.
const FILE_LIMIT: u64 = 64 << 20;

/// Parameters for a pass over a folder.
#[derive(Clone, Copy)]
pub struct FolderPass<'a> {
    /// The folder.
    pub path: &'a Path,
    /// The kind of the files.
    pub kind: Kind,
    /// How to read lines.
    pub reading: Reading,
    /// The worker threads.
    pub pool: WorkerPool,
    /// Reports progress.
    pub progress: &'a ProgressReporter,
}

/// Identifies a file's content without reading it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Stamp {
    inode: u64,
    length: u64,
    modified: (i64, i64),
}

impl Stamp {
    fn of(file: &Metadata) -> Self {
        let modified = (file.mtime(), file.mtime_nsec());
        Self { inode: file.ino(), length: file.len(), modified }
    }
}

/// The files that a thread reads as one batch.
#[derive(Default)]
struct Batch {
    tally: Tally,
    stamps: Vec<(HashPrefix, Stamp)>,
    entries: Vec<Entry>,
}

/// Reads a folder in prefix order. See [`super::ordered::read`] for `finish` and `consume`.
///
/// # Errors
/// Returns an error if a file cannot be read, a file name does not contain a prefix, two files have
/// the same prefix, a line is invalid, or another program changes the folder. Also returns any
/// error from `finish` and `consume`.
pub fn read<T: Send>(
    pass: FolderPass<'_>,
    finish: impl Fn(Vec<Entry>) -> anyhow::Result<T> + Sync,
    mut consume: impl FnMut(T) -> anyhow::Result<()>,
) -> anyhow::Result<Tally> {
    let _lock = lock(pass.path)?;
    let (files, side_files) = files_of(pass.path)?;
    for path in side_files {
        log::info!(target: "notice", "{} was skipped: it contains no ranges", path.display());
    }
    if files.len() < PREFIXES {
        let (folder, count) = (pass.path.display(), files.len());
        log::info!(target: "notice", "{folder} has {count} of {PREFIXES} ranges; the others are empty");
    }
    let mut files = files.into_iter();
    let produce = || {
        let batch: Vec<(HashPrefix, PathBuf)> = files.by_ref().take(BATCH).collect();
        Ok((!batch.is_empty()).then_some(batch))
    };
    let work = |files| {
        let Batch { tally, stamps, entries } = read_batch(pass, files)?;
        Ok((tally, stamps, finish(entries)?))
    };
    let (mut total, mut seen) = (Tally::default(), Vec::new());
    in_order(pass.pool, produce, work, |(tally, mut stamps, done)| {
        total.add(tally);
        seen.append(&mut stamps);
        consume(done)
    })?;
    require_unchanged(pass.path, &seen)?;
    Ok(total)
}

/// Keeps `export` from writing to the folder until the returned file is closed.
fn lock(folder: &Path) -> anyhow::Result<File> {
    let name = folder.display();
    let file = File::open(folder).with_context(|| format!("cannot read {name}"))?;
    match file.try_lock_shared() {
        Err(TryLockError::WouldBlock) => {
            bail!("an export is writing to {name}: run the command again when it has finished")
        }
        // Some network file systems don't support locks. There, we detect changes at the end.
        Ok(()) | Err(TryLockError::Error(_)) => Ok(file),
    }
}

/// Checks that the folder still contains exactly the files that were read, because downloaders
/// don't lock it.
fn require_unchanged(folder: &Path, seen: &[(HashPrefix, Stamp)]) -> anyhow::Result<()> {
    let (files, _) = files_of(folder)?;
    let changed = |what: String| {
        let folder = folder.display();
        anyhow::anyhow!(
            "{what} while {folder} was read: run the command again when no program writes to it"
        )
    };
    if files.len() != seen.len() {
        return Err(changed(format!("{} ranges became {}", seen.len(), files.len())));
    }
    for ((prefix, path), (seen_prefix, stamp)) in files.iter().zip(seen) {
        let unreadable = || format!("cannot read {}", path.display());
        let now = fs::metadata(path).with_context(unreadable)?;
        if prefix != seen_prefix || Stamp::of(&now) != *stamp {
            return Err(changed(format!("{} changed", path.display())));
        }
    }
    Ok(())
}

fn read_batch(pass: FolderPass<'_>, files: Vec<(HashPrefix, PathBuf)>) -> anyhow::Result<Batch> {
    let mut batch = Batch::default();
    for (prefix, path) in files {
        let (stamp, text) = text_of(&path)?;
        batch.stamps.push((prefix, stamp));
        pass.progress.add(text.len() as u64);
        let form = Form::Suffix(prefix.value());
        let mut parsed = lines::parse(&text, pass.kind, form, pass.reading.lenient);
        if let Some((line, cause)) = parsed.error {
            let input = path.display().to_string();
            return Err(BadLine { input, line: line + 1, cause }.into());
        }
        batch.tally.add(Tally::of(&parsed));
        sort_and_add_up(&mut parsed.entries);
        batch.entries.append(&mut parsed.entries);
    }
    Ok(batch)
}

fn text_of(path: &Path) -> anyhow::Result<(Stamp, Vec<u8>)> {
    let unreadable = || format!("cannot read {}", path.display());
    let file = File::open(path).with_context(unreadable)?;
    let stamp = Stamp::of(&file.metadata().with_context(unreadable)?);
    let packed = path.extension().is_some_and(|extension| extension == "gz");
    let reader: Box<dyn Read> =
        if packed { Box::new(flate2::read::MultiGzDecoder::new(file)) } else { Box::new(file) };
    let mut text = Vec::new();
    reader.take(FILE_LIMIT + 1).read_to_end(&mut text).with_context(unreadable)?;
    if text.len() as u64 > FILE_LIMIT {
        bail!("{} is longer than any response", path.display());
    }
    let head = &text[..text.len().min(first_bytes::LOOKED_AT)];
    let mark = first_bytes::check(&path.display().to_string(), head)?;
    text.drain(..mark);
    Ok((stamp, text))
}

/// Finds all range files, by prefix. They are named `PREFIX` or `PREFIX.txt`, optionally followed
/// by `.gz`, and are in the folder itself or in one of its direct subfolders. A plain file takes
/// precedence over its compressed copy. Also returns the side files of downloaders.
fn files_of(folder: &Path) -> anyhow::Result<(BTreeMap<HashPrefix, PathBuf>, Vec<PathBuf>)> {
    if folder.join(JOURNAL).exists() {
        bail!("{} is an unfinished export: run the export again first", folder.display());
    }
    let (mut files, mut side_files) = (BTreeMap::new(), Vec::new());
    for path in listing(folder)? {
        let name = path.file_name().and_then(|name| name.to_str()).unwrap_or_default();
        if name.starts_with('.') {
            continue;
        }
        if SIDE_FILES.contains(&name) && path.is_file() {
            side_files.push(path);
        } else if path.is_dir() {
            if name.len() != 2 || !name.bytes().all(|byte| byte.is_ascii_hexdigit()) {
                bail!("{} is not named after the first 2 characters of a prefix", path.display());
            }
            for path in listing(&path)? {
                add(&mut files, path)?;
            }
        } else {
            add(&mut files, path)?;
        }
    }
    Ok((files, side_files))
}

fn listing(folder: &Path) -> anyhow::Result<Vec<PathBuf>> {
    let unreadable = || format!("cannot read {}", folder.display());
    let entries = fs::read_dir(folder).with_context(unreadable)?;
    entries.map(|entry| Ok(entry.with_context(unreadable)?.path())).collect()
}

fn add(files: &mut BTreeMap<HashPrefix, PathBuf>, path: PathBuf) -> anyhow::Result<()> {
    let name = path.file_name().and_then(|name| name.to_str()).unwrap_or_default();
    let stem = name.strip_suffix(".gz").unwrap_or(name);
    let stem = stem.strip_suffix(".txt").unwrap_or(stem);
    let Ok(prefix) = HashPrefix::parse(stem) else {
        bail!("{} is not named PREFIX or PREFIX.txt", path.display());
    };
    // Skip the compressed copy of a plain file.
    if name.ends_with(".gz") && path.with_extension("").is_file() {
        return Ok(());
    }
    if let Some(other) = files.insert(prefix, path.clone()) {
        bail!("{} and {} are for the same prefix", other.display(), path.display());
    }
    Ok(())
}

/// Detects a folder's kind from the first file that contains a digest.
///
/// # Errors
/// Returns an error if the folder or a file cannot be read.
pub fn kind_of(folder: &Path) -> anyhow::Result<Option<Kind>> {
    for (prefix, path) in files_of(folder)?.0 {
        let kind = lines::kind_of(&text_of(&path)?.1, Form::Suffix(prefix.value()));
        if kind.is_some() {
            return Ok(kind);
        }
    }
    Ok(None)
}

#[cfg(test)]
mod tests {
    use batch::Unit;

    use super::*;
    use crate::model::plaintext::{Dialect, Encoding};

    type Change = fn(&Path);

    const LINE: &[u8] = b"0018A45C4D1DEF81644B54AB7F969B88D65:1\r\n";

    fn two_ranges() -> tempfile::TempDir {
        let folder = tempfile::tempdir().unwrap();
        for name in ["00000.txt", "00001.txt"] {
            fs::write(folder.path().join(name), LINE).unwrap();
        }
        folder
    }

    fn read_with(folder: &Path, change: impl Fn()) -> anyhow::Result<Tally> {
        let progress = ProgressReporter::new("reading", Unit::Bytes, None);
        let pool = WorkerPool::of(1);
        let dialect = Dialect { encoding: Encoding::Utf8, with_counts: false };
        let reading = Reading { lenient: false, dialect };
        let pass =
            FolderPass { path: folder, kind: Kind::Sha1, reading, pool, progress: &progress };
        read(pass, Ok, |_| {
            change();
            Ok(())
        })
    }

    #[test]
    fn a_folder_is_read() {
        let folder = two_ranges();
        read_with(folder.path(), || ()).unwrap();
    }

    #[test]
    fn a_folder_that_changes_while_it_is_read_is_refused() {
        let changes: [(&str, Change); 4] = [
            ("00000.txt changed", |folder| fs::write(folder.join("00000.txt"), "").unwrap()),
            ("00001.txt changed", |folder| {
                // Renaming keeps the length, so only the rest of the stamp can reveal the change.
                fs::rename(folder.join("00001.txt"), folder.join("moved")).unwrap();
                fs::write(folder.join("00001.txt"), LINE).unwrap();
                fs::remove_file(folder.join("moved")).unwrap();
            }),
            ("2 ranges became 1", |folder| fs::remove_file(folder.join("00000.txt")).unwrap()),
            ("2 ranges became 3", |folder| fs::write(folder.join("00002.txt"), LINE).unwrap()),
        ];
        for (expected, change) in changes {
            let folder = two_ranges();
            let error = read_with(folder.path(), || change(folder.path())).unwrap_err();
            assert!(error.to_string().contains(expected), "{error}");
        }
    }

    #[test]
    fn a_folder_that_an_export_writes_to_is_refused() {
        let folder = two_ranges();
        let export = File::open(folder.path()).unwrap();
        export.lock().unwrap();
        let error = read_with(folder.path(), || ()).unwrap_err();
        assert!(error.to_string().contains("an export is writing"), "{error}");
        drop(export);
        read_with(folder.path(), || ()).unwrap();
    }
}
