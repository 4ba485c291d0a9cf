//! Translates file searches into SQL conditions.

use super::layout::Layout;
use super::{pattern, sql};
use crate::engine::error::EngineError;
use crate::model::Attribute;
use crate::model::expression::Expression;
use crate::model::file_query::{Between, FileQuery, Matching, Order, SortKey};
use crate::model::keywords::Phrase;
use crate::model::takedowns::HiddenPaths;

/// Returns all conditions except visibility. There might not be any.
pub(super) fn conditions(query: &FileQuery, layout: Layout) -> Result<Vec<String>, EngineError> {
    let mut all = Vec::new();
    if let Some(buckets) = &query.buckets {
        all.push(format!("bucket IN {}", sql::numbers(buckets)));
    }
    if !query.excluded_buckets.is_empty() {
        all.push(format!("bucket NOT IN {}", sql::numbers(&query.excluded_buckets)));
    }
    for HiddenPaths { bucket, prefix } in &query.hidden {
        all.push(format!("NOT (bucket = {bucket} AND startsWith(path, {}))", sql::text(prefix)));
    }
    if !query.types.is_empty() {
        all.push(format!("kind IN {}", sql::numbers(&query.types)));
    }
    if !query.extensions.is_empty() {
        all.push(format!("hasAny(extensions, {})", sql::texts(&query.extensions)));
    }
    if !query.stop_extensions.is_empty() {
        all.push(format!("NOT hasAny(extensions, {})", sql::texts(&query.stop_extensions)));
    }
    for attribute in Attribute::ALL {
        all.extend(interval(attribute, query.intervals[attribute]));
    }
    all.extend(
        query.ids.as_ref().map(|ids| format!("id BETWEEN {} AND {}", ids.start(), ids.end())),
    );
    all.extend(matching(query, layout)?);
    Ok(all)
}

/// Returns `true` if the total can be computed from the file counts per bucket.
pub(super) fn is_by_bucket(query: &FileQuery) -> bool {
    let anything = match &query.matching {
        Matching::All => true,
        Matching::Words(keywords) => keywords.is_empty(),
        Matching::Expression(_) => false,
    };
    anything
        && query.hidden.is_empty()
        && query.types.is_empty()
        && query.extensions.is_empty()
        && query.stop_extensions.is_empty()
        && query.intervals.are_open()
        && query.ids.is_none()
}

/// Returns the column to sort by before the id, or `None` to sort by id only.
pub(super) fn sort_column(order: Order) -> Option<&'static str> {
    match order {
        Order::Index => None,
        Order::By(attribute) => Some(attribute.column()),
    }
}

/// Returns the condition for rows that come after a sort key.
pub(super) fn after(query: &FileQuery, place: SortKey) -> String {
    let SortKey { value, id } = place;
    match sort_column(query.order) {
        None => format!("id > {id}"),
        Some(column) => {
            let further = if query.descending { '<' } else { '>' };
            format!("({column} {further} {value} OR ({column} = {value} AND id > {id}))")
        }
    }
}

/// Builds the `ORDER BY` expression.
pub(super) fn order(query: &FileQuery) -> String {
    match sort_column(query.order) {
        None => "id".to_owned(),
        Some(column) if query.descending => format!("{column} DESC, id"),
        Some(column) => format!("{column}, id"),
    }
}

fn interval(attribute: Attribute, between: Between) -> impl Iterator<Item = String> {
    let column = attribute.column();
    let narrowed = attribute.has_unknown() && !between.is_open();
    let known = narrowed.then(|| format!("{column} != 0"));
    let from = between.from.map(|from| format!("{column} > {from}"));
    let to = between.to.map(|to| format!("{column} < {to}"));
    known.into_iter().chain(from).chain(to)
}

fn matching(query: &FileQuery, layout: Layout) -> Result<Vec<String>, EngineError> {
    match &query.matching {
        Matching::All => Ok(Vec::new()),
        Matching::Words(keywords) => {
            let words = if query.full_path { "path_words" } else { "name_words" };
            let with = keywords.include.iter().flat_map(|phrase| included(words, phrase, layout));
            let without =
                keywords.exclude.iter().map(|phrase| format!("{} = 0", place(words, phrase)));
            Ok(with.chain(without).collect())
        }
        Matching::Expression(expression) => expression_matches(query, expression, layout),
    }
}

