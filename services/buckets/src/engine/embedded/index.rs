//! The index for one generation, stored in a folder.

use std::io::ErrorKind;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use parking_lot::RwLock;
use tantivy::{Executor, Index, IndexReader, ReloadPolicy};

use super::column::ColumnWriter;
use super::index_directory::IndexDirectory;
use super::list::EmbeddedList;
use super::lock::FolderLock;
use super::schema::{self, COLUMN, Fields, NAME_TRIGRAMS, TOKENIZER, WORDS, WordTokenizer};
use super::trigrams::TrigramTokenizer;
use super::view::{self, Reach, View};
use super::{facets, page, verify, writer};
use crate::engine::error::EngineError;
use crate::engine::index::{FileIndex, FileList, FileWriter};
use crate::engine::journal::IndexSummary;
use crate::engine::limits::Limits;
use crate::model::facets::Facets;
use crate::model::file_query::{FileQuery, Found};

/// A generation of the index on local disk.
pub struct EmbeddedIndex {
    folder: PathBuf,
    index: Index,
    fields: Fields,
    reader: IndexReader,
    judges: Executor,
    view: RwLock<Arc<View>>,
    /// Keeps other processes from deleting the folder.
    _in_use: FolderLock,
}

impl EmbeddedIndex {
    /// Opens the index in a folder.
    pub fn open(folder: &Path) -> Result<Self, EngineError> {
        let missing = || EngineError::Missing(folder.display().to_string());
        if !is_in(folder)? {
            return Err(missing());
        }
        let in_use = match FolderLock::shared(folder) {
            Err(EngineError::Io(error)) if error.kind() == ErrorKind::NotFound => {
                return Err(missing());
            }
            taken => taken?,
        };
        // The generation might have been dropped while we were waiting for the lock.
        if !is_in(folder)? {
            return Err(missing());
        }
        let mut index = Index::open(IndexDirectory::open(&folder.join(WORDS))?)?;
        index.tokenizers().register(TOKENIZER, WordTokenizer::default());
        index.tokenizers().register(NAME_TRIGRAMS, TrigramTokenizer::default());
        index.set_default_multithread_executor()?;
        let fields = Fields::of(&index.schema())?;
        let reader = index.reader_builder().reload_policy(ReloadPolicy::Manual).try_into()?;
        let threads = std::thread::available_parallelism().map_or(1, usize::from);
        let judges = Executor::multi_thread(threads, "judge-")?;
        let view = View::open(folder, &index, fields, &reader, &judges, Reach::Published)?;
        let view = RwLock::new(Arc::new(view));
        let folder = folder.to_owned();
        Ok(Self { folder, index, fields, reader, judges, view, _in_use: in_use })
    }

    /// Opens the index in a folder, creating an empty one if it doesn't exist. Requires the write
    /// lock, because creating an index overwrites the folder.
    pub fn open_or_create(folder: &Path) -> Result<Self, EngineError> {
        if !is_in(folder)? {
            std::fs::create_dir_all(folder.join(WORDS))?;
            ColumnWriter::open(&folder.join(COLUMN), 0, 0)?.sync()?;
            Index::open_or_create(IndexDirectory::open(&folder.join(WORDS))?, schema::schema())?;
        }
        Self::open(folder)
    }

    /// Describes any damage to the index files in a folder. The folder doesn't have to contain an
    /// index.
    pub fn damage(folder: &Path) -> Result<Vec<String>, EngineError> {
        checked(folder, verify::damage)
    }

    /// Returns the number of paths in a folder's index that don't have a checksum because an
    /// earlier version wrote them. Damage to these paths can't be detected.
    pub fn unchecked_paths(folder: &Path) -> Result<u64, EngineError> {
        checked(folder, verify::unchecked_paths)
    }

    fn view(&self) -> Arc<View> {
        Arc::clone(&self.view.read())
    }
}

/// Checks the index in a folder. Returns the default if there isn't one.
fn checked<T: Default>(
    folder: &Path,
    check: impl FnOnce(&Path) -> Result<T, EngineError>,
) -> Result<T, EngineError> {
    if !is_in(folder)? {
        return Ok(T::default());
    }
    let _in_use = match FolderLock::shared(folder) {
        Err(EngineError::Io(error)) if error.kind() == ErrorKind::NotFound => {
            return Ok(T::default());
        }
        taken => taken?,
    };
    check(folder)
}

