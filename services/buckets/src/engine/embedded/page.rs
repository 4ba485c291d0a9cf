//! Runs searches: picks a strategy, finds the page and reads its rows.

use std::sync::Arc;

use tantivy::Term;
use tantivy::collector::Collector;
use tantivy::query::Query;

use super::chooser::Only;
use super::collect::BitCollector;
use super::core::{is_impossible, of_rows};
use super::judge::Judge;
use super::page_collector::PageCollector;
use super::top_k::{TopK, unranked};
use super::trigrams::{self, Narrowed};
use super::view::View;
use super::{path_candidates, query, scan, single_word};
use crate::engine::bitmap::Bitmap;
use crate::engine::error::EngineError;
use crate::engine::limits::Limits;
use crate::model::expression::Expression;
use crate::model::file_query::{FileQuery, Found, Matching, Order, Position, SortKey};

/// Total number of results, and the ids on one page.
#[derive(Default)]
pub(super) struct FoundIds {
    pub(super) total: u64,
    pub(super) ids: Vec<u64>,
    next: Option<SortKey>,
}

/// Runs a search and reads its page.
pub(super) fn answer(
    view: &View,
    query: &FileQuery,
    limits: &Limits,
) -> Result<Found, EngineError> {
    let FoundIds { total, ids, next } = find(view, query, limits)?;
    Ok(Found { total, rows: view.rows(&ids, limits)?, next })
}

/// Runs a search but only returns the ids on its page.
pub(super) fn find(
    view: &View,
    query: &FileQuery,
    limits: &Limits,
) -> Result<FoundIds, EngineError> {
    if query.buckets.as_ref().is_some_and(Vec::is_empty) {
        return Ok(FoundIds::default());
    }
    let by_expression = matches!(query.matching, Matching::Expression(_));
    if !by_expression && is_everything(query) && query.order == Order::Index {
        if view.knows_visible() {
            limits.note_known_total();
        }
        let (bitmap, count) = view.visible(limits)?;
        return Ok(page_of(query, (bitmap, *count)));
    }
    match candidates(view, query, limits)? {
        Candidates::None => Ok(FoundIds::default()),
        Candidates::Rows(hits) if query.order == Order::Index => {
            Ok(page_of(query, (&hits, hits.count())))
        }
        Candidates::Rows(hits) => {
            collected(view, query, limits, &*view.visible_query(), Only::Rows(Arc::new(hits)))
        }
        Candidates::Query(compiled, only) => collected(view, query, limits, &*compiled, only),
    }
}

/// Documents that could match. Intervals haven't been applied yet.
pub(super) enum Candidates {
    /// Nothing matches.
    None,
    /// The documents of these rows.
    Rows(Bitmap),
    /// The results of a query, with an additional filter.
    Query(Box<dyn Query>, Only),
}

/// Finds the candidates for a search as cheaply as possible.
pub(super) fn candidates(
    view: &View,
    query: &FileQuery,
    limits: &Limits,
) -> Result<Candidates, EngineError> {
    if query.buckets.as_ref().is_some_and(Vec::is_empty) {
        return Ok(Candidates::None);
    }
    if let Matching::Expression(expression) = &query.matching {
        return by_expression(view, query, expression, limits);
    }
    Ok(Candidates::Query(query::compile(view, query, None, limits), Only::All))
}

/// Narrows the search down with trigrams or directories if that pays off. Otherwise, reads every
/// name.
fn by_expression(
    view: &View,
    query: &FileQuery,
    expression: &Arc<Expression>,
    limits: &Limits,
) -> Result<Candidates, EngineError> {
    let hir = of_rows(expression.hir());
    if is_impossible(&hir) {
        return Ok(Candidates::None);
    }
    let judge = Arc::new(Judge::new(expression, &hir, query.full_path, &view.column));
    let narrowed = if query.full_path { None } else { trigrams::narrowed(view, &hir)? };
    if let Some(Narrowed { query: also, decides }) = narrowed {
        let compiled = query::compile(view, query, Some(also), limits);
        let word = judge.word().map(|word| Term::from_field_text(view.fields.name_words, word));
        let only = if decides { Only::All } else { Only::Judged(judge, word) };
        return Ok(Candidates::Query(compiled, only));
    }
    let mut allowed = allowed(view, query, limits)?;
    if query.full_path
        && let Some(rows) = path_candidates::candidates(view, query, &hir, limits)?
    {
        allowed.intersect(&rows);
    }
    scan::matching_rows(&judge, &allowed, limits).map(Candidates::Rows)
}

/// Returns `true` if there are no conditions other than an expression.
fn is_everything(query: &FileQuery) -> bool {
    let any_words = match &query.matching {
        Matching::Words(keywords) => keywords.is_empty(),
        Matching::All | Matching::Expression(_) => true,
    };
    any_words && query.is_unfiltered()
}

/// Returns the rows that pass every filter except the expression.
fn allowed(view: &View, query: &FileQuery, limits: &Limits) -> Result<Bitmap, EngineError> {
    if is_everything(query) {
        return Ok(view.visible(limits)?.0.clone());
    }
    let collector = BitCollector::new(&view.segments, view.column.rows(), query);
    view.gather(&*query::compile(view, query, None, limits), &collector, limits)
}

fn page_of(query: &FileQuery, (rows, total): (&Bitmap, u64)) -> FoundIds {
    let (from, skip) = match query.position {
        Position::Offset(start) => (0, start),
        // Row numbers are ids minus one, so this id is also the number of the next row.
        Position::After(place) => (place.id, 0),
    };
    let mut ids = rows.page(from, skip, query.limit + 1);
    let more = ids.len() > query.limit;
    ids.truncate(query.limit);
    ids.iter_mut().for_each(|row| *row += 1);
    let next = ids.last().filter(|_| more).map(|&id| SortKey { value: 0, id });
    FoundIds { total, ids, next }
}

/// Runs a query. If it has to check names, it runs on a separate thread pool.
pub(super) fn run<C: Collector>(
    view: &View,
    compiled: &dyn Query,
    collector: &C,
    judged: bool,
    limits: &Limits,
) -> Result<C::Fruit, EngineError> {
    match judged {
        true => view.gather_on(&view.judges, compiled, collector, limits),
        false => view.gather(compiled, collector, limits),
    }
}

fn collected(
    view: &View,
    query: &FileQuery,
    limits: &Limits,
    compiled: &dyn Query,
    only: Only,
) -> Result<FoundIds, EngineError> {
    let skip = match query.position {
        Position::Offset(start) => usize::try_from(start).unwrap_or(usize::MAX),
        Position::After(_) => 0,
    };
    let keep = skip.saturating_add(query.limit).saturating_add(1);
    let documents = usize::try_from(view.searcher.num_docs()).unwrap_or(usize::MAX);
    let _keys = limits.wait_for_keys(keep.min(documents))?;
    let judged = matches!(only, Only::Judged(..));
    let collector = PageCollector::new(&view.segments, query, limits, keep, only);
    let gathered: Result<(u64, TopK), EngineError> = match single_word::only_word(view, query, keep)
    {
        Some(word) => single_word::places(view, query, &word, &collector),
        None => run(view, compiled, &collector, judged, limits),
    };
    // If the search was stopped, the result is an error or incomplete.
    limits.check()?;
    let (total, best) = gathered?;
    let mut places = best.into_sorted(skip);
    let more = places.len() > query.limit;
    places.truncate(query.limit);
    let next = places.last().filter(|_| more).map(|&place| unranked(place, query.descending));
    let ids = places.into_iter().map(|(_, id)| id).collect();
    Ok(FoundIds { total, ids, next })
}
