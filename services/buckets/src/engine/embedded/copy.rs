//! Copies of an index that is being used.

use std::fs;
use std::path::Path;

use serde::Deserialize;
use tantivy::directory::{Directory, META_LOCK};

use super::index_directory::IndexDirectory;
use super::lock::FolderLock;
use super::schema::{COLUMN, WORDS};
use crate::engine::error::EngineError;

const META: &str = "meta.json";

/// Copies the last commit of an index to a new folder while other processes search it and write to
/// it. Files of the inverted index never change, so they become hard links where the file system
/// supports them.
pub fn copy_index(from: &Path, to: &Path) -> Result<(), EngineError> {
    let _in_use = FolderLock::shared(from)?;
    let words = from.join(WORDS);
    fs::create_dir_all(to.join(WORDS))?;
    {
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
    }
    // The column has at least the rows of the commit. Any later ones are ignored.
    fs::create_dir_all(to.join(COLUMN))?;
    for entry in fs::read_dir(from.join(COLUMN))? {
        let entry = entry?;
        batch::copy_atomically(&entry.path(), &to.join(COLUMN).join(entry.file_name()))?;
    }
    Ok(())
}

/// Returns the segments of a commit in the form in which their files are named.
fn segments(commit: &[u8]) -> Result<Vec<String>, EngineError> {
    let meta: IndexMeta = serde_json::from_slice(commit)
        .map_err(|error| EngineError::Broken(format!("{META}: {error}")))?;
    Ok(meta.segments.iter().map(|segment| segment.segment_id.replace('-', "")).collect())
}

/// The part of the metadata file that names segments.
#[derive(Deserialize)]
struct IndexMeta {
    segments: Vec<SegmentName>,
}

#[derive(Deserialize)]
struct SegmentName {
    segment_id: String,
}

fn locked(error: tantivy::directory::error::LockError) -> EngineError {
    EngineError::Broken(error.to_string())
}

/// Copies a backup of an index to a new folder.
pub fn restore_index(from: &Path, to: &Path) -> Result<(), EngineError> {
    for (part, copy) in [
        (WORDS, batch::link_or_copy as fn(&Path, &Path) -> std::io::Result<()>),
        // These files grow in place, so they must be copied.
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
