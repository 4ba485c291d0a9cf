//! A phrase query that can be cancelled.
//!
//! Tantivy's own phrase query doesn't return until it finds the next match or reaches the end of
//! the segment. If the words are frequent but never adjacent, that takes seconds.

use tantivy::postings::{Postings, SegmentPostings};
use tantivy::query::{EmptyScorer, EnableScoring, Explanation, Query, Scorer, Weight};
use tantivy::schema::IndexRecordOption;
use tantivy::{DocId, DocSet, Score, SeekDangerResult, SegmentReader, TERMINATED, Term};

use crate::engine::limits::Limits;

/// Number of candidates to process between limit checks. This is one check every few tens of
/// microseconds.
const CANDIDATES: u32 = 512;

/// Matches documents in which these terms follow each other in a field.
#[derive(Clone, Debug)]
pub(super) struct PhraseQuery {
    terms: Vec<Term>,
    limits: Limits,
}

impl PhraseQuery {
    pub(super) fn new(terms: Vec<Term>, limits: &Limits) -> Self {
        Self { terms, limits: limits.clone() }
    }
}

impl Query for PhraseQuery {
    fn weight(&self, _: EnableScoring<'_>) -> tantivy::Result<Box<dyn Weight>> {
        Ok(Box::new(PhraseWeight(self.clone())))
    }

    fn query_terms<'a>(&'a self, visitor: &mut dyn FnMut(&'a Term, bool)) {
        self.terms.iter().for_each(|term| visitor(term, true));
    }
}

struct PhraseWeight(PhraseQuery);

impl Weight for PhraseWeight {
    fn scorer(&self, reader: &SegmentReader, _: Score) -> tantivy::Result<Box<dyn Scorer>> {
        let Self(PhraseQuery { terms, limits }) = self;
        let mut words = Vec::with_capacity(terms.len());
        for (place, term) in (0u32..).zip(terms.iter().rev()) {
            let index = reader.inverted_index(term.field())?;
            let postings = index.read_postings(term, IndexRecordOption::WithFreqsAndPositions)?;
            let Some(postings) = postings else { return Ok(Box::new(EmptyScorer)) };
            words.push(Word { postings, offset: place });
        }
        // Start with the rarest word, which has the fewest candidates.
        words.sort_by_key(|word| word.postings.doc_freq());
        Ok(Box::new(PhraseSet::new(words, limits.clone())))
    }

    fn explain(&self, _: &SegmentReader, _: DocId) -> tantivy::Result<Explanation> {
        Ok(Explanation::new("words that follow each other", 1.0))
    }
}

struct Word {
    postings: SegmentPostings,
    /// Number of words after this word in the phrase. Adding it to a position of this word gives
    /// the position of the last word.
    offset: u32,
}

/// The matching documents of a segment. Looks empty once the search has been stopped.
struct PhraseSet {
    words: Vec<Word>,
    limits: Limits,
    document: DocId,
    candidates: u32,
    ends: Vec<u32>,
    others: Vec<u32>,
}

impl PhraseSet {
    fn new(words: Vec<Word>, limits: Limits) -> Self {
        let (ends, others) = (Vec::new(), Vec::new());
        let mut set = Self { words, limits, document: 0, candidates: 0, ends, others };
        set.first_from(0);
        set
    }

    /// Advances to the first match at or after `candidate`.
    fn first_from(&mut self, mut candidate: DocId) -> DocId {
        while candidate < TERMINATED {
            match self.probe(candidate) {
                SeekDangerResult::Found => break,
                SeekDangerResult::SeekLowerBound(next) => candidate = next,
            }
        }
        self.document = candidate.min(TERMINATED);
        self.document
    }

    /// Checks a candidate. If it doesn't match, returns a lower bound for the next match.
    fn probe(&mut self, candidate: DocId) -> SeekDangerResult {
        self.candidates = self.candidates.wrapping_add(1);
        if self.candidates.is_multiple_of(CANDIDATES) && self.limits.check().is_err() {
            return SeekDangerResult::SeekLowerBound(TERMINATED);
        }
        for Word { postings, .. } in &mut self.words {
            let mut document = postings.doc();
            if document < candidate {
                document = postings.seek(candidate);
            }
            if document > candidate {
                return SeekDangerResult::SeekLowerBound(document);
            }
        }
        match self.has_phrase() {
            true => SeekDangerResult::Found,
            false => SeekDangerResult::SeekLowerBound(candidate + 1),
        }
    }

