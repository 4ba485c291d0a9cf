//! Collectors for matching rows and for counts.

use std::collections::BTreeMap;
use std::sync::Arc;

use tantivy::collector::{Collector, SegmentCollector};
use tantivy::columnar::ColumnValues;
use tantivy::{DocId, Score, SegmentOrdinal, SegmentReader};

use super::schema::BUCKET;
use super::values::Values;
use crate::engine::bitmap::Bitmap;
use crate::model::Attributes;
use crate::model::file_query::{Between, FileQuery};

/// Collects the rows of matching files.
pub(super) struct BitCollector {
    rows: u64,
    intervals: Attributes<Between>,
}

impl BitCollector {
    pub(super) fn new(rows: u64, query: &FileQuery) -> Self {
        Self { rows, intervals: query.intervals }
    }
}

/// Per-segment part of [`BitCollector`].
pub(super) struct BitPart {
    values: Values,
    intervals: Attributes<Between>,
    bits: Bitmap,
}

impl Collector for BitCollector {
    type Fruit = Bitmap;
    type Child = BitPart;

    fn for_segment(&self, _: SegmentOrdinal, reader: &SegmentReader) -> tantivy::Result<BitPart> {
        let values = Values::open(reader, |attribute| !self.intervals[attribute].is_open())?;
        Ok(BitPart { values, intervals: self.intervals, bits: Bitmap::new(self.rows) })
    }

    fn requires_scoring(&self) -> bool {
        false
    }

    fn merge_fruits(&self, parts: Vec<Bitmap>) -> tantivy::Result<Bitmap> {
        let mut all = Bitmap::new(self.rows);
        parts.iter().for_each(|part| all.union(part));
        Ok(all)
    }
}

impl SegmentCollector for BitPart {
    type Fruit = Bitmap;

    fn collect(&mut self, document: DocId, _: Score) {
        if self.intervals.are_open() || self.values.pass(&self.intervals, document) {
            self.bits.insert(self.values.ids.get_val(document).wrapping_sub(1));
        }
    }

    fn harvest(self) -> Bitmap {
        self.bits
    }
}

/// Visible files per bucket.
pub(super) type Counts = BTreeMap<u64, u64>;

/// Counts matching files per bucket.
pub(super) struct CountCollector;

/// Per-segment part of [`CountCollector`].
pub(super) struct CountPart {
    buckets: Arc<dyn ColumnValues<u64>>,
    counts: BucketCounter,
}

/// Counts files per bucket. Optimised for runs of files from the same bucket.
#[derive(Default)]
pub(super) struct BucketCounter {
    /// The current bucket and its count so far.
    current: (u64, u64),
    counts: Counts,
}

impl BucketCounter {
    pub(super) fn add(&mut self, bucket: u64, files: u64) {
        if bucket == self.current.0 {
            self.current.1 += files;
        } else {
            self.flush();
            self.current = (bucket, files);
        }
    }

    fn flush(&mut self) {
        let (bucket, count) = self.current;
        if count > 0 {
            *self.counts.entry(bucket).or_default() += count;
        }
    }

    pub(super) fn finish(mut self) -> Counts {
        self.flush();
        self.counts
    }
}

impl Collector for CountCollector {
    type Fruit = Counts;
    type Child = CountPart;

    fn for_segment(&self, _: SegmentOrdinal, reader: &SegmentReader) -> tantivy::Result<CountPart> {
        let buckets = reader.fast_fields().column_first_or_default(BUCKET)?;
        Ok(CountPart { buckets, counts: BucketCounter::default() })
    }

    fn requires_scoring(&self) -> bool {
        false
    }

    fn merge_fruits(&self, parts: Vec<Counts>) -> tantivy::Result<Counts> {
        let mut all = Counts::new();
        for (bucket, count) in parts.into_iter().flatten() {
            *all.entry(bucket).or_default() += count;
        }
        Ok(all)
    }
}

impl SegmentCollector for CountPart {
    type Fruit = Counts;

    fn collect(&mut self, document: DocId, _: Score) {
        self.counts.add(self.buckets.get_val(document), 1);
    }

    fn harvest(self) -> Counts {
        self.counts.finish()
    }
}
