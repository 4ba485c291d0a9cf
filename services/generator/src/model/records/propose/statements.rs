//! Splits SQL files, such as database dumps, into statements.

/// A statement without its semicolon.
pub struct Part<'a> {
    /// Line number of the first line.
    pub line: usize,
    /// The SQL text.
    pub text: &'a str,
}

/// Splits a file into statements. Skips comments between statements, `psql` commands, `COPY` data
/// and MySQL's `DELIMITER` lines.
pub fn statements(text: &str) -> Vec<Part<'_>> {
    let is_mysql = is_mysql(text);
    let mut found = Vec::new();
    let (mut at, mut line, mut counted) = (0, 1, 0);
    while let Some(begin) = begin(text, at, is_mysql) {
        let end = end(text, begin, is_mysql);
        let part = text.get(begin..end).unwrap_or_default();
        at = end + 1;
        if begins(part, "COPY") && part.trim_end().to_ascii_lowercase().ends_with("stdin") {
            let rest = text.get(at..).unwrap_or_default();
            at = rest.find("\n\\.").map_or(text.len(), |end| at + end + 1);
        }
        if !part.trim().is_empty() {
            let lines = text.as_bytes()[counted..begin].iter().filter(|byte| **byte == b'\n');
            (line, counted) = (line + lines.count(), begin);
            found.push(Part { line, text: part });
        }
    }
    found
}

/// Starts of lines that are only written or understood by PostgreSQL programs.
const POSTGRESQL: [&str; 4] = ["COPY ", "SELECT pg_catalog.", "\\connect", "\\restrict"];
/// Starts of statements that are followed by a table name, which MySQL puts in backticks.
const TABLES: [&str; 5] =
    ["CREATE TABLE", "ALTER TABLE", "DROP TABLE", "INSERT INTO", "LOCK TABLES"];

/// Guesses whether a file was written for MySQL. Strings and comments are ignored.
pub fn is_mysql(text: &str) -> bool {
    let lines = || text.lines().map(str::trim_start);
    if lines().any(|line| POSTGRESQL.iter().any(|start| line.starts_with(start))) {
        return false;
    }
    lines().filter(|line| !line.starts_with("--")).any(|line| {
        let code = line.split('\'').next().unwrap_or_default();
        let names_table = TABLES.iter().any(|start| begins(code, start));
        names_table && code.contains('`')
            || (names_table || code.starts_with(')')) && line.contains("ENGINE=")
    })
}

/// Returns whether a string starts with a keyword.
pub fn begins(text: &str, word: &str) -> bool {
    text.get(..word.len()).is_some_and(|start| start.eq_ignore_ascii_case(word))
        && !text[word.len()..].starts_with(|letter: char| letter.is_alphanumeric() || letter == '_')
}

/// Returns the offset of the next statement.
fn begin(text: &str, mut at: usize, is_mysql: bool) -> Option<usize> {
    loop {
        let rest = text.get(at..)?;
        let trimmed = rest.trim_start();
        at += rest.len() - trimmed.len();
        if trimmed.is_empty() {
            return None;
        }
        match comment(trimmed, is_mysql) {
            Some(length) => at += length,
            None if trimmed.starts_with('\\') || begins(trimmed, "DELIMITER") => {
                at += trimmed.find('\n').unwrap_or(trimmed.len());
            }
            None => return Some(at),
        }
    }
}

/// Returns the length of a leading comment, if any.
pub fn comment(text: &str, is_mysql: bool) -> Option<usize> {
    let end = |mark: &str| text.find(mark).map_or(text.len(), |end| end + mark.len());
    if text.starts_with("--") || is_mysql && text.starts_with('#') {
        return Some(end("\n"));
    }
    text.starts_with("/*").then(|| end("*/"))
}

/// Returns the offset of the semicolon that ends a statement, or the length of the file.
fn end(text: &str, begin: usize, is_mysql: bool) -> usize {
    let mut at = begin;
    while let Some(rest) = text.get(at..).filter(|rest| !rest.is_empty()) {
        if let Some(length) = comment(rest, is_mysql) {
            at += length;
            continue;
        }
        let first = rest.chars().next().unwrap_or(';');
        at += match first {
            ';' => return at,
            '\'' => {
                // This could be a PostgreSQL string such as E'...'.
                let before = &text.as_bytes()[begin..at];
                let is_escape = before.last().is_some_and(|byte| byte.eq_ignore_ascii_case(&b'e'))
                    && !before.iter().rev().nth(1).is_some_and(u8::is_ascii_alphanumeric);
                quoted(rest, first, is_mysql || is_escape)
            }
            '"' | '`' => quoted(rest, first, false),
            // In a name such as `a$b$c`, it doesn't start a string.
            '$' if !is_mysql && !text[begin..at].ends_with(is_letter) => dollars(rest),
            _ => first.len_utf8(),
        };
    }
    text.len()
}

