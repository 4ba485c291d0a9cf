//! A published state of the index, with everything searches need.

use std::cmp::Reverse;
use std::collections::BTreeMap;
use std::path::Path;
use std::sync::{Arc, OnceLock};

use parking_lot::Mutex;
use tantivy::collector::Collector;
use tantivy::query::{AllQuery, BooleanQuery, EnableScoring, Occur, Query, TermQuery};
use tantivy::schema::IndexRecordOption;
use tantivy::{DocId, Executor, Index, IndexMeta, IndexReader, Searcher, SegmentOrdinal, Term};

use super::blocks::Limited;
use super::collect::{BitCollector, CountCollector};
use super::column::PathColumn;
use super::directories::Directories;
use super::schema::{COLUMN, Fields, WORDS};
use super::segment::Segment;
use crate::engine::bitmap::Bitmap;
use crate::engine::error::EngineError;
use crate::engine::journal::{IndexSummary, Journal};
use crate::engine::limits::Limits;
use crate::model::Attributes;
use crate::model::file_query::{FileQuery, FileRow};

/// A published state of the index.
pub(super) struct View {
    pub(super) searcher: Searcher,
    pub(super) fields: Fields,
    pub(super) column: PathColumn,
    pub(super) segments: Vec<Arc<Segment>>,
    /// The order in which searches start on segments.
    order: Vec<SegmentOrdinal>,
    pub(super) summary: Arc<IndexSummary>,
    visible: OnceLock<(Bitmap, u64)>,
    directories: OnceLock<Option<Directories>>,
    /// Number of visible files by shortest extension. Set once they have been counted, unless there
    /// are too many extensions.
    pub(super) extensions: OnceLock<BTreeMap<String, u64>>,
    /// Locked while the directories are being collected.
    gathering: Mutex<()>,
    /// Thread pool for searches that check names. Word searches have their own pool, so that they
    /// never have to wait for name checks.
    pub(super) judges: Executor,
}

/// Selects the visible rows of the path column.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Reach {
    /// Rows before the open run. The run's own rows will be overwritten if it is aborted.
    Published,
    /// All rows, including the open run. Only for the writer.
    OpenRun,
}

impl View {
    /// Opens the last commit.
    pub(super) fn open(
        folder: &Path,
        index: &Index,
        fields: Fields,
        reader: &IndexReader,
        judges: &Executor,
        reach: Reach,
    ) -> Result<Self, EngineError> {
        let (searcher, journal) = paired(index, reader)?;
        let (rows, bytes) = match reach {
            Reach::Published => journal.published_rows(),
            Reach::OpenRun => (journal.rows, journal.bytes),
        };
        let column = PathColumn::open(&folder.join(COLUMN), rows, bytes)?;
        let segments: Vec<_> = searcher
            .segment_readers()
            .iter()
            .map(|reader| Segment::open(reader).map(Arc::new))
            .collect::<Result<_, _>>()?;
        let mut view = Self {
            searcher,
            fields,
            column,
            order: start_order(segments.iter().map(|segment| segment.reader.max_doc())),
            segments,
            summary: Arc::new(IndexSummary { journal, ..IndexSummary::default() }),
            visible: OnceLock::new(),
            directories: OnceLock::new(),
            extensions: OnceLock::new(),
            gathering: Mutex::default(),
            judges: judges.clone(),
        };
        let counts =
            view.searcher.search(&*view.visible_query(), &CountCollector(&view.segments))?;
        let journal = view.summary.journal.clone();
        view.summary = Arc::new(IndexSummary {
            dead_rows: journal.rows.saturating_sub(view.searcher.num_docs()),
            journal,
            counts: Arc::new(counts),
            disk_bytes: folder_bytes(&folder.join(WORDS)) + folder_bytes(&folder.join(COLUMN)),
        });
        Ok(view)
    }

    /// Returns the open run. Its rows are hidden.
    pub(super) fn hidden_run(&self) -> Option<u64> {
        self.summary.journal.open.as_ref().map(|open| open.run)
    }

    /// Returns a query for all visible documents.
    pub(super) fn visible_query(&self) -> Box<dyn Query> {
        let Some(run) = self.hidden_run() else {
            return Box::new(AllQuery);
        };
        let hidden = Term::from_field_u64(self.fields.run, run);
        let hidden = TermQuery::new(hidden, IndexRecordOption::Basic);
        Box::new(BooleanQuery::new(vec![
            (Occur::Must, Box::new(AllQuery)),
            (Occur::MustNot, Box::new(hidden)),
        ]))
    }

    /// Runs a query.
    ///
    /// # Errors
    /// Returns [`EngineError::Stopped`] if the search was stopped, even if there is a partial
    /// result.
    pub(super) fn gather<C: Collector>(
        &self,
        query: &dyn Query,
        collector: &C,
        limits: &Limits,
    ) -> Result<C::Fruit, EngineError> {
        self.gather_on(self.searcher.index().search_executor(), query, collector, limits)
    }

    /// Like [`View::gather`], but runs on another thread pool.
    pub(super) fn gather_on<C: Collector>(
        &self,
        executor: &Executor,
        query: &dyn Query,
        collector: &C,
        limits: &Limits,
    ) -> Result<C::Fruit, EngineError> {
        let weight = query.weight(EnableScoring::disabled_from_searcher(&self.searcher))?;
        let limited = Limited { collector, limits };
        let parts = self.each_segment(executor, |number, segment| {
            limited.collect_segment(&*weight, number, &segment.reader)
        });
        limits.check()?;
        Ok(collector.merge_fruits(parts?)?)
    }