/// Returns `true` if the folder contains an index, which is the case after the first commit.
/// Returns an error if the folder can't be read, since it might contain an index.
fn is_in(folder: &Path) -> Result<bool, EngineError> {
    Ok(folder.join(WORDS).join("meta.json").try_exists()?)
}

impl FileIndex for EmbeddedIndex {
    fn search(&self, query: &FileQuery, limits: &Limits) -> Result<Found, EngineError> {
        limits.check()?;
        page::answer(&self.view(), query, limits)
    }

    fn list(&self, query: &FileQuery, limits: &Limits) -> Result<Box<dyn FileList>, EngineError> {
        limits.check()?;
        Ok(Box::new(EmbeddedList::of(self.view(), query, limits)?))
    }

    fn facets(&self, query: &FileQuery, limits: &Limits) -> Result<Facets, EngineError> {
        limits.check()?;
        facets::facets(&self.view(), query, limits)
    }

    fn summary(&self) -> Arc<IndexSummary> {
        Arc::clone(&self.view().summary)
    }

    fn refresh(&self) -> Result<bool, EngineError> {
        let seen = self.view().summary.journal.sequence;
        if view::journal(&self.index.load_metas()?)?.sequence == seen {
            return Ok(false);
        }
        let Self { folder, index, fields, reader, judges, .. } = self;
        let view = View::open(folder, index, *fields, reader, judges, Reach::Published)?;
        *self.view.write() = Arc::new(view);
        Ok(true)
    }

    fn verify(&self) -> Result<Vec<String>, EngineError> {
        verify::faults(&self.folder, &self.index, &self.view())
    }

    fn writer(&self, memory_mb: usize) -> Result<Box<dyn FileWriter>, EngineError> {
        let writer =
            writer::EmbeddedWriter::open(&self.folder, &self.index, self.fields, memory_mb)?;
        Ok(Box::new(writer))
    }
}

#[cfg(test)]
mod tests {
    use tantivy::Term;
    use tantivy::schema::SchemaBuilder;

    use super::super::schema::SHORTEST_EXTENSION;
    use super::*;
    use crate::engine::index::NewFile;
    use crate::engine::journal::{Mode, NamedBucket};
    use crate::model::expression::Expression;
    use crate::model::file_query::{Matching, Order};
    use crate::model::keywords::Keywords;
    use crate::model::{Attribute, Attributes};

    fn file(&(bucket, path): &(u64, &str)) -> NewFile {
        let (path, attributes) = (path.to_owned(), Attributes::from_fn(|_| 1));
        NewFile { bucket, kind: 0, path, attributes, is_changed: false }
    }

    fn publish(index: &EmbeddedIndex, files: &[(u64, &str)]) {
        let mut writer = index.writer(64).unwrap();
        writer.begin(1).unwrap();
        writer.add(&files.iter().map(file).collect::<Vec<_>>()).unwrap();
        let named = |&(id, _): &(u64, &str)| NamedBucket { id, truncated: false, partial: false };
        writer.publish(Mode::Append, files.iter().map(named).collect(), 1).unwrap();
        index.refresh().unwrap();
    }

    fn total(index: &EmbeddedIndex, expression: &str) -> u64 {
        let expression = Expression::parse(expression, true).unwrap();
        let matching = Matching::Expression(Arc::new(expression));
        index
            .search(&FileQuery { matching, ..FileQuery::default() }, &Limits::none())
            .unwrap()
            .total
    }

    #[test]
    fn old_view_excludes_rows_of_aborted_and_next_run() {
        let folder = tempfile::tempdir().unwrap();
        let index = EmbeddedIndex::open_or_create(folder.path()).unwrap();
        publish(&index, &[(1, "a/7.txt"), (1, "b.txt")]);
        for length in [3, 300] {
            let mut writer = index.writer(64).unwrap();
            writer.begin(2).unwrap();
            writer.add(&vec![file(&(1, "rejected 1")); 100]).unwrap();
            writer.checkpoint("{}".to_owned()).unwrap();
            let server = EmbeddedIndex::open(folder.path()).unwrap();
            writer.abort().unwrap();
            writer.begin(3).unwrap();
            let path = "1".repeat(length);
            writer.add(&vec![file(&(1, path.as_str())); 200]).unwrap();
            writer.checkpoint("{}".to_owned()).unwrap();
            assert_eq!((total(&server, "[0-9]"), total(&server, "txt")), (1, 2));
            assert_eq!(server.verify().unwrap(), Vec::<String>::new());
            writer.abort().unwrap();
        }
    }

