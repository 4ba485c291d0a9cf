//! SQL that behaves the same on both databases.

use diesel::dsl::{Escape, Like};
use diesel::expression::Expression;
use diesel::sql_types::Text;
use diesel::{EscapeExpressionMethods, TextExpressionMethods};

/// Return type of [`starts_with`].
pub type StartsWith<C> = Escape<Like<C, String>>;

/// Matches columns that start with a string, in which `%`, `_` and `\` are literal.
///
/// PostgreSQL matches case-sensitively, but SQLite only does so outside ASCII. To get the same
/// result from both, store a column that was case-folded in Rust and fold the string too.
///
/// ```
/// use diesel::prelude::*;
///
/// diesel::table! { note (id) { id -> BigInt, folded -> Text, } }
///
/// let query = note::table.filter(database::starts_with(note::folded, "50%"));
/// let sql = diesel::debug_query::<diesel::sqlite::Sqlite, _>(&query).to_string();
/// assert!(sql.contains("LIKE ? ESCAPE ?"), "{sql}");
/// ```
pub fn starts_with<C>(column: C, start: &str) -> StartsWith<C>
where
    C: TextExpressionMethods + Expression<SqlType = Text>,
{
    column.like(format!("{}%", escape(start))).escape('\\')
}

/// Returns a `LIKE … ESCAPE '\'` pattern that finds a string anywhere in a value. See
/// [`starts_with`] about letter case.
///
/// ```
/// assert_eq!(database::contains_pattern("a_b"), r"%a\_b%");
/// ```
pub fn contains_pattern(needle: &str) -> String {
    format!("%{}%", escape(needle))
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
