//! Filters the documents found by a query.

use std::sync::Arc;

use tantivy::postings::SegmentPostings;
use tantivy::schema::IndexRecordOption;
use tantivy::{DocId, Term};

use super::judge::{Judge, Judging};
use super::segment::Segment;
use crate::engine::bitmap::Bitmap;
use crate::engine::limits::Limits;
use crate::model::Attributes;
use crate::model::file_query::{Between, FileQuery};

/// An additional filter for the documents found by a query.
#[derive(Clone)]
pub(super) enum Only {
    /// Keep everything.
    All,
    /// Keep these rows.
    Rows(Arc<Bitmap>),
    /// Keep documents that match an expression. Documents with the term are already known to match.
    Judged(Arc<Judge>, Option<Term>),
}

/// Filters a segment's documents by interval, row and expression.
pub(super) struct Chooser {
    intervals: Attributes<Between>,
    rows: Option<Arc<Bitmap>>,
    judging: Option<Judging>,
}

impl Chooser {
    pub(super) fn open(
        segment: &Segment,
        query: &FileQuery,
        only: &Only,
        limits: &Limits,
    ) -> tantivy::Result<Self> {
        let (rows, judging) = match only {
            Only::All => (None, None),
            Only::Rows(rows) => (Some(Arc::clone(rows)), None),
            Only::Judged(judge, word) => {
                let sure = word.as_ref().map(|word| postings(segment, word)).transpose()?.flatten();
                (None, Some(Judging::new(judge, sure, limits)))
            }
        };
        Ok(Self { intervals: query.intervals, rows, judging })
    }

    /// Returns `true` if nothing is filtered out.
    pub(super) fn takes_all(&self) -> bool {
        self.intervals.are_open() && self.rows.is_none() && self.judging.is_none()
    }

    /// Clears `wanted` for the documents in the block that are filtered out.
    pub(super) fn choose(
        &mut self,
        segment: &Segment,
        documents: &[DocId],
        ids: &[u64],
        wanted: &mut [bool],
    ) {
        if !self.intervals.are_open() {
            for (wanted, &document) in wanted.iter_mut().zip(documents) {
                *wanted = segment.passes(&self.intervals, document);
            }
        }
        if let Some(rows) = &self.rows {
            for (wanted, &id) in wanted.iter_mut().zip(ids) {
                *wanted = *wanted && rows.contains(id - 1);
            }
        }
        if let Some(judging) = &mut self.judging {
            judging.retain(documents, ids, wanted);
        }
    }
}

fn postings(segment: &Segment, word: &Term) -> tantivy::Result<Option<SegmentPostings>> {
    let index = segment.reader.inverted_index(word.field())?;
    Ok(index.read_postings(word, IndexRecordOption::Basic)?)
}
