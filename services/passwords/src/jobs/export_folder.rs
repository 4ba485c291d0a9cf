//! Exports a corpus to a folder that a static web server can serve.
//!
//! The manifest lists each range with its entity tag and the lengths of its files, so the next
//! export only has to write ranges that have changed. A journal next to it records the progress of
//! an unfinished export. Before any listed range is replaced, all ranges to replace are marked in
//! the journal, so an interrupted export never leaves a wrong entry behind.

use std::fs::{self, File, TryLockError};
use std::io::{self, ErrorKind, Read, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};

use anyhow::{Context, bail};
use batch::{AtomicFile, ProgressReporter, Unit};
use domain::HashPrefix;

use super::report::{Changes, Exported};
use crate::app::{Body, Padding, RangeReader};
use crate::model::{BucketDigest, EMPTY_DIGEST, Kind, PREFIXES, gzip, lower_hex};
use crate::store::Corpus;

/// The list of exported ranges.
pub(super) const MANIFEST: &str = "manifest.tsv";
/// The changes made by an unfinished export.
pub(super) const JOURNAL: &str = "manifest.journal";
/// Marks a range in the journal while its files are being replaced.
const REPLACED: &str = "-";
/// Temporary file for new content, which then replaces the old file in one step.
const DRAFT: &str = ".draft";
/// Number of bytes to write to the journal at once.
const PIECE: usize = 32 << 10;

/// For each non-empty prefix, writes the service's response to `PREFIX.txt` and, if `gzip` is true,
/// the compressed response to `PREFIX.txt.gz`. Files of ranges that haven't changed since the last
/// export to the folder are kept.
///
/// # Errors
/// Returns an error if the corpus is damaged, if the folder is not writable or contains ranges of a
/// different kind or of another program, or if another export is writing to it.
pub fn export_folder(corpus: &Corpus, folder: &Path, gzip: bool) -> anyhow::Result<Exported> {
    let unwritable = || format!("cannot write {}", folder.display());
    if !folder.exists() {
        create(folder).with_context(unwritable)?;
    }
    let kind = corpus.kind();
    let _lock = lock(folder)?;
    refuse_unlisted(folder)?;
    remove(&folder.join(DRAFT)).with_context(unwritable)?;
    let mut ranges = known_ranges(kind, folder)?;
    let resumed = folder.join(JOURNAL).exists();
    let mut journal = Journal::open(kind, folder).with_context(unwritable)?;
    let progress = ProgressReporter::new("exporting", Unit::Items("ranges"), Some(PREFIXES as u64));
    let mut export = Export { corpus, folder, gzip, reader: RangeReader::new(true) };
    let (mut prefixes, mut changes) = (0, Changes::default());
    let kept = export.mark_others(&ranges, &mut journal).with_context(unwritable)?;
    for ((value, known), is_kept) in (0..).zip(&mut ranges).zip(kept) {
        let Some(prefix) = HashPrefix::from_value(value) else { continue };
        progress.add(1);
        let digest = corpus.digest(prefix);
        prefixes += u32::from(digest != EMPTY_DIGEST);
        if is_kept {
            changes.unchanged += 1;
            continue;
        }
        if digest == EMPTY_DIGEST && known.is_none() {
            // An interrupted export may have left files of this range that it had not listed yet,
            // or had marked but not removed.
            if resumed {
                export.remove(prefix).with_context(unwritable)?;
            }
            continue;
        }
        if digest == EMPTY_DIGEST {
            export.remove(prefix).with_context(unwritable)?;
            *known = None;
            changes.removed += 1;
        } else {
            let range = export.write(prefix, digest)?;
            journal.note(prefix, range).with_context(unwritable)?;
            *known = Some(range);
            changes.written += 1;
        }
    }
    progress.finish();
    // The manifest must not list files that could still be lost in a power failure.
    sync_folder(folder).with_context(unwritable)?;
    write_manifest(kind, folder, &ranges).with_context(unwritable)?;
    journal.finish().with_context(unwritable)?;
    let exported = Exported::new(folder.to_owned(), corpus.header(), prefixes);
    Ok(Exported { changes: Some(changes), ..exported })
}

