//! Checks the consistency of an index.

use std::ops::Range;
use std::path::{Path, PathBuf};

use tantivy::Index;
use tantivy::directory::error::OpenReadError;
use tantivy::directory::{Directory, FileSlice};

use super::checksums;
use super::column::PathColumn;
use super::index_directory::IndexDirectory;
use super::schema::{COLUMN, WORDS};
use super::view::{self, View};
use crate::engine::error::EngineError;

/// Stop reporting after this number of problems.
const MOST_NAMED: usize = 20;

/// Checks the index files without searching them, since searching damaged files can cause panics.
pub(super) fn damage(folder: &Path) -> Result<Vec<String>, EngineError> {
    let index = Index::open(IndexDirectory::open(&folder.join(WORDS))?)?;
    let mut faults = damaged_files(&index)?;
    let (rows, bytes) = view::journal(&index.load_metas()?)?.published_rows();
    let folder = folder.join(COLUMN);
    faults.extend(column_faults(&folder, &PathColumn::open(&folder, rows, bytes)?)?);
    Ok(faults)
}

/// Returns the number of paths that don't have a checksum because an earlier version wrote them.
pub(super) fn unchecked_paths(folder: &Path) -> Result<u64, EngineError> {
    let index = Index::open(IndexDirectory::open(&folder.join(WORDS))?)?;
    let (rows, _) = view::journal(&index.load_metas()?)?.published_rows();
    Ok(checksums::unchecked_rows(&folder.join(COLUMN), rows)?)
}

/// Checks the structure of the path column and then its checksums.
fn column_faults(folder: &Path, column: &PathColumn) -> Result<Vec<String>, EngineError> {
    let faults = column.faults();
    if !faults.is_empty() {
        return Ok(faults);
    }
    let damaged = checksums::damaged(folder, column.rows(), |rows| column.checksum(rows))?;
    let named = |rows: Range<u64>| {
        format!("path column: rows {} to {} are damaged", rows.start, rows.end.saturating_sub(1))
    };
    Ok(damaged.into_iter().take(MOST_NAMED).map(named).collect())
}

/// Number of attempts to open all files of a commit, since a merge may delete some meanwhile.
const ATTEMPTS: u32 = 20;

/// Verifies the checksums of the inverted index.
fn damaged_files(index: &Index) -> Result<Vec<String>, EngineError> {
    damaged_among(index, &open_files(index)?)
}

/// Opens the files of the last commit. While they are open, merges and removals don't make them
/// unreadable.
fn open_files(index: &Index) -> Result<Vec<(PathBuf, FileSlice)>, EngineError> {
    let directory = index.directory();
    let mut attempt = 1;
    loop {
        let managed = directory.list_managed_files();
        let files = index.load_metas()?.list_segment_files().into_iter();
        let opened = files
            .filter(|file| managed.contains(file))
            .map(|file| directory.open_read(&file).map(|slice| (file, slice)));
        match opened.collect::<Result<Vec<_>, OpenReadError>>() {
            Err(OpenReadError::FileDoesNotExist(_)) if attempt < ATTEMPTS => attempt += 1,
            opened => return Ok(opened.map_err(tantivy::TantivyError::from)?),
        }
    }
}

fn damaged_among(
    index: &Index,
    files: &[(PathBuf, FileSlice)],
) -> Result<Vec<String>, EngineError> {
    let mut damaged = Vec::new();
    for (file, _) in files {
        let is_intact = index.directory().validate_checksum(file);
        if !is_intact.map_err(tantivy::TantivyError::from)? {
            damaged.push(format!("{} is damaged", file.display()));
        }
    }
    Ok(damaged)
}

