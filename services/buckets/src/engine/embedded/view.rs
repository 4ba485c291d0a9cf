//! One published state of the index, ready to be searched.

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::{Arc, OnceLock};

use tantivy::columnar::ColumnValues;
use tantivy::query::{AllQuery, BooleanQuery, Occur, Query, TermQuery};
use tantivy::schema::IndexRecordOption;
use tantivy::{DocId, Index, IndexMeta, IndexReader, Searcher, SegmentReader, Term};

use super::collect::{BitCollector, CountCollector};
use super::column::PathColumn;
use super::schema::{BUCKET, Fields, ID, MODIFIED, RUN, SIZE};
use super::{COLUMN, WORDS};
use crate::engine::bitmap::Bitmap;
use crate::engine::{EngineError, Journal, Snapshot};
use crate::model::file_query::{FileQuery, FileRow};

/// A segment with its columns.
pub(super) struct Segment {
    pub(super) reader: SegmentReader,
    pub(super) ids: Arc<dyn ColumnValues<u64>>,
    pub(super) buckets: Arc<dyn ColumnValues<u64>>,
    pub(super) runs: Arc<dyn ColumnValues<u64>>,
    pub(super) sizes: Arc<dyn ColumnValues<i64>>,
    pub(super) modified: Arc<dyn ColumnValues<i64>>,
    /// Stretches of documents with ascending ids; a merge lays segments end to end.
    stretches: Vec<Stretch>,
}

struct Stretch {
    documents: std::ops::Range<DocId>,
    first: u64,
    last: u64,
}

/// One published state.
pub(super) struct View {
    pub(super) searcher: Searcher,
    pub(super) fields: Fields,
    pub(super) column: PathColumn,
    pub(super) segments: Vec<Arc<Segment>>,
    pub(super) snapshot: Arc<Snapshot>,
    visible: OnceLock<(Bitmap, u64)>,
}

impl View {
    /// Opens the state of the last commit.
    pub(super) fn open(
        folder: &Path,
        index: &Index,
        fields: Fields,
        reader: &IndexReader,
    ) -> Result<Self, EngineError> {
        let (searcher, journal) = paired(index, reader)?;
        let column = PathColumn::open(&folder.join(COLUMN), journal.rows, journal.bytes)?;
        let segments = searcher
            .segment_readers()
            .iter()
            .map(|reader| Segment::open(reader).map(Arc::new))
            .collect::<Result<_, _>>()?;
        let mut view = Self {
            searcher,
            fields,
            column,
            segments,
            snapshot: Arc::new(Snapshot { journal, ..Snapshot::default() }),
            visible: OnceLock::new(),
        };
        let counts = view.searcher.search(&*view.visible_query(), &CountCollector)?;
        view.snapshot = Arc::new(Snapshot {
            journal: view.snapshot.journal.clone(),
            counts: Arc::new(counts),
            disk_bytes: folder_bytes(&folder.join(WORDS)) + folder_bytes(&folder.join(COLUMN)),
        });
        Ok(view)
    }

    /// The run whose rows are hidden.
    pub(super) fn hidden_run(&self) -> Option<u64> {
        self.snapshot.journal.open.as_ref().map(|open| open.run)
    }

    /// Every visible document.
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

    /// The rows of all visible files and their number.
    pub(super) fn visible(&self) -> Result<&(Bitmap, u64), EngineError> {
        if let Some(visible) = self.visible.get() {
            return Ok(visible);
        }
        let collector = BitCollector::new(self.column.rows(), &FileQuery::default());
        let bitmap = self.searcher.search(&*self.visible_query(), &collector)?;
        let count = bitmap.count();
        Ok(self.visible.get_or_init(|| (bitmap, count)))
    }

    /// The rows with these file ids, in the same order; rows that were purged meanwhile are left
    /// out.
    pub(super) fn rows(&self, ids: &[u64]) -> Vec<FileRow> {
        ids.iter().filter_map(|&id| self.row(id)).collect()
    }

    fn row(&self, id: u64) -> Option<FileRow> {
        let (segment, document) =
            self.segments.iter().find_map(|segment| Some((segment, segment.find(id)?)))?;
        let path = self.column.path(id - 1);
        let path = std::str::from_utf8(path).ok().filter(|path| !path.is_empty())?;
        Some(FileRow {
            id,
            bucket: segment.buckets.get_val(document),
            path: path.to_owned(),
            size: segment.sizes.get_val(document),
            modified: segment.modified.get_val(document),
        })
    }
}

impl Segment {
    fn open(reader: &SegmentReader) -> Result<Self, EngineError> {
        let fast = reader.fast_fields();
        let ids = fast.column_first_or_default::<u64>(ID)?;
        let stretches = stretches(&*ids, reader.max_doc());
        Ok(Self {
            reader: reader.clone(),
            ids,
            buckets: fast.column_first_or_default(BUCKET)?,
            runs: fast.column_first_or_default(RUN)?,
            sizes: fast.column_first_or_default(SIZE)?,
            modified: fast.column_first_or_default(MODIFIED)?,
            stretches,
        })
    }

    /// Where the stretch of ascending ids ends that holds a document.
    pub(super) fn ascends_until(&self, document: DocId) -> DocId {
        let at = self.stretches.partition_point(|part| part.documents.end <= document);
        self.stretches.get(at).map_or(document, |part| part.documents.end)
    }

    /// The documents with ids above `id`, as stretches in which ids ascend.
    pub(super) fn stretches_behind(&self, id: u64) -> impl Iterator<Item = (DocId, DocId)> + '_ {
        self.stretches.iter().filter(move |part| part.last > id).map(move |part| {
            let start =
                if part.first > id { part.documents.start } else { self.seek(part, id + 1) };
            (start, part.documents.end)
        })
    }

    /// The living document with a file id.
    pub(super) fn find(&self, id: u64) -> Option<DocId> {
        let alive = |&document: &DocId| {
            self.reader.alive_bitset().is_none_or(|alive| alive.is_alive(document))
        };
        let around = self.stretches.iter().filter(|part| part.first <= id && id <= part.last);
        around.filter_map(|part| self.find_in(part, id)).find(alive)
    }

    fn find_in(&self, part: &Stretch, id: u64) -> Option<DocId> {
        let document = self.seek(part, id);
        (document < part.documents.end && self.ids.get_val(document) == id).then_some(document)
    }

    /// The first document of a stretch whose id is at least `id`.
    fn seek(&self, part: &Stretch, id: u64) -> DocId {
        let (mut low, mut high) = (part.documents.start, part.documents.end);
        while low < high {
            let middle = low + (high - low) / 2;
            if self.ids.get_val(middle) < id { low = middle + 1 } else { high = middle }
        }
        low
    }
}

/// Cuts a segment where ids descend.
fn stretches(ids: &dyn ColumnValues<u64>, documents: DocId) -> Vec<Stretch> {
    let mut stretches = Vec::new();
    let mut start = 0;
    let mut before = 0;
    let mut first = 0;
    for document in 0..documents {
        let id = ids.get_val(document);
        if document == 0 {
            first = id;
        } else if id < before {
            stretches.push(Stretch { documents: start..document, first, last: before });
            (start, first) = (document, id);
        }
        before = id;
    }
    if documents > 0 {
        stretches.push(Stretch { documents: start..documents, first, last: before });
    }
    stretches
}

/// A searcher with the journal of the very commit that it shows.
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
    Err(EngineError::Broken("commits follow each other too fast to be read".to_owned()))
}

/// The journal in a commit.
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

/// Visible files per bucket.
pub(super) type Counts = BTreeMap<u64, u64>;
