//! Fast path for single-word searches sorted by id. The index knows the total including deleted
//! documents, so only these and the first few documents of each slice have to be read.

use tantivy::collector::Collector;
use tantivy::postings::SegmentPostings;
use tantivy::query::EnableScoring;
use tantivy::schema::IndexRecordOption;
use tantivy::{DocSet, TERMINATED, Term};

use super::blocks::{Limited, check};
use super::page_collector::PageCollector;
use super::query;
use super::segment::Segment;
use super::top_k::TopK;
use super::view::View;
use crate::engine::error::EngineError;
use crate::engine::limits::Limits;
use crate::model::file_query::{FileQuery, Matching, Order, Position};

/// Depth beyond which it's faster to collect the page with all threads.
const DEEPEST: usize = 10_000;

/// Number of deleted documents to look for between limit checks.
const CHUNK: usize = 1_024;

/// Returns the word if a search has no other conditions, sorts by id and keeps at most `keep`
/// results. Returns `None` for all other searches.
pub(super) fn only_word(view: &View, query: &FileQuery, keep: usize) -> Option<Term> {
    let Matching::Words(keywords) = &query.matching else { return None };
    let [phrase] = &keywords.include[..] else { return None };
    let [word] = &phrase[..] else { return None };
    let alone = keep <= DEEPEST
        && keywords.exclude.is_empty()
        && query.order == Order::Index
        && query.is_unfiltered();
    let field = if query.full_path { view.fields.path_words } else { view.fields.name_words };
    alone.then(|| Term::from_field_text(field, word))
}

/// Returns the total and the first sort keys for a word.
pub(super) fn places(
    view: &View,
    query: &FileQuery,
    word: &Term,
    collector: &PageCollector<'_>,
) -> Result<(u64, TopK), EngineError> {
    let limits = collector.limits;
    let weight = query::compile(view, query, None, limits)
        .weight(EnableScoring::disabled_from_searcher(&view.searcher))?;
    let after = match query.position {
        Position::After(place) => place.id,
        Position::Offset(_) => 0,
    };
    let limited = Limited { collector, limits };
    let executor = view.searcher.index().search_executor();
    let totals = view.each_segment(executor, |number, segment| match hidden(view, segment)? {
        Hidden::All => Ok(0),
        Hidden::None => of_segment(segment, word, after, collector),
        Hidden::Some => limited.collect_segment(&*weight, number, &segment.reader),
    });
    limits.check()?;
    Ok(collector.merge_fruits(totals?)?)
}

/// The part of a segment that has to be left out by reading each document, because many documents
/// were deleted or some belong to the open run.
enum Hidden {
    None,
    Some,
    All,
}

fn hidden(view: &View, segment: &Segment) -> tantivy::Result<Hidden> {
    if segment.deleted().is_none() {
        return Ok(Hidden::Some);
    }
    let Some(run) = view.hidden_run() else { return Ok(Hidden::None) };
    let run = Term::from_field_u64(view.fields.run, run);
    let documents = segment.reader.inverted_index(view.fields.run)?.doc_freq(&run)?;
    Ok(match documents {
        0 => Hidden::None,
        all if all == segment.reader.max_doc() => Hidden::All,
        _ => Hidden::Some,
    })
}

/// Adds the first sort keys from each of a segment's slices, and returns the segment's number of
/// results.
fn of_segment(
    segment: &Segment,
    word: &Term,
    after: u64,
    collector: &PageCollector<'_>,
) -> tantivy::Result<u64> {
    let PageCollector { keep, limits, .. } = *collector;
    let mut best = collector.part();
    let index = segment.reader.inverted_index(word.field())?;
    let read = || index.read_postings(word, IndexRecordOption::Basic);
    let Some(mut postings) = read()? else { return Ok(0) };
    let alive = segment.reader.alive_bitset();
    for (start, end) in segment.slices_after(after) {
        check(limits)?;
        let mut document =
            if postings.doc() < start { postings.seek(start) } else { postings.doc() };
        let mut taken = 0;
        while document < end && document != TERMINATED && taken < keep {
            if alive.is_none_or(|alive| alive.is_alive(document)) {
                best.push((0, segment.ids.get_val(document)));
                taken += 1;
            }
            document = postings.advance();
        }
    }
    best.flush();
    let deleted = match read()? {
        Some(postings) => count_deleted(segment, postings, limits)?,
        None => 0,
    };
    Ok(u64::from(postings.doc_freq()) - deleted)
}

