//! Collects one page of results.

use std::sync::Arc;

use tantivy::collector::{Collector, SegmentCollector};
use tantivy::{COLLECT_BLOCK_BUFFER_LEN, DocId, Score, SegmentOrdinal, SegmentReader};

use super::blocks::check;
use super::chooser::{Chooser, Only};
use super::segment::Segment;
use super::top_k::{SharedTopK, TopK, TopKPart, rank, ranked};
use crate::engine::limits::Limits;
use crate::model::file_query::{FileQuery, Order, Position};

/// Collects the total, and the sort keys of the results on one page.
pub(super) struct PageCollector<'a> {
    segments: &'a [Arc<Segment>],
    query: &'a FileQuery,
    pub(super) limits: &'a Limits,
    pub(super) keep: usize,
    only: Only,
    best: SharedTopK,
}

impl<'a> PageCollector<'a> {
    pub(super) fn new(
        segments: &'a [Arc<Segment>],
        query: &'a FileQuery,
        limits: &'a Limits,
        keep: usize,
        only: Only,
    ) -> Self {
        Self { segments, query, limits, keep, only, best: SharedTopK::new(keep) }
    }

    /// Starts a segment's part of the selection.
    pub(super) fn part(&self) -> TopKPart {
        self.best.part()
    }

    /// Takes the sort keys of the segments collected so far.
    pub(super) fn take_best(&self) -> TopK {
        self.best.take()
    }
}

/// Per-segment part of [`PageCollector`].
pub(super) struct PagePart {
    segment: Arc<Segment>,
    /// Whether documents beyond the page can be counted without checking them.
    countable: bool,
    /// Documents below this id come after the page, so they only have to be counted.
    beyond: DocId,
    chooser: Chooser,
    order: Order,
    descending: bool,
    after: Option<(i64, u64)>,
    total: u64,
    best: TopKPart,
}

impl Collector for PageCollector<'_> {
    type Fruit = (u64, TopK);
    type Child = PagePart;

    fn for_segment(&self, number: SegmentOrdinal, _: &SegmentReader) -> tantivy::Result<PagePart> {
        check(self.limits)?;
        let query = self.query;
        let after = match query.position {
            Position::After(place) => Some(ranked(place, query.descending)),
            Position::Offset(_) => None,
        };
        let countable = query.order == Order::Index
            && query.intervals.are_open()
            && matches!(self.only, Only::All);
        let segment = Arc::clone(&self.segments[number as usize]);
        Ok(PagePart {
            chooser: Chooser::open(&segment, query, &self.only, self.limits)?,
            segment,
            countable,
            beyond: 0,
            order: query.order,
            descending: query.descending,
            after,
            total: 0,
            best: self.part(),
        })
    }

    fn requires_scoring(&self) -> bool {
        false
    }

    fn merge_fruits(&self, totals: Vec<u64>) -> tantivy::Result<(u64, TopK)> {
        Ok((totals.into_iter().sum(), self.take_best()))
    }
}

impl PagePart {
    fn take(&mut self, document: DocId, id: u64) {
        self.total += 1;
        let column = match self.order {
            Order::Index => None,
            Order::By(attribute) => Some(&self.segment.attributes[attribute]),
        };
        let value = column.map_or(0, |column| rank(column.get_val(document), self.descending));
        if self.after.is_none_or(|after| (value, id) > after) {
            self.best.push((value, id));
        }
    }
}

impl SegmentCollector for PagePart {
    /// The number of results. Their sort keys are in the shared selection.
    type Fruit = u64;

    fn collect(&mut self, document: DocId, _: Score) {
        self.collect_block(&[document]);
    }

    fn collect_block(&mut self, documents: &[DocId]) {
        if documents.last().is_some_and(|last| *last < self.beyond) {
            self.total += documents.len() as u64;
            return;
        }
        let mut ids = [0; COLLECT_BLOCK_BUFFER_LEN];
        let ids = &mut ids[..documents.len()];
        self.segment.ids.get_vals(documents, ids);
        let mut wanted = [true; COLLECT_BLOCK_BUFFER_LEN];
        let wanted = &mut wanted[..documents.len()];
        self.chooser.choose(&self.segment, documents, ids, wanted);
        for ((&document, &id), &wanted) in documents.iter().zip(&*ids).zip(&*wanted) {
            if wanted {
                self.take(document, id);
            }
        }
        // Ids are ascending here, so once we're past the page, all documents that follow are too.
        if self.countable
            && let (Some((_, last)), Some(id), Some(document)) =
                (self.best.last(), ids.last(), documents.last())
            && *id > last
        {
            self.beyond = self.segment.ascends_until(*document);
        }
    }

    fn harvest(mut self) -> u64 {
        self.best.flush();
        self.total
    }
}
