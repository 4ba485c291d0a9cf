//! A phrase query that can be cancelled.
//!
//! Tantivy's own phrase query doesn't return until it finds the next match or reaches the end of
//! the segment. If the words are frequent but never adjacent, that takes seconds.

use tantivy::postings::{BlockSegmentPostings, Postings, SegmentPostings};
use tantivy::query::{EmptyScorer, EnableScoring, Explanation, Query, Scorer, Weight};
use tantivy::schema::IndexRecordOption;
use tantivy::{DocId, DocSet, Score, SeekDangerResult, SegmentReader, TERMINATED, Term};

use crate::engine::limits::Limits;

/// Number of candidates to process between limit checks. This is one check every few tens of
/// microseconds.
const CANDIDATES: u32 = 512;

/// Number of documents for which [`Common`] compares words at a time. The marks fit into the
/// processor's fastest cache. Unit tests have tiny windows, so that they need several, and so that
/// the number of the window overflows.
const WINDOW: DocId = if cfg!(test) { 4 } else { 1 << 15 };
/// [`Common`] is only used if the second rarest word is at most this many times as frequent as the
/// rarest one. Otherwise, seeking each document of the rarest word takes less time.
const CLOSEST: u32 = 16;

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
        let (mut words, mut lists) = (Vec::new(), Vec::new());
        for (place, term) in (0u32..).zip(terms.iter().rev()) {
            let index = reader.inverted_index(term.field())?;
            let Some(info) = index.get_term_info(term)? else { return Ok(Box::new(EmptyScorer)) };
            let with_positions = IndexRecordOption::WithFreqsAndPositions;
            let postings = index.read_postings_from_terminfo(&info, with_positions)?;
            words.push(Word { postings, offset: place });
            lists.push(index.read_block_postings_from_terminfo(&info, IndexRecordOption::Basic)?);
        }
        // Start with the rarest word, which has the fewest candidates.
        words.sort_by_key(|word| word.postings.doc_freq());
        lists.sort_by_key(BlockSegmentPostings::doc_freq);
        let common = Common::of(lists, reader.max_doc());
        Ok(Box::new(PhraseSet::new(words, common, limits.clone())))
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

/// The documents that contain two words, found a window at a time. For frequent words, this takes a
/// fraction of the time of seeking each document of one word in the other's list.
struct Common {
    lists: [BlockSegmentPostings; 2],
    max_doc: DocId,
    /// For each document of the current window: the number of the latest window in which a document
    /// at this place contains the first word. This way, marks need not be cleared for each window.
    marks: Box<[u8]>,
    /// The number of the current window, from 1 to 255 and then again.
    window: u8,
    /// Documents of the current window that contain both words. Those before `at` have been
    /// returned.
    found: Vec<DocId>,
    at: usize,
    /// The document after the current window.
    end: DocId,
}

impl Common {
    /// Compares the two shortest lists, which come first. Returns `None` if one is much shorter.
    fn of(lists: Vec<BlockSegmentPostings>, max_doc: DocId) -> Option<Self> {
        let mut lists = lists.into_iter();
        let lists = [lists.next()?, lists.next()?];
        if lists[1].doc_freq() / CLOSEST > lists[0].doc_freq() {
            return None;
        }
        let marks = vec![0; WINDOW as usize].into_boxed_slice();
        Some(Self { lists, max_doc, marks, window: 0, found: Vec::new(), at: 0, end: 0 })
    }

    /// Returns the first document at or after `target`. `TERMINATED` if there are none or the
    /// search was stopped.
    fn first_from(&mut self, target: DocId, limits: &Limits) -> DocId {
        loop {
            while let Some(&document) = self.found.get(self.at) {
                if document >= target {
                    return document;
                }
                self.at += 1;
            }
            let start = self.end.max(target);
            if start >= self.max_doc || limits.check().is_err() {
                return TERMINATED;
            }
            self.fill(start);
        }
    }

    fn fill(&mut self, start: DocId) {
        let Self { lists: [first, second], marks, window, found, .. } = self;
        self.end = start.saturating_add(WINDOW).min(self.max_doc);
        self.at = 0;
        if *window == u8::MAX {
            marks.fill(0);
            *window = 0;
        }
        *window += 1;
        each(first, start, self.end, |document| marks[(document - start) as usize] = *window);
        found.clear();
        each(second, start, self.end, |document| {
            if marks[(document - start) as usize] == *window {
                found.push(document);
            }
        });
    }
}

/// Calls `take` with the documents from `start` to `end`.
fn each(list: &mut BlockSegmentPostings, start: DocId, end: DocId, mut take: impl FnMut(DocId)) {
    let mut at = list.seek(start);
    while let Some(documents) = list.docs().get(at..).filter(|documents| !documents.is_empty()) {
        let is_within = documents.last().is_some_and(|last| *last < end);
        let count = if is_within {
            documents.len()
        } else {
            documents.partition_point(|document| *document < end)
        };
        documents[..count].iter().for_each(|document| take(*document));
        if !is_within {
            return;
        }
        list.advance();
        at = 0;
    }
}

/// The matching documents of a segment. Looks empty once the search has been stopped.
struct PhraseSet {
    words: Vec<Word>,
    /// The documents with the two rarest words. `None` if one is much rarer than all others.
    common: Option<Common>,
    limits: Limits,
    document: DocId,
    candidates: u32,
    ends: Vec<u32>,
    others: Vec<u32>,
}

impl PhraseSet {
    fn new(words: Vec<Word>, common: Option<Common>, limits: Limits) -> Self {
        let (ends, others) = (Vec::new(), Vec::new());
        let mut set = Self { words, common, limits, document: 0, candidates: 0, ends, others };
        set.first_from(0);
        set
    }

    /// Advances to the first match at or after `candidate`.
    fn first_from(&mut self, mut candidate: DocId) -> DocId {
        loop {
            if let Some(common) = &mut self.common {
                candidate = common.first_from(candidate, &self.limits);
            }
            if candidate >= TERMINATED {
                break;
            }
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
            texts in proptest::collection::vec(proptest::collection::vec(0u8..4, 0..9), 1..1_300),
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
