//! Erases the data of removed files from disk.

use std::time::Duration;

use tantivy::{Index, IndexWriter};

use super::super::view::View;
use crate::engine::error::EngineError;

/// Returns all rows of a bucket or prefix, including rows from earlier publishes.
///
/// Also returns rows whose path was purged but whose document still exists, and rows that were only
/// purged in part. A copy that was made during a removal, or a killed removal, may leave such rows
/// behind, and their prefix is no longer known.
pub(super) fn rows(view: &View, bucket: u64, prefix: Option<&str>) -> Vec<u64> {
    let prefix = prefix.unwrap_or_default().as_bytes();
    let column = &view.column;
    let owned = (0..column.rows()).filter(|&row| column.owner(row) == bucket);
    let is_left = |row: u64| match column.path(row) {
        [] => view.document(row + 1).is_some() || column.is_torn(row),
        _ => column.is_torn(row),
    };
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

#[cfg(test)]
mod tests {
    use std::fs::OpenOptions;
    use std::os::unix::fs::FileExt;
    use std::path::Path;

    use super::super::super::index::EmbeddedIndex;
    use super::super::super::schema::COLUMN;
    use crate::engine::index::{FileIndex, NewFile};
    use crate::engine::journal::{Mode, NamedBucket};
    use crate::engine::limits::Limits;
    use crate::model::Attributes;
    use crate::model::file_query::FileQuery;

    const SECRET: &str = "private/zyzzyvas.txt";

    /// Publishes a file below a prefix, and another one.
    fn published(folder: &Path) -> EmbeddedIndex {
        let index = EmbeddedIndex::open_or_create(folder).unwrap();
        let mut writer = index.writer(64).unwrap();
        writer.begin(1).unwrap();
        let file = |path: &str| {
            let (path, attributes) = (path.to_owned(), Attributes::from_fn(|_| 1));
            NewFile { bucket: 1, kind: 0, path, attributes, is_changed: false }
        };
        writer.add(&[file(SECRET), file("public.txt")]).unwrap();
        let named = NamedBucket { id: 1, truncated: false, partial: false };
        writer.publish(Mode::Append, vec![named], 1).unwrap();
        index.refresh().unwrap();
        index
    }

    /// Overwrites part of the first path.
    fn write(folder: &Path, at: usize, bytes: &[u8]) {
        let paths = OpenOptions::new().write(true).open(folder.join(COLUMN).join("paths")).unwrap();
        paths.write_all_at(bytes, at as u64).unwrap();
    }

    /// A kill can come between two memory pages of a path.
    #[test]
    fn removal_erases_the_rest_of_a_path_that_a_killed_one_has_left() {
        for (at, rest) in [(8, &SECRET[8..]), (0, &SECRET[..4]), (10, &SECRET[10..12])] {
            let folder = tempfile::tempdir().unwrap();
            let index = published(folder.path());
            let removed = index.writer(64).unwrap().remove(1, 1, Some("private/"), None).unwrap();
            write(folder.path(), at, rest.as_bytes());
            let again = index.writer(64).unwrap().remove(1, 1, Some("private/"), None).unwrap();
            assert_eq!((removed, again), (1, 1), "hidden by the first attempt");
            let paths = std::fs::read(folder.path().join(COLUMN).join("paths")).unwrap();
            assert!(paths.starts_with(&[0; SECRET.len()]), "{at}");
            index.refresh().unwrap();
            assert_eq!(index.verify().unwrap(), Vec::<String>::new(), "{at}");
        }
    }

    #[test]
    fn path_that_is_being_erased_is_not_shown() {
        let folder = tempfile::tempdir().unwrap();
        let index = published(folder.path());
        let query = FileQuery { limit: 10, ..FileQuery::default() };
        write(folder.path(), 8, &[0; SECRET.len() - 8]);
        let rows = index.search(&query, &Limits::none()).unwrap().rows;
        let paths: Vec<&str> = rows.iter().map(|row| row.path.as_str()).collect();
        assert_eq!(paths, ["public.txt"]);
    }
}