    /// Calls `work` with each segment on a thread pool. The results are in no particular order.
    pub(super) fn each_segment<R: Send>(
        &self,
        executor: &Executor,
        work: impl Fn(SegmentOrdinal, &Segment) -> tantivy::Result<R> + Sync,
    ) -> tantivy::Result<Vec<R>> {
        let on = |number: SegmentOrdinal| work(number, &self.segments[number as usize]);
        executor.map(on, self.order.iter().copied())
    }

    /// Returns `true` if the visible files have been counted already.
    pub(super) fn knows_visible(&self) -> bool {
        self.visible.get().is_some()
    }

    /// Returns the rows of all visible files, and the number of rows.
    pub(super) fn visible(&self, limits: &Limits) -> Result<&(Bitmap, u64), EngineError> {
        if let Some(visible) = self.visible.get() {
            return Ok(visible);
        }
        let collector =
            BitCollector::new(&self.segments, self.column.rows(), &FileQuery::default());
        let bitmap = self.gather(&*self.visible_query(), &collector, limits)?;
        let count = bitmap.count();
        Ok(self.visible.get_or_init(|| (bitmap, count)))
    }

    /// Returns the directories of all paths, or `None` if they take up too much memory.
    pub(super) fn directories(&self, limits: &Limits) -> Result<Option<&Directories>, EngineError> {
        let _turn = match self.directories.get() {
            Some(_) => None,
            None => Some(limits.lock(&self.gathering)?),
        };
        if let Some(directories) = self.directories.get() {
            return Ok(directories.as_ref());
        }
        let directories = Directories::gather(&self.column, limits)?;
        Ok(self.directories.get_or_init(|| directories).as_ref())
    }

    /// Waits for memory and then reads rows by file id. Keeps the order of the ids and skips any
    /// rows that have since been purged.
    pub(super) fn rows(&self, ids: &[u64], limits: &Limits) -> Result<Vec<FileRow>, EngineError> {
        let paths = ids.iter().map(|id| self.column.path(id - 1).len()).sum();
        limits.wait_for_memory(ids.len(), paths)?;
        Ok(ids.iter().filter_map(|&id| self.row(id)).collect())
    }

    /// Finds a document by file id, unless it was deleted.
    pub(super) fn document(&self, id: u64) -> Option<(&Segment, DocId)> {
        self.segments.iter().find_map(|segment| Some((&**segment, segment.find(id)?)))
    }

    fn row(&self, id: u64) -> Option<FileRow> {
        let (segment, document) = self.document(id)?;
        // A removal may erase the path meanwhile, so check a copy.
        let path = String::from_utf8(self.column.path(id - 1).to_vec()).ok()?;
        if path.is_empty() || path.contains('\0') {
            return None;
        }
        Some(FileRow {
            id,
            bucket: segment.buckets.get_val(document),
            path,
            attributes: Attributes::from_fn(|attribute| {
                segment.attributes[attribute].get_val(document)
            }),
        })
    }
}

/// Returns the order in which to start on segments, given their numbers of documents. The largest
/// segments are at both ends: one thread of the pool starts from the last one, the others from the
/// first one. If a large segment came last, one thread would search it while the others are idle.
fn start_order(documents: impl Iterator<Item = DocId>) -> Vec<SegmentOrdinal> {
    let mut by_size: Vec<(SegmentOrdinal, DocId)> = (0..).zip(documents).collect();
    by_size.sort_unstable_by_key(|(_, documents)| Reverse(*documents));
    let numbers = || by_size.iter().map(|(number, _)| *number);
    numbers().step_by(2).chain(numbers().skip(1).step_by(2).rev()).collect()
}

/// Returns a searcher and a journal that belong to the same commit.
fn paired(index: &Index, reader: &IndexReader) -> Result<(Searcher, Journal), EngineError> {
    for _ in 0..1_000 {
        let metas = index.load_metas()?;
        reader.reload()?;
        let searcher = reader.searcher();
        let shown = searcher.generation().segments();
        let same = shown.len() == metas.segments.len()
            && metas
                .segments
                .iter()
                .all(|meta| shown.get(&meta.id()) == Some(&meta.delete_opstamp()));
        if same {
            return Ok((searcher, journal(&metas)?));
        }
    }
    Err(EngineError::Broken("commits are too frequent to read a consistent state".to_owned()))
}

/// Reads a commit's journal.
pub(super) fn journal(metas: &IndexMeta) -> Result<Journal, EngineError> {
    match &metas.payload {
        None => Ok(Journal::default()),
        Some(text) => serde_json::from_str(text)
            .map_err(|error| EngineError::Broken(format!("the journal cannot be read: {error}"))),
    }
}

fn folder_bytes(folder: &Path) -> u64 {
    let Ok(entries) = std::fs::read_dir(folder) else {
        return 0;
    };
    entries.flatten().filter_map(|entry| entry.metadata().ok()).map(|meta| meta.len()).sum()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn searches_start_on_the_largest_segments() {
        let order = |documents: &[DocId]| start_order(documents.iter().copied());
        assert_eq!(order(&[4, 32, 5, 33, 3]), [3, 2, 4, 0, 1]);
        assert_eq!(order(&[7]), [0]);
        assert!(order(&[]).is_empty());
    }
}
