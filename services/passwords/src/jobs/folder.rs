//! Folders with one file for each prefix, as written by mirroring clients.

use std::collections::BTreeMap;
use std::fs::{self, File};
use std::io::Read;
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
use crate::model::{Entry, Kind, sort_and_add_up};

/// The number of files that a thread reads at once.
const BATCH: usize = 32;
/// Files that the official downloader and `export` write next to the ranges. They contain entity tags.
const SIDE_FILES: [&str; 3] = ["sha1.index", "ntlm.index", MANIFEST];
/// Longer than any response of the service.
const FILE_LIMIT: u64 = 64 << 20;

/// The parameters of a pass over a folder.
#[derive(Clone, Copy)]
pub struct FolderPass<'a> {
    /// The folder.
    pub path: &'a Path,
    /// The kind of its files.
    pub kind: Kind,
    /// The way to read lines.
    pub reading: Reading,
    /// The worker threads.
    pub pool: WorkerPool,
    /// Reports the progress.
    pub progress: &'a ProgressReporter,
}

/// Reads a folder in prefix order. See [`super::ordered::read`] for `finish` and `consume`.
///
/// # Errors
/// An unreadable file, a file name without a prefix, two files for one prefix, an invalid line, or
/// an error of `finish` or `consume`.
pub fn read<T: Send>(
    pass: FolderPass<'_>,
    finish: impl Fn(Vec<Entry>) -> anyhow::Result<T> + Sync,
    mut consume: impl FnMut(T) -> anyhow::Result<()>,
) -> anyhow::Result<Tally> {
    let (files, side_files) = files_of(pass.path)?;
    for path in side_files {
        log::info!(target: "notice", "{} is skipped: it has no ranges", path.display());
    }
    let mut files = files.into_iter();
    let produce = || {
        let batch: Vec<(HashPrefix, PathBuf)> = files.by_ref().take(BATCH).collect();
        Ok((!batch.is_empty()).then_some(batch))
    };
    let work = |batch| {
        let (tally, entries) = read_batch(pass, batch)?;
        Ok((tally, finish(entries)?))
    };
    let mut total = Tally::default();
    in_order(pass.pool, produce, work, |(tally, done)| {
        total.add(tally);
        consume(done)
    })?;
    Ok(total)
}

fn read_batch(
    pass: FolderPass<'_>,
    batch: Vec<(HashPrefix, PathBuf)>,
) -> anyhow::Result<(Tally, Vec<Entry>)> {
    let (mut total, mut all) = (Tally::default(), Vec::new());
    for (prefix, path) in batch {
        let text = text_of(&path)?;
        pass.progress.add(text.len() as u64);
        let form = Form::Suffix(prefix.value());
        let mut parsed = lines::parse(&text, pass.kind, form, pass.reading.lenient);
        if let Some((line, cause)) = parsed.error {
            let input = path.display().to_string();
            return Err(BadLine { input, line: line + 1, cause }.into());
        }
        total.add(Tally::of(&parsed));
        sort_and_add_up(&mut parsed.entries);
        all.append(&mut parsed.entries);
    }
    Ok((total, all))
}

fn text_of(path: &Path) -> anyhow::Result<Vec<u8>> {
    let unreadable = || format!("cannot read {}", path.display());
    let file = File::open(path).with_context(unreadable)?;
    let packed = path.extension().is_some_and(|extension| extension == "gz");
    let reader: Box<dyn Read> =
        if packed { Box::new(flate2::read::MultiGzDecoder::new(file)) } else { Box::new(file) };
    let mut text = Vec::new();
    reader.take(FILE_LIMIT + 1).read_to_end(&mut text).with_context(unreadable)?;
    if text.len() as u64 > FILE_LIMIT {
        bail!("{} is longer than any answer", path.display());
    }
    let head = &text[..text.len().min(first_bytes::LOOKED_AT)];
    let mark = first_bytes::check(&path.display().to_string(), head)?;
    text.drain(..mark);
    Ok(text)
}

/// Returns all files by prefix: `PREFIX` or `PREFIX.txt`, optionally with `.gz`, up to one folder
/// deep. Plain files take precedence over their compressed copies. Also returns the side files of downloaders.
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
                bail!("{} is not named by the first 2 characters of prefixes", path.display());
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
    // A compressed copy next to its plain file.
    if name.ends_with(".gz") && path.with_extension("").is_file() {
        return Ok(());
    }
    if let Some(other) = files.insert(prefix, path.clone()) {
        bail!("{} and {} hold the same prefix", other.display(), path.display());
    }
    Ok(())
}

/// Detects the kind of a folder from its first file with a digest.
///
/// # Errors
/// The folder or a file cannot be read.
pub fn kind_of(folder: &Path) -> anyhow::Result<Option<Kind>> {
    for (prefix, path) in files_of(folder)?.0 {
        let kind = lines::kind_of(&text_of(&path)?, Form::Suffix(prefix.value()));
        if kind.is_some() {
            return Ok(kind);
        }
    }
    Ok(None)
}