    #[test]
    fn searches_stop_within_a_segment() {
        let folder = tempfile::tempdir().unwrap();
        let index = EmbeddedIndex::open_or_create(folder.path()).unwrap();
        let names: Vec<String> = (0..40_000).map(|n| format!("img {n}.jpg")).collect();
        publish(&index, &names.iter().map(|name| (1, name.as_str())).collect::<Vec<_>>());
        let words = |text: &str| Matching::Words(Keywords::parse(text).unwrap());
        let expression = Expression::parse(".*g [0-9].*x.*", true).unwrap();
        for (matching, order, types) in [
            (words("img"), Order::By(Attribute::Size), vec![]),
            (words("\"jpg img\""), Order::Index, vec![]),
            (words("-\"jpg img\""), Order::Index, vec![]),
            (Matching::All, Order::Index, vec![]),
            (Matching::Expression(Arc::new(expression)), Order::Index, vec![0]),
        ] {
            let query = FileQuery { matching, order, types, limit: 10, ..FileQuery::default() };
            assert!(index.search(&query, &Limits::none()).is_ok());
            let fresh = EmbeddedIndex::open(folder.path()).unwrap();
            // One check at the start, one at the end, and two per segment.
            let limits = Limits::after_checks(2 + 2 * fresh.view().segments.len());
            let found = fresh.search(&query, &limits);
            assert!(matches!(found, Err(EngineError::Stopped)), "{query:?}: {found:?}");
        }
    }

    #[test]
    fn index_without_later_fields_is_supported() {
        let folder = tempfile::tempdir().unwrap();
        let mut older = SchemaBuilder::new();
        let later = [NAME_TRIGRAMS, SHORTEST_EXTENSION];
        for (_, entry) in schema::schema().fields().filter(|(_, e)| !later.contains(&e.name())) {
            older.add_field(entry.clone());
        }
        std::fs::create_dir_all(folder.path().join(WORDS)).unwrap();
        Index::create_in_dir(folder.path().join(WORDS), older.build()).unwrap();
        ColumnWriter::open(&folder.path().join(COLUMN), 0, 0).unwrap();
        let index = EmbeddedIndex::open(folder.path()).unwrap();
        assert!(index.fields.name_trigrams.is_none());
        publish(&index, &[(1, "a/backup.sql"), (1, "b")]);
        assert_eq!((total(&index, "backup"), total(&index, r".*\.sql")), (1, 1));
        let facets = index.facets(&FileQuery::default(), &Limits::none()).unwrap();
        assert_eq!(facets.total(), 2);
        assert_eq!(facets.extensions.into_iter().collect::<Vec<_>>(), [("sql".to_owned(), 1)]);
    }

    #[test]
    fn removal_erases_trigrams() {
        let folder = tempfile::tempdir().unwrap();
        let index = EmbeddedIndex::open_or_create(folder.path()).unwrap();
        publish(&index, &[(1, "a/qzx-secret.txt"), (2, "b.txt")]);
        let files = |gram: &str| {
            let term = Term::from_field_text(index.fields.name_trigrams.unwrap(), gram);
            // Deleted documents still count until the segment is rewritten.
            index.view().searcher.doc_freq(&term).unwrap()
        };
        assert_eq!((files("qzx"), files("\0qz"), files(".tx")), (1, 1, 2));
        index.writer(64).unwrap().remove(1, 1, None, None).unwrap();
        index.refresh().unwrap();
        assert_eq!((files("qzx"), files("\0qz"), files(".tx")), (0, 0, 1));
        assert_eq!((total(&index, "qzx"), total(&index, "txt")), (0, 1));
    }

    #[test]
    fn removal_erases_extensions() {
        let folder = tempfile::tempdir().unwrap();
        let index = EmbeddedIndex::open_or_create(folder.path()).unwrap();
        publish(&index, &[(1, "a.qzxsecret"), (2, "b.txt")]);
        let extensions = || {
            let view = index.view();
            let columns = view
                .segments
                .iter()
                .flat_map(|segment| segment.reader.fast_fields().str(SHORTEST_EXTENSION).unwrap());
            columns.map(|column| column.num_terms()).sum::<usize>()
        };
        assert_eq!(extensions(), 2);
        index.writer(64).unwrap().remove(1, 1, None, None).unwrap();
        index.refresh().unwrap();
        assert_eq!(extensions(), 1);
    }
}
