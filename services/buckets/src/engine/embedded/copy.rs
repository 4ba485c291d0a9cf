//! Copies an index while it is in use.

use std::ffi::OsStr;
use std::fs;
use std::path::Path;

use serde::Deserialize;
use tantivy::directory::{Directory, META_LOCK};

use super::checksums::SUMS;
use super::index_directory::IndexDirectory;
use super::lock::FolderLock;
use super::schema::{COLUMN, WORDS};
use crate::engine::error::EngineError;
use crate::engine::journal::Journal;

const META: &str = "meta.json";

/// Copies the last commit of an index to a new folder while other processes search the index and
/// write to it. Files of the inverted index never change, so they become hard links if the file
/// system supports them.
///
/// # Errors
/// [`EngineError::Mismatch`] if rows of the commit were overwritten in the meantime. Trying again
/// might succeed.
pub fn copy_index(from: &Path, to: &Path) -> Result<(), EngineError> {
    let _in_use = FolderLock::shared(from)?;
    let copied = copy_words(from, to)?;
    // The column has at least the commit's rows. Any later rows are ignored.
    fs::create_dir_all(to.join(COLUMN))?;
    let copy = |name: &OsStr| {
        batch::copy_atomically(&from.join(COLUMN).join(name), &to.join(COLUMN).join(name))
    };
    // Checksums come first. If a removal erases rows meanwhile, the copied checksums are either
    // marked as changing or match the erased rows.
    if from.join(COLUMN).join(SUMS).try_exists()? {
        copy(SUMS.as_ref())?;
    }
    for entry in fs::read_dir(from.join(COLUMN))? {
        let name = entry?.file_name();
        if name != SUMS {
            copy(&name)?;
        }
    }
    match keeps_rows(&copied, &journal_of(from)?) {
        true => Ok(()),
        false => {
            Err(EngineError::Mismatch("rows were overwritten while they were copied".to_owned()))
        }
    }
}

/// Returns `true` if `later` still contains the rows of `earlier` unmodified. Removals overwrite
/// rows in place, and when a run ends, its own rows can be overwritten.
fn keeps_rows(earlier: &Journal, later: &Journal) -> bool {
    let run = |journal: &Journal| journal.open.as_ref().map(|open| (open.run, open.first_row));
    let keeps_run = earlier.open.is_none() || run(earlier) == run(later);
    keeps_run && earlier.rows <= later.rows && earlier.removal == later.removal
}

/// Returns the journal of the last commit.
fn journal_of(folder: &Path) -> Result<Journal, EngineError> {
    journal_in(&fs::read(folder.join(WORDS).join(META))?)
}

fn journal_in(commit: &[u8]) -> Result<Journal, EngineError> {
    match read_meta(commit)?.payload {
        None => Ok(Journal::default()),
        Some(text) => serde_json::from_str(&text)
            .map_err(|error| EngineError::Broken(format!("the journal cannot be read: {error}"))),
    }
}

/// Copies the inverted index. Returns the journal of its last commit.
fn copy_words(from: &Path, to: &Path) -> Result<Journal, EngineError> {
    let words = from.join(WORDS);
    fs::create_dir_all(to.join(WORDS))?;
    // Prevents the writer from removing the files of this commit.
    let _files = IndexDirectory::open(&words)?.acquire_lock(&META_LOCK).map_err(locked)?;
    let commit = fs::read(words.join(META))?;
    let segments = segments(&commit)?;
    for entry in fs::read_dir(&words)? {
        let entry = entry?;
        let name = entry.file_name();
        // Files of other segments are still being written.
        let segment = name.to_str().and_then(|name| name.split('.').next());
        if segment.is_some_and(|segment| segments.iter().any(|known| known == segment)) {
            batch::link_or_copy(&entry.path(), &to.join(WORDS).join(&name))?;
        }
    }
    batch::write_atomically(&to.join(WORDS).join(META), &commit)?;
    journal_in(&commit)
}

/// Lists a commit's segments, spelled as in file names.
fn segments(commit: &[u8]) -> Result<Vec<String>, EngineError> {
    let meta = read_meta(commit)?;
    Ok(meta.segments.iter().map(|segment| segment.segment_id.replace('-', "")).collect())
}

fn read_meta(commit: &[u8]) -> Result<IndexMeta, EngineError> {
    serde_json::from_slice(commit).map_err(|error| EngineError::Broken(format!("{META}: {error}")))
}

/// The segment names and the journal in the metadata file.
#[derive(Deserialize)]
struct IndexMeta {
    segments: Vec<SegmentName>,
    payload: Option<String>,
}

#[derive(Deserialize)]
struct SegmentName {
    segment_id: String,
}

fn locked(error: tantivy::directory::error::LockError) -> EngineError {
    EngineError::Broken(error.to_string())
}

/// Restores a backup of an index to a new folder.
pub fn restore_index(from: &Path, to: &Path) -> Result<(), EngineError> {
    for (part, copy) in [
        (WORDS, batch::link_or_copy as fn(&Path, &Path) -> std::io::Result<()>),
        // These files grow in place, so a hard link would change the backup.
        (COLUMN, batch::copy_atomically),
    ] {
        fs::create_dir_all(to.join(part))?;
        for entry in fs::read_dir(from.join(part))? {
            let entry = entry?;
            copy(&entry.path(), &to.join(part).join(entry.file_name()))?;
        }
        batch::sync_folder(&to.join(part))?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::super::index::EmbeddedIndex;
    use super::*;
    use crate::engine::index::{FileIndex, NewFile};
    use crate::model::Attributes;

    #[test]
    fn copy_is_refused_after_rows_were_overwritten() {
        let folder = tempfile::tempdir().unwrap();
        let index = EmbeddedIndex::open_or_create(folder.path()).unwrap();
        let mut writer = index.writer(64).unwrap();
        let attributes = Attributes::from_fn(|_| 1);
        let file =
            NewFile { bucket: 1, kind: 0, path: "a/1".to_owned(), attributes, is_changed: false };
        writer.begin(1).unwrap();
        writer.add(std::slice::from_ref(&file)).unwrap();
        writer.checkpoint("1".to_owned()).unwrap();
        let copied = journal_of(folder.path()).unwrap();
        let keeps = || keeps_rows(&copied, &journal_of(folder.path()).unwrap());
        writer.add(&[file]).unwrap();
        writer.checkpoint("2".to_owned()).unwrap();
        assert!(keeps(), "a checkpoint only adds rows");
        let to = tempfile::tempdir().unwrap();
        copy_index(folder.path(), to.path()).unwrap();
        writer.abort().unwrap();
        assert!(!keeps(), "the rows of the run are blank");

        let copied = journal_of(folder.path()).unwrap();
        writer.begin(2).unwrap();
        assert!(
            keeps_rows(&copied, &journal_of(folder.path()).unwrap()),
            "a new run only adds rows"
        );
        writer.remove(1, 1, Some("a/"), None).unwrap();
        assert!(!keeps_rows(&copied, &journal_of(folder.path()).unwrap()));
    }
}
