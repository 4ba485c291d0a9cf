//! Compiles file searches to Tantivy queries.

use std::ops::Bound;
use std::sync::Arc;

use tantivy::index::SegmentReader;
use tantivy::query::doc_predicate_query::{DocPredicateQuery, FunctionPredicate};
use tantivy::query::{AllQuery, BooleanQuery, Occur, Query, RangeQuery, TermQuery, TermSetQuery};
use tantivy::schema::{Field, IndexRecordOption};
use tantivy::{DocId, Term};

use super::phrase::PhraseQuery;
use super::schema::ID;
use super::seek_guard::SeekGuard;
use super::view::View;
use crate::engine::limits::Limits;
use crate::model::file_query::{FileQuery, Matching};
use crate::model::keywords::Phrase;
use crate::model::takedowns::HiddenPaths;

/// Number of terms above which one pass over a term set is faster than merging a posting list per
/// term.
const MOST_LISTS: usize = 16;

/// Compiles every condition that can be answered from posting lists, plus an optional extra query.
/// Intervals and expressions are left out.
pub(super) fn compile(
    view: &View,
    query: &FileQuery,
    also: Option<Box<dyn Query>>,
    limits: &Limits,
) -> Box<dyn Query> {
    let fields = view.fields;
    let words = if query.full_path { fields.path_words } else { fields.name_words };
    let mut clauses: Vec<(Occur, Box<dyn Query>)> = Vec::new();
    clauses.extend(also.map(|also| (Occur::Must, also)));
    if let Matching::Words(keywords) = &query.matching {
        let found = |term: &Phrase| phrase(words, term, limits);
        clauses.extend(keywords.include.iter().map(|term| (Occur::Must, found(term))));
        clauses.extend(keywords.exclude.iter().map(|term| (Occur::MustNot, found(term))));
    }
    clauses.extend(query.hidden.iter().map(|paths| (Occur::MustNot, paths_below(view, paths))));
    let numbers = |field: Field, values: &[u64]| -> Vec<Term> {
        values.iter().map(|&value| Term::from_field_u64(field, value)).collect()
    };
    let texts = |values: &[String]| -> Vec<Term> {
        values.iter().map(|value| Term::from_field_text(fields.extension, value)).collect()
    };
    if let Some(buckets) = &query.buckets {
        clauses.push((Occur::Must, any(numbers(fields.bucket, buckets))));
    }
    if let Some(ids) = &query.ids {
        let bound = |id: u64| Bound::Included(Term::from_field_u64(fields.id, id));
        let within = RangeQuery::new(bound(*ids.start()), bound(*ids.end()));
        clauses.push((Occur::Must, Box::new(within)));
    }
    let mut require = |terms: Vec<Term>, occur: Occur| {
        if !terms.is_empty() {
            clauses.push((occur, any(terms)));
        }
    };
    require(numbers(fields.kind, &query.types), Occur::Must);
    require(texts(&query.extensions), Occur::Must);
    require(numbers(fields.bucket, &query.excluded_buckets), Occur::MustNot);
    require(texts(&query.stop_extensions), Occur::MustNot);
    require(
        view.hidden_run().map(|run| Term::from_field_u64(fields.run, run)).into_iter().collect(),
        Occur::MustNot,
    );
    combine(clauses)
}

/// Matches a bucket's files below a prefix.
fn paths_below(view: &View, paths: &HiddenPaths) -> Box<dyn Query> {
    let bucket = any(vec![Term::from_field_u64(view.fields.bucket, paths.bucket)]);
    let (column, prefix) = (view.column.clone(), paths.prefix.clone().into_bytes());
    let segments = view.segments.clone();
    let predicate = FunctionPredicate::from(move |reader: &SegmentReader| {
        let open = segments.iter().find(|open| open.reader.segment_id() == reader.segment_id());
        let ids = match open {
            Some(segment) => Arc::clone(&segment.ids),
            None => reader.fast_fields().column_first_or_default::<u64>(ID)?,
        };
        let (column, prefix) = (column.clone(), prefix.clone());
        Ok(move |document: DocId| {
            let row = ids.get_val(document).wrapping_sub(1);
            // Rows from an open run can be past the end of this view's column.
            row < column.rows() && column.path(row).starts_with(&prefix)
        })
    });
    let below: DocPredicateQuery = predicate.into();
    Box::new(BooleanQuery::new(vec![(Occur::Must, bucket), (Occur::Must, Box::new(below))]))
}

fn combine(mut clauses: Vec<(Occur, Box<dyn Query>)>) -> Box<dyn Query> {
    if !clauses.iter().any(|(occur, _)| *occur == Occur::Must) {
        clauses.push((Occur::Must, Box::new(AllQuery)));
    }
    if clauses.len() == 1 {
        return clauses.remove(0).1;
    }
    // Term queries are fine without a guard.
    let steady = |(occur, query): (Occur, Box<dyn Query>)| match occur {
        Occur::MustNot if !query.is::<TermQuery>() => {
            (occur, Box::new(SeekGuard(query)) as Box<dyn Query>)
        }
        _ => (occur, query),
    };
    Box::new(BooleanQuery::new(clauses.into_iter().map(steady).collect()))
}

fn phrase(field: Field, words: &Phrase, limits: &Limits) -> Box<dyn Query> {
    let mut terms: Vec<Term> =
        words.iter().map(|word| Term::from_field_text(field, word)).collect();
    if terms.len() == 1 {
        return Box::new(TermQuery::new(terms.remove(0), IndexRecordOption::Basic));
    }
    Box::new(PhraseQuery::new(terms, limits))
}

/// Matches documents with at least one of the terms.
fn any(mut terms: Vec<Term>) -> Box<dyn Query> {
    if terms.len() == 1 {
        return Box::new(TermQuery::new(terms.remove(0), IndexRecordOption::Basic));
    }
    if terms.len() > MOST_LISTS {
        return Box::new(TermSetQuery::new(terms));
    }
    let clauses = terms.into_iter().map(|term| {
        let query: Box<dyn Query> = Box::new(TermQuery::new(term, IndexRecordOption::Basic));
        (Occur::Should, query)
    });
    Box::new(BooleanQuery::new(clauses.collect()))
}
