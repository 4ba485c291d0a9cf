//! A file search as a condition on the rows of the table.

use super::{pattern, sql};
use crate::engine::error::EngineError;
use crate::model::file_query::{Between, FileQuery, Matching, Order, SortKey};
use crate::model::keywords::Phrase;

/// Everything that the search asks of a row, apart from its visibility; empty: nothing.
pub(super) fn conditions(query: &FileQuery) -> Result<Vec<String>, EngineError> {
    let mut all = Vec::new();
    if let Some(buckets) = &query.buckets {
        all.push(format!("bucket IN {}", sql::numbers(buckets)));
    }
    if !query.excluded_buckets.is_empty() {
        all.push(format!("bucket NOT IN {}", sql::numbers(&query.excluded_buckets)));
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
    if !query.modified.is_open() {
        all.push("modified != 0".to_owned());
        all.extend(bounds("modified", query.modified));
    }
    all.extend(bounds("size", query.size));
    all.extend(matching(query)?);
    Ok(all)
}

/// Whether the numbers of files per bucket alone tell the total.
pub(super) fn is_by_bucket(query: &FileQuery) -> bool {
    let anything = match &query.matching {
        Matching::All => true,
        Matching::Words(keywords) => keywords.is_empty(),
        Matching::Expression(_) => false,
    };
    anything
        && query.types.is_empty()
        && query.extensions.is_empty()
        && query.stop_extensions.is_empty()
        && query.modified.is_open()
        && query.size.is_open()
}

/// The column that rows are sorted by before their ids.
pub(super) fn sort_column(order: Order) -> Option<&'static str> {
    match order {
        Order::Index => None,
        Order::Size => Some("size"),
        Order::LastModified => Some("modified"),
    }
}

/// The condition that a row lies behind a place.
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

/// The order of rows.
pub(super) fn order(query: &FileQuery) -> String {
    match sort_column(query.order) {
        None => "id".to_owned(),
        Some(column) if query.descending => format!("{column} DESC, id"),
        Some(column) => format!("{column}, id"),
    }
}

fn bounds(column: &str, between: Between) -> Vec<String> {
    let from = between.from.map(|from| format!("{column} > {from}"));
    let to = between.to.map(|to| format!("{column} < {to}"));
    from.into_iter().chain(to).collect()
}

fn matching(query: &FileQuery) -> Result<Vec<String>, EngineError> {
    let words = if query.full_path { "path_words" } else { "name_words" };
    let found = |phrase: &Phrase, sign: &str| {
        format!("position({words}, {}) {sign} 0", sql::text(&format!(" {} ", phrase.join(" "))))
    };
    match &query.matching {
        Matching::All => Ok(Vec::new()),
        Matching::Words(keywords) => {
            let with = keywords.include.iter().map(|phrase| found(phrase, ">"));
            Ok(with.chain(keywords.exclude.iter().map(|phrase| found(phrase, "="))).collect())
        }
        Matching::Expression(expression) => {
            let pattern = pattern::whole(expression.hir()).map_err(EngineError::Unsupported)?;
            let subject =
                if query.full_path { "path" } else { "substring(path, name_at + 1, name_length)" };
            Ok(vec![format!("match({subject}, {})", sql::text(&pattern))])
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::keywords::Keywords;

    fn written(query: &FileQuery) -> String {
        conditions(query).unwrap().join(" AND ")
    }

    #[test]
    fn words_and_phrases_are_parts_of_the_padded_words() {
        let keywords = Keywords::parse("a b-c -d").unwrap();
        let query = FileQuery { matching: Matching::Words(keywords), ..FileQuery::default() };
        assert_eq!(
            written(&query),
            "position(name_words, ' a ') > 0 AND position(name_words, ' b c ') > 0 \
             AND position(name_words, ' d ') = 0"
        );
    }

    #[test]
    fn unknown_dates_fail_every_date_filter() {
        let modified = Between { from: None, to: Some(9) };
        let query = FileQuery { modified, ..FileQuery::default() };
        assert_eq!(written(&query), "modified != 0 AND modified < 9");
    }

    #[test]
    fn the_next_page_lies_behind_value_and_id() {
        let place = SortKey { value: 5, id: 7 };
        let mut query = FileQuery { order: Order::Size, ..FileQuery::default() };
        assert_eq!(after(&query, place), "(size > 5 OR (size = 5 AND id > 7))");
        query.descending = true;
        assert_eq!(after(&query, place), "(size < 5 OR (size = 5 AND id > 7))");
        assert_eq!(order(&query), "size DESC, id");
        query.order = Order::Index;
        assert_eq!((after(&query, place).as_str(), order(&query).as_str()), ("id > 7", "id"));
    }
}