/// Creates a folder and any missing parents. Their modes follow the umask, because a web server
/// must be able to access the files.
fn create(folder: &Path) -> io::Result<()> {
    let is_missing = |path: &&Path| !path.as_os_str().is_empty() && !path.exists();
    let missing: Vec<_> = folder.ancestors().take_while(is_missing).collect();
    for path in missing.into_iter().rev() {
        fs::create_dir(path)?;
        shell::folder_follows_umask(path)?;
    }
    Ok(())
}

/// Syncs the folder's whole file system in one call, because the folder may contain millions of new
/// files.
#[cfg(target_os = "linux")]
fn sync_folder(folder: &Path) -> io::Result<()> {
    Ok(rustix::fs::syncfs(File::open(folder)?)?)
}

/// Syncs the file names.
#[cfg(not(target_os = "linux"))]
fn sync_folder(folder: &Path) -> io::Result<()> {
    File::open(folder)?.sync_all()
}

/// Locks the folder until the returned file is closed.
fn lock(folder: &Path) -> anyhow::Result<File> {
    let name = folder.display();
    let file = File::open(folder).with_context(|| format!("cannot read {name}"))?;
    match file.try_lock() {
        Ok(()) => Ok(file),
        Err(TryLockError::WouldBlock) => bail!("another export is writing to {name}"),
        Err(TryLockError::Error(error)) => Err(error).context(format!("cannot lock {name}")),
    }
}

/// Rejects a folder with ranges of another program, such as a downloader. The export wouldn't know
/// them, so those of prefixes without digests would be kept and served.
fn refuse_unlisted(folder: &Path) -> anyhow::Result<()> {
    if [MANIFEST, JOURNAL].iter().any(|name| folder.join(name).exists()) {
        return Ok(());
    }
    let unreadable = || format!("cannot read {}", folder.display());
    for entry in fs::read_dir(folder).with_context(unreadable)? {
        let name = entry.with_context(unreadable)?.file_name();
        let name = name.to_str().unwrap_or_default();
        let stem = name.strip_suffix(".gz").unwrap_or(name).strip_suffix(".txt");
        if stem.is_some_and(|stem| HashPrefix::parse(stem).is_ok()) {
            let folder = folder.display();
            bail!("{folder} has ranges that no manifest lists: export to another folder");
        }
    }
    Ok(())
}

/// An exported range's files.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Range {
    digest: BucketDigest,
    /// Length of the plain file in bytes.
    plain: u32,
    /// Length of the compressed file in bytes, or 0 if there is none.
    packed: u32,
}

impl Range {
    fn line(self, prefix: HashPrefix) -> String {
        let Self { digest, plain, packed } = self;
        format!("{prefix}\t{plain}\t{packed}\t{}\n", lower_hex(&digest))
    }

    /// Parses a line of a manifest or journal. Returns `None` if the line is incomplete. The inner
    /// range is `None` if its files were being replaced.
    fn parse(line: &str) -> Option<(HashPrefix, Option<Self>)> {
        let mut cells = line.split('\t');
        let prefix = HashPrefix::parse(cells.next()?).ok()?;
        let plain = cells.next()?;
        if plain == REPLACED {
            return Some((prefix, None));
        }
        let (plain, packed) = (plain.parse().ok()?, cells.next()?.parse().ok()?);
        let tag = cells.next().filter(|tag| tag.len() == 16)?;
        let digest = u64::from_str_radix(tag, 16).ok()?.to_be_bytes();
        Some((prefix, Some(Self { digest, plain, packed })))
    }
}

