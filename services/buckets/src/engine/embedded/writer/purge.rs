//! Erases the data of removed files from disk.

use std::time::Duration;

use tantivy::{Index, IndexWriter};

use super::super::view::View;
use crate::engine::error::EngineError;

/// Returns all rows of a bucket or prefix, including rows from earlier publishes.
///
/// Also returns rows whose path was purged but whose document still exists. A copy that was made
/// during a removal can contain such rows, and their prefix is no longer known.
pub(super) fn rows(view: &View, bucket: u64, prefix: Option<&str>) -> Vec<u64> {
    let prefix = prefix.unwrap_or_default().as_bytes();
    let column = &view.column;
    let owned = (0..column.rows()).filter(|&row| column.owner(row) == bucket);
    let is_left = |row: u64| column.path(row).is_empty() && view.document(row + 1).is_some();
    owned.filter(|&row| column.path(row).starts_with(prefix) || is_left(row)).collect()
}

/// If rewrites still fail after this number of rounds, check the index for damage.
const ROUNDS: usize = 100;

/// Rewrites every segment with deleted documents, so that their data is gone from disk once the old
/// files are deleted.
pub(super) fn rewrite_segments(index: &Index, writer: &mut IndexWriter) -> Result<(), EngineError> {
    for round in 1..=10_000 {
        let metas = index.load_metas()?;
        let dirty = metas.segments.iter().filter(|segment| segment.num_deleted_docs() > 0);
        let dirty: Vec<_> = dirty.map(tantivy::SegmentMeta::id).collect();
        drop(metas);
        if dirty.is_empty() {
            writer.garbage_collect_files().wait()?;
            return Ok(());
        }
        // Each failed attempt leaves files behind, so stop retrying if it can't succeed.
        if round == ROUNDS
            && let Some(file) = index.validate_checksum()?.into_iter().next()
        {
            let text = format!("{} is damaged: restore or rebuild the index", file.display());
            return Err(EngineError::Broken(text));
        }
        for segment in dirty {
            // This fails while the segment is being merged in the background. We'll try again in
            // the next round.
            if writer.merge(&[segment]).wait().is_err() {
                std::thread::sleep(Duration::from_millis(20));
            }
        }
    }
    Err(EngineError::Broken("segments with deleted files could not be rewritten".to_owned()))
}
