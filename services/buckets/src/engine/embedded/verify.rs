//! Checks the consistency of an index.

use std::ops::Range;
use std::path::Path;

use tantivy::Index;

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

/// Verifies the checksums of the inverted index.
fn damaged_files(index: &Index) -> Result<Vec<String>, EngineError> {
    let damaged = index.validate_checksum()?;
    Ok(damaged.iter().map(|file| format!("{} is damaged", file.display())).collect())
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
            if view.column.path(row).is_empty() {
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