/// Reads the ranges already exported to `folder` from its manifest and journal. The result is
/// indexed by prefix.
fn known_ranges(kind: Kind, folder: &Path) -> anyhow::Result<Vec<Option<Range>>> {
    let mut ranges = vec![None; PREFIXES];
    for name in [MANIFEST, JOURNAL] {
        let path = folder.join(name);
        let text = match fs::read_to_string(&path) {
            Ok(text) => text,
            Err(error) if error.kind() == ErrorKind::NotFound => continue,
            Err(error) => {
                return Err(error).with_context(|| format!("cannot read {}", path.display()));
            }
        };
        for line in text.lines() {
            if let Some(found) = line.strip_prefix("# ") {
                if found != kind.name() {
                    let folder = folder.display();
                    bail!("{folder} has {found} ranges: export {} to another folder", kind.name());
                }
            } else if let Some((prefix, range)) = Range::parse(line) {
                ranges[prefix.value() as usize] = range;
            }
        }
    }
    Ok(ranges)
}

fn write_manifest(kind: Kind, folder: &Path, ranges: &[Option<Range>]) -> io::Result<()> {
    let mut file = AtomicFile::create_in(folder)?;
    shell::follow_umask(file.file())?;
    let mut text = format!("# {}\n", kind.name());
    for (value, range) in (0..).zip(ranges) {
        if let (Some(prefix), Some(range)) = (HashPrefix::from_value(value), range) {
            text.push_str(&range.line(prefix));
        }
        if text.len() >= PIECE {
            file.write_all(text.as_bytes())?;
            text.clear();
        }
    }
    file.write_all(text.as_bytes())?;
    file.commit(&folder.join(MANIFEST))
}

/// An export's journal.
struct Journal {
    file: File,
    path: PathBuf,
    unwritten: String,
}

impl Journal {
    /// Creates the journal, or reopens the one that an interrupted export left behind.
    fn open(kind: Kind, folder: &Path) -> io::Result<Self> {
        let path = folder.join(JOURNAL);
        let mut file =
            File::options().read(true).write(true).create(true).truncate(false).open(&path)?;
        shell::follow_umask(&file)?;
        let unwritten = match file.seek(SeekFrom::End(0))? {
            0 => format!("# {}\n", kind.name()),
            length => {
                let mut last = [0];
                file.seek(SeekFrom::Start(length - 1))?;
                file.read_exact(&mut last)?;
                // The last line may be incomplete.
                if last == *b"\n" { String::new() } else { "\n".to_owned() }
            }
        };
        Ok(Self { file, path, unwritten })
    }

    /// Records that a range's files are about to be replaced.
    fn mark(&mut self, prefix: HashPrefix) -> io::Result<()> {
        self.add(&format!("{prefix}\t{REPLACED}\n"))
    }

    /// Records that a range was written.
    fn note(&mut self, prefix: HashPrefix, range: Range) -> io::Result<()> {
        self.add(&range.line(prefix))
    }

    fn add(&mut self, line: &str) -> io::Result<()> {
        self.unwritten.push_str(line);
        if self.unwritten.len() < PIECE { Ok(()) } else { self.write() }
    }

    fn write(&mut self) -> io::Result<()> {
        self.file.write_all(self.unwritten.as_bytes())?;
        self.unwritten.clear();
        Ok(())
    }

    /// Writes and syncs everything recorded so far.
    fn sync(&mut self, folder: &Path) -> io::Result<()> {
        self.write()?;
        self.file.sync_all()?;
        batch::sync_folder(folder)
    }

    /// Removes the journal once the export is complete.
    fn finish(self) -> io::Result<()> {
        fs::remove_file(self.path)
    }
}

/// Writes the files of exported ranges.
struct Export<'a> {
    corpus: &'a Corpus,
    folder: &'a Path,
    gzip: bool,
    reader: RangeReader,
}

