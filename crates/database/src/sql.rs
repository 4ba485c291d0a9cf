//! Pieces of SQL that both databases understand alike.

use diesel::dsl::{Asc, Desc, Escape, IsNull, Like};
use diesel::expression::Expression;
use diesel::sql_types::{SqlType, Text};
use diesel::{EscapeExpressionMethods, ExpressionMethods, TextExpressionMethods};
use domain::Page;

/// The type of [`contains`] and [`starts_with`].
pub type Contains<C> = Escape<Like<C, String>>;

/// Finds a text anywhere in a column; `%`, `_` and `\` in it stand for themselves.
///
/// Letter case: PostgreSQL always heeds it, SQLite heeds it beyond ASCII only. Search a column
/// that was folded in Rust with a text folded alike, then both agree.
///
/// ```
/// use diesel::prelude::*;
///
/// diesel::table! { note (id) { id -> BigInt, folded -> Text, } }
///
/// let query = note::table.filter(database::contains(note::folded, "50%"));
/// let sql = diesel::debug_query::<diesel::sqlite::Sqlite, _>(&query).to_string();
/// assert!(sql.contains("LIKE ? ESCAPE ?"), "{sql}");
/// ```
pub fn contains<C>(column: C, needle: &str) -> Contains<C>
where
    C: TextExpressionMethods + Expression<SqlType = Text>,
{
    column.like(contains_pattern(needle)).escape('\\')
}

/// Finds a text at the beginning of a column; see [`contains`] for letter case.
pub fn starts_with<C>(column: C, start: &str) -> Contains<C>
where
    C: TextExpressionMethods + Expression<SqlType = Text>,
{
    column.like(prefix_pattern(start)).escape('\\')
}

/// The pattern for `LIKE … ESCAPE '\'` that finds a text anywhere.
///
/// ```
/// assert_eq!(database::contains_pattern("a_b"), r"%a\_b%");
/// ```
pub fn contains_pattern(needle: &str) -> String {
    format!("%{}%", escape(needle))
}

/// The pattern for `LIKE … ESCAPE '\'` that finds a text at the beginning.
///
/// ```
/// assert_eq!(database::prefix_pattern("100%"), r"100\%%");
/// ```
pub fn prefix_pattern(start: &str) -> String {
    format!("{}%", escape(start))
}

fn escape(text: &str) -> String {
    let mut escaped = String::with_capacity(text.len() + 2);
    for c in text.chars() {
        if matches!(c, '%' | '_' | '\\') {
            escaped.push('\\');
        }
        escaped.push(c);
    }
    escaped
}

/// Orders upwards with missing values at the end, in both databases.
///
/// ```
/// use diesel::prelude::*;
/// use database::nulls_last_asc;
///
/// diesel::table! { task (id) { id -> BigInt, due -> Nullable<BigInt>, } }
///
/// let query = task::table.order((nulls_last_asc(task::due), task::id));
/// # let _ = diesel::debug_query::<diesel::sqlite::Sqlite, _>(&query).to_string();
/// ```
pub fn nulls_last_asc<C>(column: C) -> (Asc<IsNull<C>>, Asc<C>)
where
    C: ExpressionMethods + Copy,
    C::SqlType: SqlType,
    IsNull<C>: ExpressionMethods,
{
    (column.is_null().asc(), column.asc())
}

/// Orders downwards with missing values at the end, in both databases.
pub fn nulls_last_desc<C>(column: C) -> (Asc<IsNull<C>>, Desc<C>)
where
    C: ExpressionMethods + Copy,
    C::SqlType: SqlType,
    IsNull<C>: ExpressionMethods,
{
    (column.is_null().asc(), column.desc())
}

/// `LIMIT` and `OFFSET` of a page, kept within what a database can count.
///
/// ```
/// let (limit, offset) = database::page_bounds(domain::Page { start: 20, limit: 10 });
/// assert_eq!((limit, offset), (10, 20));
/// ```
pub fn page_bounds(page: Page) -> (i64, i64) {
    let within = |n: u64| i64::try_from(n).unwrap_or(i64::MAX);
    (within(page.limit), within(page.start))
}
