//! A segment of the inverted index.

use std::sync::Arc;

use tantivy::DocId;
use tantivy::columnar::ColumnValues;
use tantivy::index::SegmentReader;

use super::schema::{BUCKET, ID, RUN};
use crate::engine::error::EngineError;
use crate::model::Attributes;

/// A segment with its fast-field columns.
pub(super) struct Segment {
    pub(super) reader: SegmentReader,
    pub(super) ids: Arc<dyn ColumnValues<u64>>,
    pub(super) buckets: Arc<dyn ColumnValues<u64>>,
    pub(super) runs: Arc<dyn ColumnValues<u64>>,
    pub(super) attributes: Attributes<Arc<dyn ColumnValues<i64>>>,
    /// Ranges of documents in which ids are ascending. Merging concatenates segments, so there may
    /// be several.
    slices: Vec<Slice>,
}

struct Slice {
    documents: std::ops::Range<DocId>,
    first: u64,
    last: u64,
}

impl Segment {
    pub(super) fn open(reader: &SegmentReader) -> Result<Self, EngineError> {
        let fast = reader.fast_fields();
        let ids = fast.column_first_or_default::<u64>(ID)?;
        let slices = slices(&*ids, reader.max_doc());
        Ok(Self {
            reader: reader.clone(),
            ids,
            buckets: fast.column_first_or_default(BUCKET)?,
            runs: fast.column_first_or_default(RUN)?,
            attributes: Attributes::try_from_fn(|attribute| {
                fast.column_first_or_default(attribute.column())
            })?,
            slices,
        })
    }

    /// Returns the end of the slice that contains a document.
    pub(super) fn ascends_until(&self, document: DocId) -> DocId {
        let at = self.slices.partition_point(|part| part.documents.end <= document);
        self.slices.get(at).map_or(document, |part| part.documents.end)
    }

    /// Returns the documents with an id above `id`, as ranges in which ids are ascending.
    pub(super) fn slices_after(&self, id: u64) -> impl Iterator<Item = (DocId, DocId)> + '_ {
        self.slices.iter().filter(move |part| part.last > id).map(move |part| {
            let start =
                if part.first > id { part.documents.start } else { self.seek(part, id + 1) };
            (start, part.documents.end)
        })
    }

    /// Finds a document by file id. Returns `None` if it doesn't exist or was deleted.
    pub(super) fn find(&self, id: u64) -> Option<DocId> {
        let alive = |&document: &DocId| {
            self.reader.alive_bitset().is_none_or(|alive| alive.is_alive(document))
        };
        let around = self.slices.iter().filter(|part| part.first <= id && id <= part.last);
        around.filter_map(|part| self.find_in(part, id)).find(alive)
    }

    fn find_in(&self, part: &Slice, id: u64) -> Option<DocId> {
        let document = self.seek(part, id);
        (document < part.documents.end && self.ids.get_val(document) == id).then_some(document)
    }

    /// Returns the first document in a slice with an id of `id` or above.
    fn seek(&self, part: &Slice, id: u64) -> DocId {
        let (mut low, mut high) = (part.documents.start, part.documents.end);
        while low < high {
            let middle = low + (high - low) / 2;
            if self.ids.get_val(middle) < id { low = middle + 1 } else { high = middle }
        }
        low
    }
}

/// Splits a segment wherever the ids go down.
fn slices(ids: &dyn ColumnValues<u64>, documents: DocId) -> Vec<Slice> {
    let mut slices = Vec::new();
    let mut start = 0;
    let mut before = 0;
    let mut first = 0;
    for document in 0..documents {
        let id = ids.get_val(document);
        if document == 0 {
            first = id;
        } else if id < before {
            slices.push(Slice { documents: start..document, first, last: before });
            (start, first) = (document, id);
        }
        before = id;
    }
    if documents > 0 {
        slices.push(Slice { documents: start..documents, first, last: before });
    }
    slices
}
