//! Rewrites statements that are valid in PostgreSQL but not supported by the SQL parser.

use super::statements::{begins, quoted};

/// Rewrites a statement for the SQL parser, or returns `None` if there is nothing to change.
///
/// - In `CREATE DOMAIN`, `NOT NULL` becomes a check.
/// - In `CREATE UNIQUE INDEX … ON ONLY`, `ONLY` is left out.
pub fn rewritten(statement: &str) -> Option<String> {
    let mut words = statement.split_whitespace().take(2).map(str::to_ascii_uppercase);
    match (words.next()?.as_str(), words.next()?.as_str()) {
        ("CREATE", "DOMAIN") => replaced(statement, ["NOT", "NULL"], "CHECK (VALUE IS NOT NULL)"),
        ("CREATE", "UNIQUE") => replaced(statement, ["ON", "ONLY"], "ON"),
        _ => None,
    }
}

/// Replaces all occurrences of two consecutive words outside of parentheses and quotes.
fn replaced(statement: &str, words: [&str; 2], by: &str) -> Option<String> {
    let (mut whole, mut at, mut depth, mut is_changed) = (String::new(), 0, 0_usize, false);
    while let Some(rest) = statement.get(at..).filter(|rest| !rest.is_empty()) {
        let first = rest.chars().next()?;
        let is_start = depth == 0 && !statement[..at].ends_with(is_letter);
        if let Some(length) = pair(rest, words).filter(|_| is_start) {
            whole.push_str(by);
            at += length;
            is_changed = true;
            continue;
        }
        let length = match first {
            '\'' | '"' => quoted(rest, first, false),
            _ => first.len_utf8(),
        };
        match first {
            '(' => depth += 1,
            ')' => depth = depth.saturating_sub(1),
            _ => {}
        }
        whole.push_str(&rest[..length]);
        at += length;
    }
    is_changed.then_some(whole)
}

/// Returns the length of the two words, provided that the text starts with them.
fn pair(text: &str, [first, second]: [&str; 2]) -> Option<usize> {
    let rest = text.get(first.len()..).filter(|_| begins(text, first))?.trim_start();
    begins(rest, second).then(|| text.len() - rest.len() + second.len())
}

fn is_letter(letter: char) -> bool {
    letter.is_alphanumeric() || letter == '_'
}

#[cfg(test)]
mod tests {
    use super::rewritten;

    #[test]
    fn words_in_quotes_parentheses_and_names_are_kept() {
        for (statement, expected) in [
            (
                "CREATE DOMAIN d AS text DEFAULT 'not null' not  null CHECK (VALUE IS NOT NULL)",
                Some(
                    "CREATE DOMAIN d AS text DEFAULT 'not null' CHECK (VALUE IS NOT NULL) \
                     CHECK (VALUE IS NOT NULL)",
                ),
            ),
            ("CREATE DOMAIN is_not null_able AS int", None),
            (
                "create unique index i on only public.t (a)",
                Some("create unique index i ON public.t (a)"),
            ),
            ("CREATE UNIQUE INDEX i ON only_t (a)", None),
            ("CREATE TABLE t (a INT NOT NULL)", None),
        ] {
            assert_eq!(rewritten(statement).as_deref(), expected, "{statement}");
        }
    }
}
