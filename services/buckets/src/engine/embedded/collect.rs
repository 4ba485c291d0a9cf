//! What is gathered from the documents that match.

use std::collections::BTreeMap;
use std::sync::Arc;

use tantivy::collector::{Collector, SegmentCollector};
use tantivy::columnar::ColumnValues;
use tantivy::query::Weight;
use tantivy::{COLLECT_BLOCK_BUFFER_LEN, DocId, Score, SegmentOrdinal, SegmentReader};

use super::schema::{BUCKET, ID, MODIFIED, SIZE};
use super::segment::Segment;
use super::top_k::{TopK, rank, ranked};
use crate::engine::bitmap::Bitmap;
use crate::engine::limits::Limits;
use crate::model::file_query::{Between, FileQuery, Order, Position};

/// The columns that a query looks at beside the id.
struct Values {
    ids: Arc<dyn ColumnValues<u64>>,
    sizes: Option<Arc<dyn ColumnValues<i64>>>,
    dates: Option<Arc<dyn ColumnValues<i64>>>,
}

impl Values {
    fn open(reader: &SegmentReader, sizes: bool, dates: bool) -> tantivy::Result<Self> {
        let fast = reader.fast_fields();
        let column = |wanted: bool, name| -> tantivy::Result<_> {
            if wanted { Ok(Some(fast.column_first_or_default::<i64>(name)?)) } else { Ok(None) }
        };
        Ok(Self {
            ids: fast.column_first_or_default(ID)?,
            sizes: column(sizes, SIZE)?,
            dates: column(dates, MODIFIED)?,
        })
    }
}

/// The intervals of a query.
#[derive(Clone, Copy)]
struct Intervals {
    size: Between,
    modified: Between,
}

impl Intervals {
    fn of(query: &FileQuery) -> Self {
        Self { size: query.size, modified: query.modified }
    }

    fn pass(self, values: &Values, document: DocId) -> bool {
        let size = values.sizes.as_ref().filter(|_| !self.size.is_open());
        let date = values.dates.as_ref().filter(|_| !self.modified.is_open());
        size.is_none_or(|sizes| self.size.contains(sizes.get_val(document)))
            && date.is_none_or(|dates| {
                let date = dates.get_val(document);
                date != 0 && self.modified.contains(date)
            })
    }

    fn are_open(self) -> bool {
        self.size.is_open() && self.modified.is_open()
    }
}

/// Gathers the total and the places of one page.
pub(super) struct PageCollector<'a> {
    segments: &'a [Arc<Segment>],
    query: &'a FileQuery,
    limits: &'a Limits,
    keep: usize,
    /// Only these rows count, where a set is given.
    only: Option<Arc<Bitmap>>,
}

impl<'a> PageCollector<'a> {
    pub(super) fn new(
        segments: &'a [Arc<Segment>],
        query: &'a FileQuery,
        limits: &'a Limits,
        keep: usize,
        only: Option<Arc<Bitmap>>,
    ) -> Self {
        Self { segments, query, limits, keep, only }
    }
}

/// The part of a [`PageCollector`] in one segment.
pub(super) struct PagePart {
    segment: Option<Arc<Segment>>,
    /// Documents before this one need only be counted: their files come behind the page.
    beyond: DocId,
    values: Values,
    intervals: Intervals,
    order: Order,
    descending: bool,
    after: Option<(i64, u64)>,
    only: Option<Arc<Bitmap>>,
    total: u64,
    best: TopK,
    ids: [u64; COLLECT_BLOCK_BUFFER_LEN],
}

impl Collector for PageCollector<'_> {
    type Fruit = (u64, TopK);
    type Child = PagePart;

    fn for_segment(
        &self,
        segment: SegmentOrdinal,
        reader: &SegmentReader,
    ) -> tantivy::Result<PagePart> {
        // A stopped search is recognised by its limits, not by this error.
        if self.limits.check().is_err() {
            return Err(tantivy::TantivyError::SystemError("stopped".to_owned()));
        }
        let query = self.query;
        let sizes = query.order == Order::Size || !query.size.is_open();
        let dates = query.order == Order::LastModified || !query.modified.is_open();
        let after = match query.position {
            Position::After(place) => Some(ranked(place, query.descending)),
            Position::Offset(_) => None,
        };
        let intervals = Intervals::of(query);
        let countable = query.order == Order::Index && intervals.are_open() && self.only.is_none();
        Ok(PagePart {
            segment: self.segments.get(segment as usize).filter(|_| countable).cloned(),
            beyond: 0,
            values: Values::open(reader, sizes, dates)?,
            intervals,
            order: query.order,
            descending: query.descending,
            after,
            only: self.only.clone(),
            total: 0,
            best: TopK::new(self.keep),
            ids: [0; COLLECT_BLOCK_BUFFER_LEN],
        })
    }

    fn requires_scoring(&self) -> bool {
        false
    }

    /// As the library does it, but deleted documents are taken out of a block, rather than the block
    /// be given up for one call a document.
    fn collect_segment(
        &self,
        weight: &dyn Weight,
        segment: SegmentOrdinal,
        reader: &SegmentReader,
    ) -> tantivy::Result<(u64, TopK)> {
        let mut part = self.for_segment(segment, reader)?;
        weight.for_each_no_score(reader, &mut |documents| match reader.alive_bitset() {
            None => part.collect_block(documents),
            Some(alive) => {
                let mut living = [0; COLLECT_BLOCK_BUFFER_LEN];
                let mut count = 0;
                for &document in documents {
                    living[count] = document;
                    count += usize::from(alive.is_alive(document));
                }
                part.collect_block(&living[..count]);
            }
        })?;
        Ok(part.harvest())
    }

    fn merge_fruits(&self, parts: Vec<(u64, TopK)>) -> tantivy::Result<(u64, TopK)> {
        let mut total = 0;
        let mut best = TopK::new(self.keep);
        for (count, part) in parts {
            total += count;
            best.absorb(part);
        }
        Ok((total, best))
    }
}