    /// Compares the positions of the words within a document.
    fn has_phrase(&mut self) -> bool {
        let Self { words, ends, others, .. } = self;
        let mut words = words.iter_mut();
        let Some(rarest) = words.next() else { return false };
        rarest.postings.positions_with_offset(rarest.offset, ends);
        for Word { postings, offset } in words {
            postings.positions_with_offset(*offset, others);
            ends.retain(|end| others.binary_search(end).is_ok());
            if ends.is_empty() {
                return false;
            }
        }
        true
    }
}

impl DocSet for PhraseSet {
    fn advance(&mut self) -> DocId {
        self.first_from(self.document.saturating_add(1))
    }

    fn seek(&mut self, target: DocId) -> DocId {
        if target > self.document { self.first_from(target) } else { self.document }
    }

    fn seek_danger(&mut self, target: DocId) -> SeekDangerResult {
        if target >= TERMINATED {
            return SeekDangerResult::SeekLowerBound(TERMINATED);
        }
        let found = self.probe(target);
        if found == SeekDangerResult::Found {
            self.document = target;
        }
        found
    }

    fn doc(&self) -> DocId {
        self.document
    }

    /// Uses the same estimate as Tantivy: one tenth of the documents per word.
    fn size_hint(&self) -> u32 {
        let rarest = self.words.first().map_or(0, |word| word.postings.doc_freq());
        rarest / (10 * self.words.len() as u32).max(1)
    }

    fn cost(&self) -> u64 {
        let rarest = self.words.first().map_or(0, |word| word.postings.doc_freq());
        u64::from(rarest) * 10 * self.words.len() as u64
    }
}

impl Scorer for PhraseSet {
    fn score(&mut self) -> Score {
        1.0
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use tantivy::query::{BooleanQuery, Occur, TermQuery};
    use tantivy::schema::{SchemaBuilder, TEXT};
    use tantivy::{Index, TantivyDocument};

    use super::*;
    use crate::engine::limits::Limits;

    fn holds(text: &[u8], phrase: &[u8]) -> bool {
        text.windows(phrase.len()).any(|part| part == phrase)
    }

    fn spelled(words: &[u8]) -> String {
        words.iter().map(|word| format!("w{word} ")).collect()
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(40))]
        #[test]
        fn phrases_alone_required_and_excluded_match_a_naive_search(
            texts in proptest::collection::vec(proptest::collection::vec(0u8..4, 0..9), 1..300),
            phrase in proptest::collection::vec(0u8..4, 2..4),
            word in 0u8..4,
        ) {
            let mut builder = SchemaBuilder::new();
            let field = builder.add_text_field("text", TEXT);
            let index = Index::create_in_ram(builder.build());
            let mut writer = index.writer_with_num_threads(1, 16 << 20).unwrap();
            for text in &texts {
                let mut document = TantivyDocument::new();
                document.add_text(field, spelled(text));
                writer.add_document(document).unwrap();
            }
            writer.commit().unwrap();
            let searcher = index.reader().unwrap().searcher();
            let term = |word: u8| Term::from_field_text(field, &format!("w{word}"));
            let terms = phrase.iter().map(|word| term(*word)).collect();
            let query: Box<dyn Query> = Box::new(PhraseQuery::new(terms, &Limits::none()));
            let with = |occur: Occur| {
                let word = TermQuery::new(term(word), IndexRecordOption::Basic);
                BooleanQuery::new(vec![(Occur::Must, Box::new(word)), (occur, query.box_clone())])
            };
            let count = |query: &dyn Query| {
                searcher.search(query, &tantivy::collector::Count).unwrap()
            };
            let expected = |wanted: &dyn Fn(&[u8]) -> bool| {
                texts.iter().filter(|text| wanted(text)).count()
            };
            prop_assert_eq!(count(&*query), expected(&|text| holds(text, &phrase)));
            prop_assert_eq!(
                count(&with(Occur::Must)),
                expected(&|text| text.contains(&word) && holds(text, &phrase))
            );
            prop_assert_eq!(
                count(&with(Occur::MustNot)),
                expected(&|text| text.contains(&word) && !holds(text, &phrase))
            );
        }
    }
}
