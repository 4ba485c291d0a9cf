//! Rewrites statements that are valid in PostgreSQL but not supported by the SQL parser.

use super::statements::{begins, comment, quoted};

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

/// The words that introduce the options of an identity column.
const IDENTITY: [&str; 2] = ["AS", "IDENTITY"];

/// Returns a statement whose identity columns have at most the options `INCREMENT BY` and `START
/// WITH`, in this order. The SQL parser doesn't support another order or the name of a sequence.
/// Returns `None` if there are no such options.
pub fn with_simple_identities(statement: &str) -> Option<String> {
    let (mut whole, mut at, mut is_changed) = (String::new(), 0, false);
    while let Some(rest) = statement.get(at..).filter(|rest| !rest.is_empty()) {
        let first = rest.chars().next()?;
        let is_start = !statement[..at].ends_with(is_letter);
        let words = pair(rest, IDENTITY).filter(|_| is_start);
        if let Some((length, options)) = words.and_then(|length| options_after(rest, length)) {
            whole.push_str(&format!("AS IDENTITY{options}"));
            at += length;
            is_changed = true;
            continue;
        }
        let length = match (comment(rest, false), first) {
            (Some(length), _) => length,
            (None, '\'' | '"') => quoted(rest, first, false),
            (None, _) => first.len_utf8(),
        };
        whole.push_str(&rest[..length]);
        at += length;
    }
    is_changed.then_some(whole)
}

/// Reads the options in parentheses after the first `words` bytes of `text`. Returns the length of
/// the words and the options, and the options in the form for the SQL parser.
fn options_after(text: &str, words: usize) -> Option<(usize, String)> {
    let rest = text[words..].trim_start();
    let mut at = text.len() - rest.strip_prefix('(')?.len();
    let mut options = String::new();
    loop {
        let rest = &text[at..];
        let first = rest.chars().next()?;
        at += match first {
            ')' => break,
            // This is part of the name of a sequence.
            '\'' | '"' => quoted(rest, first, false),
            _ => {
                options.push(first);
                first.len_utf8()
            }
        };
    }
    let (start, step) = numbering(&options);
    let simple = match (start, step) {
        (1, 1) => String::new(),
        _ => format!(" (INCREMENT BY {step} START WITH {start})"),
    };
    Some((at + 1, simple))
}

/// Returns the first number and the step of a sequence with these options.
fn numbering(options: &str) -> (i64, i64) {
    let words: Vec<_> = options.split_whitespace().map(str::to_ascii_uppercase).collect();
    // A word such as `WITH` may precede the number, and `NO` means that there is none.
    let number = |name: &str| {
        let place = words.iter().position(|word| word == name)?;
        let is_none = place.checked_sub(1).is_some_and(|before| words[before] == "NO");
        let mut after = words[place + 1..].iter().take(2).filter(|_| !is_none);
        after.find_map(|word| word.parse::<i64>().ok())
    };
    let step = number("INCREMENT").filter(|step| *step != 0).unwrap_or(1);
    let (bound, usual) = if step > 0 { ("MINVALUE", 1) } else { ("MAXVALUE", -1) };
    (number("START").or_else(|| number(bound)).unwrap_or(usual), step)
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
    use super::{rewritten, with_simple_identities};

    #[test]
    fn options_of_identity_columns_are_in_the_order_of_the_parser() {
        for (options, expected) in [
            (" (SEQUENCE NAME \"a (b)\".s START WITH 1\n INCREMENT BY 1 NO MINVALUE CACHE 1)", ""),
            ("(start 1000 increment 5)", " (INCREMENT BY 5 START WITH 1000)"),
            (" ( MINVALUE 100 MAXVALUE 900 )", " (INCREMENT BY 1 START WITH 100)"),
            (" (INCREMENT BY -2 NO MAXVALUE)", " (INCREMENT BY -2 START WITH -1)"),
        ] {
            let column = |options: &str| {
                format!(
                    "CREATE TABLE t (/* as identity (start 7) */ a int AS IDENTITY{options} KEY)"
                )
            };
            let simple = with_simple_identities(&column(options));
            assert_eq!(simple, Some(column(expected)), "{options}");
        }
        let plain = "ALTER TABLE t ALTER a ADD GENERATED ALWAYS AS IDENTITY, ADD CHECK (a > 1)";
        assert_eq!(with_simple_identities(plain), None);
        let default = "CREATE TABLE t (a text DEFAULT ' as identity (start 7)', has identity (1))";
        assert_eq!(with_simple_identities(default), None);
        assert_eq!(with_simple_identities("CREATE TABLE t (a int AS IDENTITY (START"), None);
    }

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
