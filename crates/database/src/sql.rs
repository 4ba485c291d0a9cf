//! SQL that works the same on both databases.

use diesel::dsl::{Escape, Like};
use diesel::expression::Expression;
use diesel::sql_types::Text;
use diesel::{EscapeExpressionMethods, TextExpressionMethods};

/// The return type of [`starts_with`].
pub type StartsWith<C> = Escape<Like<C, String>>;

/// Matches column values that start with `start`. In `start`, `%`, `_` and `\` are literal.
///
/// PostgreSQL matches case-sensitively, whereas SQLite ignores the case of ASCII letters. To get
/// the same result from both, store the column case-folded (in Rust) and fold `start` as well.
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

/// Returns a `LIKE … ESCAPE '\'` pattern that finds `needle` anywhere in a value. For letter case,
/// see [`starts_with`].
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