impl PagePart {
    fn take(&mut self, document: DocId, id: u64) {
        if !self.intervals.are_open() && !self.intervals.pass(&self.values, document) {
            return;
        }
        if self.only.as_ref().is_some_and(|only| !only.contains(id - 1)) {
            return;
        }
        self.total += 1;
        let column = match self.order {
            Order::Index => None,
            Order::Size => self.values.sizes.as_ref(),
            Order::LastModified => self.values.dates.as_ref(),
        };
        let value = column.map_or(0, |column| rank(column.get_val(document), self.descending));
        if self.after.is_none_or(|after| (value, id) > after) {
            self.best.push((value, id));
        }
    }
}

impl SegmentCollector for PagePart {
    type Fruit = (u64, TopK);

    fn collect(&mut self, document: DocId, _: Score) {
        let id = self.values.ids.get_val(document);
        self.take(document, id);
    }

    fn collect_block(&mut self, documents: &[DocId]) {
        if documents.last().is_some_and(|last| *last < self.beyond) {
            self.total += documents.len() as u64;
            return;
        }
        let mut ids = self.ids;
        self.values.ids.get_vals(documents, &mut ids[..documents.len()]);
        for (&document, &id) in documents.iter().zip(&ids) {
            self.take(document, id);
        }
        // In the order of ids, what follows a file behind the page is behind it too.
        if let (Some(segment), Some((_, last)), Some(id), Some(document)) =
            (&self.segment, self.best.last(), ids[..documents.len()].last(), documents.last())
            && *id > last
        {
            self.beyond = segment.ascends_until(*document);
        }
    }

    fn harvest(self) -> (u64, TopK) {
        (self.total, self.best)
    }
}

/// Gathers the rows of matching files as a set.
pub(super) struct BitCollector {
    rows: u64,
    intervals: Intervals,
}

impl BitCollector {
    pub(super) fn new(rows: u64, query: &FileQuery) -> Self {
        Self { rows, intervals: Intervals::of(query) }
    }
}

/// The part of a [`BitCollector`] in one segment.
pub(super) struct BitPart {
    values: Values,
    intervals: Intervals,
    bits: Bitmap,
}

impl Collector for BitCollector {
    type Fruit = Bitmap;
    type Child = BitPart;

    fn for_segment(&self, _: SegmentOrdinal, reader: &SegmentReader) -> tantivy::Result<BitPart> {
        let Intervals { size, modified } = self.intervals;
        let values = Values::open(reader, !size.is_open(), !modified.is_open())?;
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
        if self.intervals.are_open() || self.intervals.pass(&self.values, document) {
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

/// The part of a [`CountCollector`] in one segment.
pub(super) struct CountPart {
    buckets: Arc<dyn ColumnValues<u64>>,
    /// Files of a bucket mostly lie together.
    current: (u64, u64),
    counts: Counts,
}

impl Collector for CountCollector {
    type Fruit = Counts;
    type Child = CountPart;

    fn for_segment(&self, _: SegmentOrdinal, reader: &SegmentReader) -> tantivy::Result<CountPart> {
        let buckets = reader.fast_fields().column_first_or_default(BUCKET)?;
        Ok(CountPart { buckets, current: (0, 0), counts: Counts::new() })
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

impl CountPart {
    fn flush(&mut self) {
        let (bucket, count) = self.current;
        if count > 0 {
            *self.counts.entry(bucket).or_default() += count;
        }
    }
}

impl SegmentCollector for CountPart {
    type Fruit = Counts;

    fn collect(&mut self, document: DocId, _: Score) {
        let bucket = self.buckets.get_val(document);
        if bucket == self.current.0 {
            self.current.1 += 1;
        } else {
            self.flush();
            self.current = (bucket, 1);
        }
    }

    fn harvest(mut self) -> Counts {
        self.flush();
        self.counts
    }
}
