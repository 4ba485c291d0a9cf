//! Commits documents, the path column and the journal together.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use tantivy::index::SegmentReader;
use tantivy::query::Query;
use tantivy::query::doc_predicate_query::{DocPredicateQuery, FunctionPredicate};
use tantivy::{
    Directory, DocId, Executor, Index, IndexReader, IndexWriter, ReloadPolicy, TantivyDocument,
    TantivyError,
};

use super::super::column::ColumnWriter;
use super::super::lock::retry_while;
use super::super::schema::{COLUMN, Fields, ID};
use super::super::view::{self, Reach, View};
use super::{publish, purge};
use crate::engine::bitmap::Bitmap;
use crate::engine::error::EngineError;
use crate::engine::index::{FileWriter, NewFile, PublishRules};
use crate::engine::journal::{Journal, Mode, NamedBucket, OpenRun, Publish, PublishCounts};
use crate::engine::limits::Limits;
use crate::model::identity::Identity;
use crate::model::{Attribute, extension, path};

/// Number of documents to hand over to an indexing thread at a time.
const BATCH: usize = 256;

/// Writes to an embedded index.
pub(in super::super) struct EmbeddedWriter {
    folder: PathBuf,
    fields: Fields,
    index: Index,
    reader: IndexReader,
    writer: IndexWriter,
    column: ColumnWriter,
    journal: Journal,
    memory: usize,
    rules: PublishRules,
    /// Rows of the open run that are marked as changed, in ascending order. The marks are lost if
    /// the process is killed.
    marked: Vec<u64>,
    /// Buckets changed by the last publish.
    changed: Bitmap,
}

impl EmbeddedWriter {
    /// Opens an index at its last commit.
    pub(in super::super) fn open(
        folder: &Path,
        index: &Index,
        fields: Fields,
        memory_mb: usize,
    ) -> Result<Self, EngineError> {
        let threads = std::thread::available_parallelism().map_or(1, usize::from).min(8);
        let memory = memory_mb.max(64) << 20;
        // Half of the memory is for indexing threads. Merges, the column and publishing share the
        // other half.
        let budget = (memory / 2).max(threads * (16 << 20));
        let writer: IndexWriter = retry_while(
            || index.writer_with_num_threads(threads, budget),
            |opened| matches!(opened, Err(TantivyError::LockFailure(..))),
        )?;
        // Clean up after a killed writer. Otherwise, we would reuse the names of files that it left
        // behind.
        writer.garbage_collect_files().wait()?;
        let journal = view::journal(&index.load_metas()?)?;
        let column = ColumnWriter::open(&folder.join(COLUMN), journal.rows, journal.bytes)?;
        let reader = index.reader_builder().reload_policy(ReloadPolicy::Manual).try_into()?;
        Ok(Self {
            folder: folder.to_owned(),
            fields,
            index: index.clone(),
            reader,
            writer,
            column,
            journal,
            memory,
            rules: PublishRules::default(),
            marked: Vec::new(),
            changed: Bitmap::default(),
        })
    }

    fn document(&self, file: &NewFile, id: u64, run: u64) -> TantivyDocument {
        let fields = self.fields;
        let name = path::file_name(&file.path);
        let mut document = TantivyDocument::with_capacity(64 + 3 * file.path.len());
        document.add_text(fields.name_words, name);
        document.add_text(fields.path_words, &file.path);
        if let Some(trigrams) = fields.name_trigrams {
            document.add_text(trigrams, name);
        }
        if let Some(shortest) = fields.shortest_extension {
            document.add_text(shortest, extension::shortest(name));
        }
        extension::for_each(name, |suffix| document.add_text(fields.extension, suffix));
        document.add_u64(fields.bucket, file.bucket);
        document.add_u64(fields.kind, file.kind);
        document.add_u64(fields.run, run);
        document.add_u64(fields.id, id);
        for attribute in Attribute::ALL {
            document.add_i64(fields.attributes[attribute], file.attributes[attribute]);
        }
        document
    }

    /// Commits all changes, together with the journal.
    fn commit(&mut self, mut journal: Journal) -> Result<(), EngineError> {
        self.column.sync()?;
        (journal.rows, journal.bytes) = self.column.size();
        let payload = serde_json::to_string(&journal)
            .map_err(|error| EngineError::Broken(error.to_string()))?;
        let mut commit = self.writer.prepare_commit()?;
        commit.set_payload(&payload);
        commit.commit()?;
        // Tantivy syncs the folder before it renames the new `meta.json`, but not afterwards. A
        // power failure could then bring the old state back even though the database already knows
        // about the publish.
        self.index.directory().sync_directory()?;
        self.journal = journal;
        Ok(())
    }

    fn view(&self) -> Result<View, EngineError> {
        let judges = Executor::single_thread();
        View::open(&self.folder, &self.index, self.fields, &self.reader, &judges, Reach::OpenRun)
    }

    fn open_run(&self) -> Result<&OpenRun, EngineError> {
        let open = self.journal.open.as_ref();
        open.ok_or_else(|| EngineError::Broken("there is no open run".to_owned()))
    }

    fn doom(&mut self, rows: Bitmap) -> Result<(), EngineError> {
        if rows.count() > 0 {
            self.writer.delete_query(documents_of(rows))?;
        }
        Ok(())
    }

    /// Drops the open run's rows and adds the surviving files again, so that dead rows don't take
    /// up space. If the process is killed in between, the run is left without any files, and
    /// resuming it reads the sources again.
    fn rewrite_run(&mut self, survivors: &[NewFile]) -> Result<(), EngineError> {
        let open = self.open_run()?.clone();
        self.writer.delete_term(tantivy::Term::from_field_u64(self.fields.run, open.run));
        self.column.rewind(open.first_row, open.first_byte)?;
        if survivors.is_empty() {
            return Ok(());
        }
        let open = OpenRun { progress: String::new(), ..open };
        self.commit(Journal { open: Some(open), ..self.journal.clone() })?;
        self.column.forget()?;
        self.add(survivors)
    }
}

