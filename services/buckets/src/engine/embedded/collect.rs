//! Collectors for matching rows and for counts.

use std::collections::BTreeMap;
use std::sync::Arc;

use tantivy::collector::{Collector, SegmentCollector};
use tantivy::{DocId, Score, SegmentOrdinal, SegmentReader};

use super::segment::Segment;
use crate::engine::bitmap::Bitmap;
use crate::model::Attributes;
use crate::model::file_query::{Between, FileQuery};

/// Collects the rows of matching files.
pub(super) struct BitCollector<'a> {
    segments: &'a [Arc<Segment>],
    rows: u64,
    intervals: Attributes<Between>,
}

impl<'a> BitCollector<'a> {
    pub(super) fn new(segments: &'a [Arc<Segment>], rows: u64, query: &FileQuery) -> Self {
        Self { segments, rows, intervals: query.intervals }
    }
}

/// Per-segment part of [`BitCollector`].
pub(super) struct BitPart {
    segment: Arc<Segment>,
    intervals: Attributes<Between>,
    bits: Bitmap,
}

impl Collector for BitCollector<'_> {
    type Fruit = Bitmap;
    type Child = BitPart;

    fn for_segment(&self, number: SegmentOrdinal, _: &SegmentReader) -> tantivy::Result<BitPart> {
        let segment = Arc::clone(&self.segments[number as usize]);
        Ok(BitPart { segment, intervals: self.intervals, bits: Bitmap::new(self.rows) })
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
        if self.intervals.are_open() || self.segment.passes(&self.intervals, document) {
            self.bits.insert(self.segment.ids.get_val(document).wrapping_sub(1));
        }
    }

    fn harvest(self) -> Bitmap {
        self.bits
    }
}

/// Visible files per bucket.
pub(super) type Counts = BTreeMap<u64, u64>;

/// Counts matching files per bucket.
pub(super) struct CountCollector<'a>(pub(super) &'a [Arc<Segment>]);

/// Per-segment part of [`CountCollector`].
pub(super) struct CountPart {
    segment: Arc<Segment>,
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

impl Collector for CountCollector<'_> {
    type Fruit = Counts;
    type Child = CountPart;

    fn for_segment(&self, number: SegmentOrdinal, _: &SegmentReader) -> tantivy::Result<CountPart> {
        let segment = Arc::clone(&self.0[number as usize]);
        Ok(CountPart { segment, counts: BucketCounter::default() })
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
        self.counts.add(self.segment.buckets.get_val(document), 1);
    }

    fn harvest(self) -> Counts {
        self.counts.finish()
    }
}
