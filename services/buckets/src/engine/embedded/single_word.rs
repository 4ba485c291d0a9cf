//! Fast path for single-word searches sorted by id. The index knows the total, so only the first
//! few documents of each slice have to be read.

use tantivy::collector::Collector;
use tantivy::query::EnableScoring;
use tantivy::schema::IndexRecordOption;
use tantivy::{DocSet, SegmentOrdinal, TERMINATED, Term};

use super::blocks::Limited;
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
    let PageCollector { keep, limits, .. } = *collector;
    let weight = query::compile(view, query, None, limits)
        .weight(EnableScoring::disabled_from_searcher(&view.searcher))?;
    let after = match query.position {
        Position::After(place) => place.id,
        Position::Offset(_) => 0,
    };
    let limited = Limited { collector, limits };
    let (mut total, mut best) = (0, TopK::new(keep));
    for (ordinal, segment) in view.segments.iter().enumerate() {
        total += match hidden(view, segment)? {
            Hidden::All => continue,
            Hidden::None => of_segment(segment, word, after, limits, (keep, &mut best))?,
            Hidden::Some => {
                let ordinal = SegmentOrdinal::try_from(ordinal)
                    .map_err(|_| EngineError::Broken("too many segments".to_owned()))?;
                limited.collect_segment(&*weight, ordinal, &segment.reader)?
            }
        };
    }
    best.absorb(collector.take_best());
    Ok((total, best))
}

/// The part of a segment that is hidden because documents were deleted or belong to the open run.
enum Hidden {
    None,
    Some,
    All,
}

fn hidden(view: &View, segment: &Segment) -> Result<Hidden, EngineError> {
    if segment.reader.has_deletes() {
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
    limits: &Limits,
    (keep, best): (usize, &mut TopK),
) -> Result<u64, EngineError> {
    let index = segment.reader.inverted_index(word.field())?;
    let Some(mut postings) = index.read_postings(word, IndexRecordOption::Basic)? else {
        return Ok(0);
    };
    for (start, end) in segment.slices_after(after) {
        limits.check()?;
        let mut document =
            if postings.doc() < start { postings.seek(start) } else { postings.doc() };
        let mut taken = 0;
        while document < end && document != TERMINATED && taken < keep {
            best.push((0, segment.ids.get_val(document)));
            document = postings.advance();
            taken += 1;
        }
    }
    Ok(u64::from(postings.doc_freq()))
}