impl FileWriter for EmbeddedWriter {
    fn journal(&self) -> &Journal {
        &self.journal
    }

    fn dead_rows(&self) -> Result<u64, EngineError> {
        let segments = self.index.load_metas()?.segments;
        let living: u64 = segments.iter().map(|segment| u64::from(segment.num_docs())).sum();
        Ok(self.journal.rows.saturating_sub(living))
    }

    fn identify(&mut self, identity: Identity) {
        self.journal.identity = identity;
    }

    fn rules(&mut self) -> &mut PublishRules {
        &mut self.rules
    }

    fn begin(&mut self, run: u64) -> Result<(), EngineError> {
        self.marked.clear();
        let (first_row, first_byte) = self.column.size();
        let open = OpenRun { run, first_row, first_byte, progress: String::new() };
        self.commit(self.journal.with_run(open))
    }

    fn add(&mut self, files: &[NewFile]) -> Result<(), EngineError> {
        let run = self.open_run()?.run;
        for batch in files.chunks(BATCH) {
            let mut documents = Vec::with_capacity(batch.len());
            for file in batch {
                let id = self.column.push(&file.path, file.bucket)?;
                if file.is_changed {
                    self.marked.push(id - 1);
                }
                documents.push(tantivy::indexer::UserOperation::Add(self.document(file, id, run)));
            }
            self.writer.run(documents)?;
        }
        Ok(())
    }

    fn checkpoint(&mut self, progress: String) -> Result<(), EngineError> {
        let open = OpenRun { progress, ..self.open_run()?.clone() };
        self.commit(Journal { open: Some(open), ..self.journal.clone() })
    }

    fn publish(
        &mut self,
        mode: Mode,
        buckets: Vec<NamedBucket>,
        at: i64,
    ) -> Result<PublishCounts, EngineError> {
        let run = self.open_run()?.run;
        let progress = self.open_run()?.progress.clone();
        self.checkpoint(progress)?;
        let view = self.view()?;
        let wanted = publish::Wanted {
            run,
            mode,
            buckets: &buckets,
            newer: self.rules.newer.as_ref(),
            marked: &self.marked,
            noted: &self.rules.noted,
        };
        let publish::Changes { mut doomed, counts, changed, confirmed, losses } =
            publish::compare(&view, wanted, self.memory / 2)?;
        let exceeded =
            self.rules.removal_limit.map(|limit| limit.exceeded(losses)).unwrap_or_default();
        if !exceeded.is_empty() {
            return Err(EngineError::TooManyRemoved(exceeded));
        }
        let first_row = self.open_run()?.first_row;
        let survivors = publish::few_survivors(&view, &doomed, first_row, self.memory / 4)?;
        drop(view);
        if let Some(survivors) = &survivors {
            self.rewrite_run(survivors)?;
            doomed.truncate(first_row);
        }
        self.doom(doomed)?;
        let begun_at = self.rules.begun_at;
        let published = Publish { run, at, buckets, counts, confirmed, begun_at };
        self.commit(self.journal.with_publish(published))?;
        if survivors.is_some() {
            self.column.forget()?;
        }
        self.changed = changed;
        Ok(counts)
    }

    fn changed_buckets(&self) -> &Bitmap {
        &self.changed
    }

    fn abort(&mut self) -> Result<(), EngineError> {
        let open = self.open_run()?.clone();
        self.checkpoint(open.progress.clone())?;
        let term = tantivy::Term::from_field_u64(self.fields.run, open.run);
        self.writer.delete_term(term);
        // The run's rows are at the end, so their space can be reused.
        self.column.rewind(open.first_row, open.first_byte)?;
        let sequence = self.journal.sequence + 1;
        self.commit(Journal { sequence, open: None, ..self.journal.clone() })?;
        self.column.forget()
    }

    fn remove(
        &mut self,
        removal: i64,
        bucket: u64,
        prefix: Option<&str>,
        progress: Option<String>,
    ) -> Result<u64, EngineError> {
        if let Some(progress) = progress {
            self.checkpoint(progress)?;
        }
        let view = self.view()?;
        let deletions = purge::rows(&view, bucket, prefix);
        let visible = view.visible(&Limits::none())?.0.clone();
        let hidden = deletions.iter().filter(|&&row| visible.contains(row)).count() as u64;
        let mut doomed = Bitmap::new(view.column.rows());
        deletions.iter().for_each(|&row| doomed.insert(row));
        self.doom(doomed)?;
        self.column.announce_purge(&view.column, &deletions)?;
        self.commit(self.journal.with_removal(removal, hidden))?;
        self.column.purge(&view.column, &deletions)?;
        drop(view);
        purge::rewrite_segments(&self.index, &mut self.writer)?;
        Ok(self.journal.removed)
    }
}

/// Returns a query that matches the documents of these rows.
fn documents_of(rows: Bitmap) -> Box<dyn Query> {
    let rows = Arc::new(rows);
    let predicate = FunctionPredicate::from(move |reader: &SegmentReader| {
        let ids = reader.fast_fields().column_first_or_default::<u64>(ID)?;
        let rows = Arc::clone(&rows);
        Ok(move |document: DocId| rows.contains(ids.get_val(document).wrapping_sub(1)))
    });
    let query: DocPredicateQuery = predicate.into();
    Box::new(query)
}