impl Export<'_> {
    /// Marks the listed ranges whose files have to be replaced. Returns whether each range can be
    /// kept.
    fn mark_others(
        &self,
        ranges: &[Option<Range>],
        journal: &mut Journal,
    ) -> io::Result<Vec<bool>> {
        let mut kept = vec![false; ranges.len()];
        for ((value, known), is_kept) in (0..).zip(ranges).zip(&mut kept) {
            let (Some(prefix), Some(range)) = (HashPrefix::from_value(value), *known) else {
                continue;
            };
            *is_kept = range.digest == self.corpus.digest(prefix) && self.has(prefix, range);
            if !*is_kept {
                journal.mark(prefix)?;
            }
        }
        // After a power failure, files could be new although their marks are lost.
        journal.sync(self.folder)?;
        Ok(kept)
    }

    /// Returns the paths of a range's plain file and its compressed file.
    fn paths(&self, prefix: HashPrefix) -> [PathBuf; 2] {
        [".txt", ".txt.gz"].map(|ending| self.folder.join(format!("{prefix}{ending}")))
    }

    /// Returns whether the files of a listed range exist with the listed lengths, in exactly the
    /// requested formats.
    fn has(&self, prefix: HashPrefix, range: Range) -> bool {
        let wants_packed = self.gzip && range.plain as usize >= gzip::SHORTEST;
        let has_length = |path: &Path, length: u32| {
            fs::metadata(path).is_ok_and(|found| found.len() == u64::from(length))
        };
        let [plain, packed] = self.paths(prefix);
        (range.packed > 0) == wants_packed
            && has_length(&plain, range.plain)
            && (!wants_packed || has_length(&packed, range.packed))
    }

    /// Writes a range's files.
    fn write(&mut self, prefix: HashPrefix, digest: BucketDigest) -> anyhow::Result<Range> {
        let text = self.read(prefix, false)?;
        let [plain, packed] = self.paths(prefix);
        batch::refuse_overwriting(&[&plain, &packed], [self.corpus.path()])?;
        let mut range = Range { digest, plain: self.replace(&plain, &text)?, packed: 0 };
        if self.gzip {
            let body = self.read(prefix, true)?;
            if body.compressed {
                range.packed = self.replace(&packed, &body)?;
            }
        }
        if range.packed == 0 {
            remove(&packed).with_context(|| format!("cannot remove {}", packed.display()))?;
        }
        Ok(range)
    }

    fn read(&mut self, prefix: HashPrefix, gzip: bool) -> anyhow::Result<Body> {
        let body = self.reader.read(self.corpus, prefix, Padding::NotMentioned, gzip);
        Ok(body.map_err(|cause| self.corpus.problem(prefix.value(), cause))?)
    }

    /// Replaces a file atomically and returns its length.
    fn replace(&self, path: &Path, body: &Body) -> anyhow::Result<u32> {
        let (draft, bytes) = (self.folder.join(DRAFT), body.bytes.as_ref());
        let write = || {
            let mut file = File::create(&draft)?;
            shell::follow_umask(&file)?;
            file.write_all(bytes)?;
            fs::rename(&draft, path)
        };
        write().with_context(|| format!("cannot write {}", path.display()))?;
        Ok(u32::try_from(bytes.len())?)
    }

    /// Removes the files of a range that is now empty.
    fn remove(&self, prefix: HashPrefix) -> io::Result<()> {
        self.paths(prefix).iter().try_for_each(|path| remove(path))
    }
}

fn remove(path: &Path) -> io::Result<()> {
    match fs::remove_file(path) {
        Err(error) if error.kind() != ErrorKind::NotFound => Err(error),
        _ => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_are_parsed_and_incomplete_ones_ignored() {
        let prefix = HashPrefix::from_value(0x5BAA6).unwrap();
        let range = Range { digest: [0, 1, 2, 3, 4, 5, 6, 0xFF], plain: 32_000, packed: 19_000 };
        let line = range.line(prefix);
        assert_eq!(line, "5BAA6\t32000\t19000\t00010203040506ff\n");
        let line = line.trim_end();
        assert_eq!(Range::parse(line), Some((prefix, Some(range))));
        assert_eq!(Range::parse("5BAA6\t-"), Some((prefix, None)));
        for length in 0..line.len() {
            assert_eq!(Range::parse(&line[..length]), None, "{length}");
        }
    }
}