/// Counts the deleted documents in a list, by the shorter of this list and that of all deleted
/// documents.
fn count_deleted(
    segment: &Segment,
    mut postings: SegmentPostings,
    limits: &Limits,
) -> tantivy::Result<u64> {
    let (Some(alive), Some(deleted)) = (segment.reader.alive_bitset(), segment.deleted()) else {
        return Ok(0);
    };
    let mut count = 0;
    if (postings.doc_freq() as usize) < deleted.len() {
        while postings.doc() != TERMINATED {
            count += u64::from(alive.is_deleted(postings.doc()));
            postings.advance();
        }
        return Ok(count);
    }
    for part in deleted.chunks(CHUNK) {
        check(limits)?;
        for &document in part {
            let reached =
                if postings.doc() < document { postings.seek(document) } else { postings.doc() };
            count += u64::from(reached == document);
        }
    }
    Ok(count)
}

#[cfg(test)]
mod tests {
    use tantivy::{Index, IndexWriter, TantivyDocument};

    use super::*;
    use crate::engine::embedded::chooser::Only;
    use crate::engine::embedded::schema::{
        Fields, NAME_TRIGRAMS, TOKENIZER, WordTokenizer, schema,
    };
    use crate::engine::embedded::trigrams::TrigramTokenizer;
    use crate::model::Attribute;

    /// Returns the total and the first five ids of a word among 10,000 documents, after every `nth`
    /// was deleted. `None` if the segment has no list of them.
    fn found(word: &str, nth: u64) -> Option<(u64, Vec<u64>)> {
        let schema = schema();
        let fields = Fields::of(&schema).unwrap();
        let index = Index::create_in_ram(schema);
        index.tokenizers().register(TOKENIZER, WordTokenizer::default());
        index.tokenizers().register(NAME_TRIGRAMS, TrigramTokenizer::default());
        let mut writer: IndexWriter = index.writer_with_num_threads(1, 16 << 20).unwrap();
        for number in 0..10_000_u64 {
            let mut document = TantivyDocument::new();
            for (field, value) in [(fields.id, number), (fields.bucket, 1), (fields.run, 1)] {
                document.add_u64(field, value);
            }
            document.add_u64(fields.kind, u64::from(number.is_multiple_of(nth)));
            for attribute in Attribute::ALL {
                document.add_i64(fields.attributes[attribute], 0);
            }
            document.add_text(
                fields.name_words,
                if number.is_multiple_of(3) { "third" } else { "other" },
            );
            document.add_text(
                fields.name_words,
                if number.is_multiple_of(2_500) { "rare" } else { "all" },
            );
            writer.add_document(document).unwrap();
        }
        writer.commit().unwrap();
        writer.delete_term(Term::from_field_u64(fields.kind, 1));
        writer.commit().unwrap();
        let searcher = index.reader().unwrap().searcher();
        let segment = Segment::open(&searcher.segment_readers()[0]).unwrap();
        segment.deleted()?;
        let (query, limits) = (FileQuery::default(), Limits::none());
        let collector = PageCollector::new(&[], &query, &limits, 5, Only::All);
        let term = Term::from_field_text(fields.name_words, word);
        let total = of_segment(&segment, &term, 0, &collector).unwrap();
        let best = collector.take_best().into_sorted(0);
        Some((total, best.into_iter().map(|(_, id)| id).collect()))
    }

    #[test]
    fn deleted_documents_are_neither_counted_nor_returned() {
        for (word, every) in [("third", 3), ("rare", 2_500)] {
            for nth in [33, 50, 9_999] {
                let is_left =
                    |number: &u64| number.is_multiple_of(every) && !number.is_multiple_of(nth);
                let left: Vec<u64> = (0..10_000_u64).filter(is_left).collect();
                let first = left.iter().take(5).copied().collect();
                assert_eq!(found(word, nth), Some((left.len() as u64, first)), "{word}, {nth}");
            }
        }
    }

    #[test]
    fn many_deleted_documents_are_not_listed() {
        assert_eq!(found("third", 2), None);
    }
}
