//! Makes SQLite's `GLOB` operator readable for the SQL parser, which doesn't support it.
//!
//! `GLOB` is replaced with `REGEXP`, and its pattern is prefixed with a marker that distinguishes
//! it from a regular expression.

const GLOB: &str = " GLOB '";
const HIDDEN: &str = " REGEXP '\u{1}";
const MARK: char = '\u{1}';

/// Returns whether a statement uses `GLOB`.
pub fn has_any(statement: &str) -> bool {
    statement.contains(GLOB)
}

/// Returns a statement in a form that the SQL parser supports.
pub fn hidden(statement: &str) -> String {
    statement.replace(GLOB, HIDDEN)
}

/// Reverses [`hidden`].
pub fn shown(text: &str) -> String {
    text.replace(HIDDEN, GLOB)
}

/// Returns the pattern of a `GLOB`, or `None` if it is a regular expression.
pub fn pattern(text: &str) -> Option<&str> {
    text.strip_prefix(MARK)
}

/// Translates a pattern to a regular expression, in which `any` and `one` take the place of the
/// wildcards.
pub fn translated(pattern: &str, any: &str, one: &str) -> String {
    let mut regex = "^".to_owned();
    for letter in pattern.chars() {
        match letter {
            '*' => regex.push_str(any),
            '?' => regex.push_str(one),
            '[' | ']' | '-' | '^' => regex.push(letter),
            letter => regex.push_str(&regex_syntax::escape(&letter.to_string())),
        }
    }
    regex.push('$');
    regex
}