/// Looks for problems in the index in `folder` and describes each of them. Verifies checksums and
/// the structure of the column, and compares every file with its row.
pub(super) fn faults(
    folder: &Path,
    index: &Index,
    view: &View,
) -> Result<Vec<String>, EngineError> {
    let mut faults = damaged_files(index)?;
    faults.extend(column_faults(&folder.join(COLUMN), &view.column)?);
    if !faults.is_empty() {
        return Ok(faults);
    }
    let hidden = view.hidden_run();
    let mut seen = crate::engine::bitmap::Bitmap::new(view.column.rows());
    for segment in &view.segments {
        for document in segment.reader.doc_ids_alive() {
            if faults.len() >= MOST_NAMED {
                return Ok(faults);
            }
            if Some(segment.runs.get_val(document)) == hidden {
                continue;
            }
            let id = segment.ids.get_val(document);
            if id == 0 || id > view.column.rows() {
                faults.push(format!("file {id} has no row"));
                continue;
            }
            let row = id - 1;
            if seen.contains(row) {
                faults.push(format!("file {id} occurs twice"));
            }
            seen.insert(row);
            if view.column.owner(row) != segment.buckets.get_val(document) {
                faults.push(format!("file {id} belongs to a different bucket than its row"));
            }
            if view.column.path(row).is_empty() && !is_outdated(index, view)? {
                faults.push(format!("file {id} has no path"));
            }
        }
    }
    let counted: u64 = view.summary.counts.values().sum();
    if seen.count() != counted {
        faults.push(format!("{} files found, {counted} counted", seen.count()));
    }
    Ok(faults)
}

/// Returns `true` if the index has changed since the view was opened. A removal may then have erased
/// paths of its files. Checksums still find damaged paths.
fn is_outdated(index: &Index, view: &View) -> Result<bool, EngineError> {
    let now = view::journal(&index.load_metas()?)?;
    Ok(now.sequence != view.summary.journal.sequence)
}

#[cfg(test)]
mod tests {
    use super::super::index::EmbeddedIndex;
    use super::*;
    use crate::engine::index::{FileIndex, NewFile};
    use crate::engine::journal::{Mode, NamedBucket};
    use crate::model::Attributes;

    fn published(folder: &Path) -> EmbeddedIndex {
        let index = EmbeddedIndex::open_or_create(folder).unwrap();
        let mut writer = index.writer(64).unwrap();
        writer.begin(1).unwrap();
        let file = |bucket: u64| {
            let (path, attributes) = ("a.txt".to_owned(), Attributes::from_fn(|_| 1));
            NewFile { bucket, kind: 0, path, attributes, is_changed: false }
        };
        writer.add(&[file(1), file(2)]).unwrap();
        let named = [1, 2].map(|id| NamedBucket { id, truncated: false, partial: false });
        writer.publish(Mode::Append, named.to_vec(), 1).unwrap();
        index.refresh().unwrap();
        index
    }

    #[test]
    fn files_erased_by_a_removal_meanwhile_are_not_damaged() {
        let folder = tempfile::tempdir().unwrap();
        let index = published(folder.path());
        let removing = EmbeddedIndex::open(folder.path()).unwrap();
        removing.writer(64).unwrap().remove(1, 1, None, None).unwrap();
        assert_eq!(index.verify().unwrap(), Vec::<String>::new());
        index.refresh().unwrap();
        assert_eq!(index.verify().unwrap(), Vec::<String>::new());
    }

    #[test]
    fn files_that_a_merge_deletes_meanwhile_are_still_checked() {
        let folder = tempfile::tempdir().unwrap();
        let published = published(folder.path());
        let words = folder.path().join(WORDS);
        let index = Index::open(IndexDirectory::open(&words).unwrap()).unwrap();
        let files = open_files(&index).unwrap();
        // It rewrites the segments.
        published.writer(64).unwrap().remove(1, 1, None, None).unwrap();
        assert!(!files.is_empty() && files.iter().all(|(file, _)| !words.join(file).exists()));
        assert_eq!(damaged_among(&index, &files).unwrap(), Vec::<String>::new());
    }
}
