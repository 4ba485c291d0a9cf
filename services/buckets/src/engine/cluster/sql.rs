//! Formats values as SQL.
//!
//! ClickHouse 18.16 doesn't support query parameters, so every string must go through [`text`].

use std::fmt::Write;

/// Quotes a string literal. All bytes are preserved.
pub(super) fn text(value: &str) -> String {
    let mut literal = String::with_capacity(value.len() + 2);
    literal.push('\'');
    for symbol in value.chars() {
        match symbol {
            '\\' => literal.push_str("\\\\"),
            '\'' => literal.push_str("\\'"),
            '\0' => literal.push_str("\\0"),
            '\n' => literal.push_str("\\n"),
            '\r' => literal.push_str("\\r"),
            '\t' => literal.push_str("\\t"),
            other => literal.push(other),
        }
    }
    literal.push('\'');
    literal
}

/// Formats an array of string literals.
pub(super) fn texts(values: &[String]) -> String {
    let literals: Vec<String> = values.iter().map(|value| text(value)).collect();
    format!("[{}]", literals.join(","))
}

/// Formats a list for `IN`. An empty list is formatted so that it doesn't match any id.
pub(super) fn numbers(values: &[u64]) -> String {
    let mut list = String::with_capacity(values.len() * 8 + 2);
    list.push('(');
    for (place, value) in values.iter().enumerate() {
        // Writing to a `String` can't fail.
        let _ = write!(list, "{}{value}", if place == 0 { "" } else { "," });
    }
    // Ids start at 1.
    list.push_str(if values.is_empty() { "0)" } else { ")" });
    list
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quotes_and_backslashes_are_escaped() {
        assert_eq!(text(r"a'b\"), r"'a\'b\\'");
        assert_eq!(text("\\'"), r"'\\\''");
        assert_eq!(text("a\0\n\r\t"), r"'a\0\n\r\t'");
        assert_eq!(text("'; DROP TABLE x --"), r"'\'; DROP TABLE x --'");
        assert_eq!(texts(&["a".to_owned(), "'".to_owned()]), r"['a','\'']");
    }

    #[test]
    fn empty_list_matches_no_id() {
        assert_eq!(numbers(&[]), "(0)");
        assert_eq!(numbers(&[7]), "(7)");
        assert_eq!(numbers(&[7, u64::MAX]), "(7,18446744073709551615)");
    }

    proptest::proptest! {
        #[test]
        fn literals_end_at_closing_quote(value in ".*") {
            let literal = text(&value);
            let inside = &literal[1..literal.len() - 1];
            let mut read = String::new();
            let mut symbols = inside.chars();
            while let Some(symbol) = symbols.next() {
                proptest::prop_assert_ne!(symbol, '\'');
                read.push(match symbol {
                    '\\' => match symbols.next() {
                        Some('0') => '\0',
                        Some('n') => '\n',
                        Some('r') => '\r',
                        Some('t') => '\t',
                        Some(other) => other,
                        None => panic!("a backslash precedes the closing quote"),
                    },
                    other => other,
                });
            }
            proptest::prop_assert_eq!(read, value);
        }
    }
}
