//! Makes queries safe to use as exclusions.
//!
//! For every document that matches the other clauses, Tantivy seeks the exclusion to it, even if
//! the exclusion is already past that document. Some scorers can't handle that.

use tantivy::query::{EnableScoring, Explanation, Query, Scorer, Weight};
use tantivy::{DocId, DocSet, Score, SegmentReader, Term};

/// A query that is safe to use as an exclusion.
#[derive(Debug)]
pub(super) struct SeekGuard(pub(super) Box<dyn Query>);

impl Clone for SeekGuard {
    fn clone(&self) -> Self {
        Self(self.0.box_clone())
    }
}

impl Query for SeekGuard {
    fn weight(&self, scoring: EnableScoring<'_>) -> tantivy::Result<Box<dyn Weight>> {
        Ok(Box::new(SeekGuardWeight(self.0.weight(scoring)?)))
    }

    fn query_terms<'a>(&'a self, visitor: &mut dyn FnMut(&'a Term, bool)) {
        self.0.query_terms(visitor);
    }
}

struct SeekGuardWeight(Box<dyn Weight>);

impl Weight for SeekGuardWeight {
    fn scorer(&self, reader: &SegmentReader, boost: Score) -> tantivy::Result<Box<dyn Scorer>> {
        Ok(Box::new(SeekGuardSet(self.0.scorer(reader, boost)?)))
    }

    fn explain(&self, reader: &SegmentReader, document: DocId) -> tantivy::Result<Explanation> {
        self.0.explain(reader, document)
    }
}

/// Uses only operations that keep the scorer in a valid state. The default `seek_danger` first
/// checks whether the set is already past the document.
struct SeekGuardSet(Box<dyn Scorer>);

impl DocSet for SeekGuardSet {
    fn advance(&mut self) -> DocId {
        self.0.advance()
    }

    fn seek(&mut self, target: DocId) -> DocId {
        if self.0.doc() < target { self.0.seek(target) } else { self.0.doc() }
    }

    fn doc(&self) -> DocId {
        self.0.doc()
    }

    fn size_hint(&self) -> u32 {
        self.0.size_hint()
    }
}

impl Scorer for SeekGuardSet {
    fn score(&mut self) -> Score {
        1.0
    }
}
