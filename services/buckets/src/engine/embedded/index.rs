//! The index of one generation, in one folder.

use std::path::{Path, PathBuf};
use std::sync::{Arc, PoisonError, RwLock};

use tantivy::directory::MmapDirectory;
use tantivy::{Index, IndexReader, ReloadPolicy};

use super::column::ColumnWriter;
use super::lock::FolderLock;
use super::schema::{self, COLUMN, Fields, TOKENIZER, WORDS, WordTokenizer};
use super::view::{self, View};
use super::{page, verify, writer};
use crate::engine::error::EngineError;
use crate::engine::index::{FileIndex, FileWriter};
use crate::engine::journal::IndexSummary;
use crate::engine::limits::Limits;
use crate::model::file_query::{FileQuery, Found};

/// One generation of the index in one folder.
pub struct EmbeddedIndex {
    folder: PathBuf,
    index: Index,
    fields: Fields,
    reader: IndexReader,
    view: RwLock<Arc<View>>,
    /// Keeps the folder from being deleted while it is read.
    _in_use: FolderLock,
}

impl EmbeddedIndex {
    /// Opens the index of a folder.
    pub fn open(folder: &Path) -> Result<Self, EngineError> {
        if !folder.join(WORDS).join("meta.json").exists() {
            return Err(EngineError::Missing(folder.display().to_string()));
        }
        let in_use = FolderLock::shared(folder)?;
        let mut index = Index::open_in_dir(folder.join(WORDS))?;
        index.tokenizers().register(TOKENIZER, WordTokenizer::default());
        index.set_default_multithread_executor()?;
        let (_, fields) = schema::schema();
        let reader = index.reader_builder().reload_policy(ReloadPolicy::Manual).try_into()?;
        let view = View::open(folder, &index, fields, &reader)?;
        let view = RwLock::new(Arc::new(view));
        Ok(Self { folder: folder.to_owned(), index, fields, reader, view, _in_use: in_use })
    }

    /// Opens the index of a folder, or makes an empty one.
    pub fn open_or_create(folder: &Path) -> Result<Self, EngineError> {
        if !folder.join(WORDS).join("meta.json").exists() {
            std::fs::create_dir_all(folder.join(WORDS))?;
            ColumnWriter::open(&folder.join(COLUMN), 0, 0)?.sync()?;
            let directory = MmapDirectory::open(folder.join(WORDS))
                .map_err(|error| EngineError::Broken(error.to_string()))?;
            Index::open_or_create(directory, schema::schema().0)?;
        }
        Self::open(folder)
    }

    fn view(&self) -> Arc<View> {
        Arc::clone(&self.view.read().unwrap_or_else(PoisonError::into_inner))
    }
}

impl FileIndex for EmbeddedIndex {
    fn search(&self, query: &FileQuery, limits: &Limits) -> Result<Found, EngineError> {
        limits.check()?;
        page::answer(&self.view(), query, limits)
    }

    fn summary(&self) -> Arc<IndexSummary> {
        Arc::clone(&self.view().summary)
    }

    fn refresh(&self) -> Result<bool, EngineError> {
        let seen = self.view().summary.journal.sequence;
        if view::journal(&self.index.load_metas()?)?.sequence == seen {
            return Ok(false);
        }
        let view = View::open(&self.folder, &self.index, self.fields, &self.reader)?;
        *self.view.write().unwrap_or_else(PoisonError::into_inner) = Arc::new(view);
        Ok(true)
    }

    fn verify(&self) -> Result<Vec<String>, EngineError> {
        verify::faults(&self.index, &self.view())
    }

    fn writer(&self, memory_mb: usize) -> Result<Box<dyn FileWriter>, EngineError> {
        let writer =
            writer::EmbeddedWriter::open(&self.folder, &self.index, self.fields, memory_mb)?;
        Ok(Box::new(writer))
    }
}