/// Returns the length of a quoted string. A doubled quote counts as the end of one string and the
/// start of another.
pub fn quoted(text: &str, quote: char, has_escapes: bool) -> usize {
    let mut letters = text.char_indices().skip(1);
    while let Some((at, letter)) = letters.next() {
        if letter == quote {
            return at + 1;
        }
        if letter == '\\' && has_escapes {
            letters.next();
        }
    }
    text.len()
}

/// Returns the length of a dollar-quoted string such as `$$…$$` or `$body$…$body$`, or 1 if there
/// is none.
fn dollars(text: &str) -> usize {
    let name = text[1..].find(|letter| !is_letter(letter)).unwrap_or(0);
    let Some(mark) = text.get(..name + 2).filter(|mark| mark.ends_with('$')) else { return 1 };
    let inside = &text[mark.len()..];
    inside.find(mark).map_or(text.len(), |end| end + 2 * mark.len())
}

fn is_letter(letter: char) -> bool {
    letter.is_alphanumeric() || letter == '_'
}

#[cfg(test)]
mod tests {
    use super::{is_mysql, statements};

    fn split(text: &str) -> Vec<(usize, &str)> {
        statements(text).into_iter().map(|part| (part.line, part.text)).collect()
    }

    #[test]
    fn semicolons_in_texts_comments_and_bodies_do_not_end_a_statement() {
        let text = "-- a; b\n\\restrict x;y\nA 'x;''y;' \"q;\" -- c;\n e'\\';' $$;$$ $b$;$$;$b$ 'C:\\';\n/* ; */ B; ;C";
        let parts = split(text);
        let ends: Vec<_> =
            parts.iter().map(|(line, part)| (*line, part.chars().next().unwrap())).collect();
        assert_eq!(ends, [(3, 'A'), (5, 'B'), (5, 'C')], "{parts:?}");
    }

    #[test]
    fn dollars_in_names_do_not_start_a_string() {
        assert_eq!(split("A a$b$c;B"), [(1, "A a$b$c"), (1, "B")]);
        assert_eq!(split("A $b$;$b$;B"), [(1, "A $b$;$b$"), (1, "B")]);
    }

    #[test]
    fn data_of_copy_and_delimiters_are_left_out() {
        let text = "COPY a (b) FROM stdin;\nit's;\n\\.\n\nA;COPY a FROM stdin;\n\\.\nB;";
        let kept: Vec<_> =
            split(text).into_iter().filter(|(_, part)| !part.starts_with("COPY")).collect();
        assert_eq!(kept, [(5, "A"), (7, "B")]);
        let text = "INSERT INTO `a` VALUES ('o\\'b;');\n# it's\nDELIMITER ;;\nA;;\nDELIMITER ;\nB";
        let parts = split(text);
        assert_eq!(parts[1..], [(4, "A"), (6, "B")]);
    }

    #[test]
    fn backticks_in_texts_comments_and_data_are_not_those_of_mysql() {
        for text in [
            "COMMENT ON SCHEMA public IS 'see `README`';\nCREATE TABLE a (id INT);",
            "-- INSERT INTO `a`\nCREATE TABLE a (id INT);",
            "CREATE TABLE a (c TEXT DEFAULT 'C:\\', d TEXT);\nCOPY a (c, d) FROM stdin;\n`\t)ENGINE=\n\\.\n",
            "CREATE TABLE a (c TEXT DEFAULT '`');",
        ] {
            assert!(!is_mysql(text), "{text}");
        }
        for text in
            ["create table if not exists `a` (`b` INT);", "CREATE TABLE a (b INT\n) ENGINE=InnoDB;"]
        {
            assert!(is_mysql(text), "{text}");
        }
    }

    #[test]
    fn truncated_files_do_not_panic() {
        let text = "-- é\nA $$é$$ $é$ 'é\\' \"é\" `é` /* é */ $a;\nCOPY é FROM stdin;\né\n\\.\n\\é\n#é\ne'é\\'';";
        for (end, _) in text.char_indices() {
            statements(&text[..end]);
            statements(&text[end..]);
        }
    }
}
