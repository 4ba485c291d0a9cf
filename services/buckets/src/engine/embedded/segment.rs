//! A segment of the inverted index.

use std::sync::{Arc, OnceLock};

use tantivy::DocId;
use tantivy::columnar::{ColumnValues, StrColumn};
use tantivy::index::SegmentReader;

use super::schema::{BUCKET, ID, RUN, SHORTEST_EXTENSION};
use crate::engine::error::EngineError;
use crate::model::file_query::Between;
use crate::model::{Attribute, Attributes};

/// Minimum mean length of bucket runs. If they are shorter, we don't keep them, because each run
/// takes 16 bytes.
const SHORTEST_RUNS: DocId = 32;
/// Minimum number of documents per deleted document. If more are deleted, we don't keep a list of
/// them, because each entry takes 4 bytes.
const FEWEST_PER_DELETED: DocId = 32;
/// Values to read from a column at a time.
const BLOCK: DocId = 1_024;

/// A segment with its fast-field columns. Searches must not open columns themselves, because
/// Tantivy then reads the header of each block of 512 values.
pub(super) struct Segment {
    pub(super) reader: SegmentReader,
    pub(super) ids: Arc<dyn ColumnValues<u64>>,
    pub(super) buckets: Arc<dyn ColumnValues<u64>>,
    pub(super) runs: Arc<dyn ColumnValues<u64>>,
    pub(super) attributes: Attributes<Arc<dyn ColumnValues<i64>>>,
    /// Shortest extensions. Older indexes don't have the field.
    pub(super) extensions: Option<StrColumn>,
    /// Ranges of documents in which ids are ascending. Merging concatenates segments, so there can
    /// be several.
    slices: Vec<Slice>,
    bucket_runs: OnceLock<Option<Vec<BucketRun>>>,
    deleted: Option<Vec<DocId>>,
}

/// Consecutive documents that are in the same bucket.
pub(super) struct BucketRun {
    /// The document after the run's last document.
    pub(super) end: DocId,
    pub(super) bucket: u64,
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
            extensions: fast.str(SHORTEST_EXTENSION)?,
            slices,
            bucket_runs: OnceLock::new(),
            deleted: deleted(reader),
        })
    }

    /// Returns the runs of documents in the same bucket, in order. Loads write each bucket's files
    /// together, so there are usually far fewer runs than documents. `None` if most runs are short.
    pub(super) fn bucket_runs(&self) -> Option<&[BucketRun]> {
        let runs = || bucket_runs(&*self.buckets, self.reader.max_doc());
        self.bucket_runs.get_or_init(runs).as_deref()
    }

    /// Returns the deleted documents in order. `None` if there are too many for a list.
    pub(super) fn deleted(&self) -> Option<&[DocId]> {
        self.deleted.as_deref()
    }

    /// Returns `true` if a document is within all intervals.
    pub(super) fn passes(&self, intervals: &Attributes<Between>, document: DocId) -> bool {
        Attribute::ALL.into_iter().all(|attribute| {
            let interval = intervals[attribute];
            interval.is_open()
                || interval.passes(attribute, self.attributes[attribute].get_val(document))
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

/// Lists the deleted documents. Returns `None` if there are too many.
fn deleted(reader: &SegmentReader) -> Option<Vec<DocId>> {
    let Some(alive) = reader.alive_bitset() else { return Some(Vec::new()) };
    if reader.num_deleted_docs() > reader.max_doc() / FEWEST_PER_DELETED {
        return None;
    }
    Some((0..reader.max_doc()).filter(|&document| alive.is_deleted(document)).collect())
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

/// Splits a segment wherever the bucket changes. Returns `None` if that happens too often.
fn bucket_runs(buckets: &dyn ColumnValues<u64>, documents: DocId) -> Option<Vec<BucketRun>> {
    let most = (documents / SHORTEST_RUNS) as usize + 1;
    let mut runs: Vec<BucketRun> = Vec::new();
    let mut values = [0; BLOCK as usize];
    for start in (0..documents).step_by(BLOCK as usize) {
        let values = &mut values[..BLOCK.min(documents - start) as usize];
        buckets.get_range(u64::from(start), values);
        for (document, &bucket) in (start..).zip(&*values) {
            let current = runs.last_mut().filter(|run| run.bucket == bucket);
            if let Some(run) = current {
                run.end = document + 1;
            } else if runs.len() == most {
                return None;
            } else {
                runs.push(BucketRun { end: document + 1, bucket });
            }
        }
    }
    runs.shrink_to_fit();
    Some(runs)
}

#[cfg(test)]
mod tests {
    use super::*;

    struct Values(Vec<u64>);

    impl ColumnValues<u64> for Values {
        fn get_val(&self, document: u32) -> u64 {
            self.0[document as usize]
        }

        fn min_value(&self) -> u64 {
            self.0.iter().copied().min().unwrap_or_default()
        }

        fn max_value(&self) -> u64 {
            self.0.iter().copied().max().unwrap_or_default()
        }

        fn num_vals(&self) -> u32 {
            self.0.len() as u32
        }
    }

    fn runs(buckets: Vec<u64>) -> Option<Vec<(u32, u64)>> {
        let documents = buckets.len() as u32;
        let runs = bucket_runs(&Values(buckets), documents)?;
        Some(runs.iter().map(|run| (run.end, run.bucket)).collect())
    }

    #[test]
    fn bucket_runs_end_where_the_bucket_changes() {
        let buckets = [vec![7; 1_000], vec![3; 1_500], vec![7; 1]].concat();
        assert_eq!(runs(buckets), Some(vec![(1_000, 7), (2_500, 3), (2_501, 7)]));
        assert_eq!(runs(Vec::new()), Some(Vec::new()));
        assert_eq!(runs(vec![1]), Some(vec![(1, 1)]));
    }

    #[test]
    fn short_bucket_runs_are_not_kept() {
        assert_eq!(runs((0..100).collect()), None);
    }
}