/// Returns the SQL expression for a phrase's position in the padded words (0 if it doesn't occur).
fn place(words: &str, phrase: &Phrase) -> String {
    format!("position({words}, {})", sql::text(&format!(" {} ", phrase.join(" "))))
}

/// Returns the conditions for a phrase. The text index finds words but not their positions, so a
/// phrase of several words needs a second condition.
fn included(words: &str, phrase: &Phrase, layout: Layout) -> Vec<String> {
    let matches = format!("{} > 0", place(words, phrase));
    match layout {
        Layout::Plain => vec![matches],
        Layout::Indexed => {
            let found = format!("hasAllTokens({words}, {})", sql::texts(phrase));
            if phrase.len() == 1 { vec![found] } else { vec![found, matches] }
        }
    }
}

fn expression_matches(
    query: &FileQuery,
    expression: &Expression,
    layout: Layout,
) -> Result<Vec<String>, EngineError> {
    let folded = (layout == Layout::Indexed && !query.full_path)
        .then(|| pattern::folded(expression.hir()))
        .flatten();
    let (subject, hir) = match &folded {
        Some(hir) => ("name_folded", hir),
        None if query.full_path => ("path", expression.hir()),
        None => ("substring(path, name_at + 1, name_length)", expression.hir()),
    };
    let pattern = pattern::whole(hir).map_err(EngineError::Unsupported)?;
    Ok(vec![format!("match({subject}, {})", sql::text(&pattern))])
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::*;
    use crate::model::keywords::Keywords;

    fn written(query: &FileQuery) -> String {
        conditions(query, Layout::Plain).unwrap().join(" AND ")
    }

    fn with_index(query: &FileQuery) -> String {
        conditions(query, Layout::Indexed).unwrap().join(" AND ")
    }

    #[test]
    fn words_and_phrases_match_padded_words() {
        let keywords = Keywords::parse("a b-c -d").unwrap();
        let query = FileQuery { matching: Matching::Words(keywords), ..FileQuery::default() };
        assert_eq!(
            written(&query),
            "position(name_words, ' a ') > 0 AND position(name_words, ' b c ') > 0 \
             AND position(name_words, ' d ') = 0"
        );
        assert_eq!(
            with_index(&query),
            "hasAllTokens(name_words, ['a']) AND hasAllTokens(name_words, ['b','c']) AND \
             position(name_words, ' b c ') > 0 AND position(name_words, ' d ') = 0"
        );
    }

    #[test]
    fn case_insensitive_expressions_use_folded_names() {
        let written = |text: &str, full_path: bool| {
            let expression = Arc::new(Expression::parse(text, false).unwrap());
            let matching = Matching::Expression(expression);
            with_index(&FileQuery { matching, full_path, ..FileQuery::default() })
        };
        assert_eq!(written(".*Ab.*", false), "match(name_folded, '(?:ab)')");
        assert_eq!(written(".*Ab.*", true), "match(path, '(?:[Aa][Bb])')");
        let name = "substring(path, name_at + 1, name_length)";
        assert_eq!(written(".*(?-i:Ab).*", false), format!("match({name}, '(?:Ab)')"));
    }

    #[test]
    fn date_filters_exclude_unknown_dates() {
        let mut query = FileQuery::default();
        query.intervals[Attribute::LastModified].to = Some(9);
        assert_eq!(written(&query), "modified != 0 AND modified < 9");
    }

    #[test]
    fn range_of_ids_is_inclusive() {
        let query = FileQuery { ids: Some(5..=7), ..FileQuery::default() };
        assert_eq!(written(&query), "id BETWEEN 5 AND 7");
        assert!(!is_by_bucket(&query));
    }

    #[test]
    fn next_page_follows_value_and_id() {
        let place = SortKey { value: 5, id: 7 };
        let mut query = FileQuery { order: Order::By(Attribute::Size), ..FileQuery::default() };
        assert_eq!(after(&query, place), "(size > 5 OR (size = 5 AND id > 7))");
        query.descending = true;
        assert_eq!(after(&query, place), "(size < 5 OR (size = 5 AND id > 7))");
        assert_eq!(order(&query), "size DESC, id");
        query.order = Order::Index;
        assert_eq!((after(&query, place).as_str(), order(&query).as_str()), ("id > 7", "id"));
    }
}
