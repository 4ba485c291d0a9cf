//! Reads a column from SQL dumps. The rows are in INSERT statements, or in COPY statements as
//! written by pg_dump.

use std::collections::BTreeSet;
use std::io::{self, BufRead};

use super::each::Each;
use super::input::MAX_LINE;
use super::skip_reason::{self, SkipReason};
use super::sql_choice::ColumnChoice;
use super::sql_columns::{Columns, Tables};
use super::sql_tokens::{Token, Tokens};

/// Reads the values of a column, specified as `column` or `table.column`. The column may be a
/// number (from 1). The default is a column with a well-known name in each table. Returns the
/// columns that were read.
///
/// # Errors
/// Returns I/O errors. If no table has the column, the error lists the tables. If the dump is
/// truncated, the error includes the position.
pub fn read(
    input: impl BufRead,
    column: Option<&str>,
    each: Each<'_>,
) -> io::Result<BTreeSet<String>> {
    let mut dump = Dump {
        tokens: Tokens::new(input),
        tables: Tables::default(),
        choice: ColumnChoice::new(column),
    };
    dump.read(each)?;
    dump.choice.finish()
}

/// A dump that is being read.
pub(super) struct Dump<R> {
    pub(super) tokens: Tokens<R>,
    /// Columns of each table according to its CREATE statement.
    tables: Tables,
    pub(super) choice: ColumnChoice,
}

impl<R: BufRead> Dump<R> {
    fn read(&mut self, each: Each<'_>) -> io::Result<()> {
        while let Some(token) = self.tokens.next()? {
            let Token::Word(word) = &token else {
                self.tokens.put_back(Some(token));
                self.tokens.skip_statement()?;
                continue;
            };
            match word.as_str() {
                "insert" | "replace" => self.insert(each)?,
                "copy" => self.copy(each)?,
                "create" => self.create()?,
                "set" => self.set()?,
                "go" => {}
                // Only SQLite dumps contain PRAGMA statements.
                "pragma" => {
                    self.tokens.set_escapes(false);
                    self.tokens.skip_statement()?;
                }
                _ => self.tokens.skip_statement()?,
            }
        }
        Ok(())
    }

    /// Reads a SET statement. PostgreSQL dumps use it for `standard_conforming_strings`.
    fn set(&mut self) -> io::Result<()> {
        let name = self.tokens.next()?;
        if name.as_ref().is_some_and(|name| name.is_word("standard_conforming_strings")) {
            self.tokens.next()?;
            let value = self.tokens.next()?;
            let is_off = |text: &str| text.eq_ignore_ascii_case("off");
            let escapes =
                matches!(value, Some(Token::Word(text) | Token::Text(text)) if is_off(&text));
            self.tokens.set_escapes(escapes);
        } else {
            self.tokens.put_back(name);
        }
        self.tokens.skip_statement()
    }

    /// Reads `TABLE [schema.]name` and any words before it. Returns the name and the next token.
    fn table(&mut self) -> io::Result<(String, Option<Token>)> {
        let mut name = String::new();
        let mut next = self.tokens.next()?;
        const BEFORE: [&str; 13] = [
            "into",
            "table",
            "if",
            "not",
            "exists",
            "or",
            "ignore",
            "replace",
            "only",
            "low_priority",
            "delayed",
            "temporary",
            "unlogged",
        ];
        while let Some(Token::Word(word)) = &next {
            if !BEFORE.contains(&word.as_str()) {
                break;
            }
            next = self.tokens.next()?;
        }
        while let Some(Token::Word(part) | Token::Name(part) | Token::Text(part)) = next {
            name = part.to_lowercase();
            next = self.tokens.next()?;
            if !matches!(next, Some(Token::Symbol(b'.'))) {
                break;
            }
            next = self.tokens.next()?;
        }
        Ok((name, next))
    }

    /// Reads a table's name and columns. Also returns whether the columns were listed, and the next
    /// token.
    pub(super) fn table_and_columns(
        &mut self,
    ) -> io::Result<(String, Vec<String>, bool, Option<Token>)> {
        let (table, next) = self.table()?;
        if matches!(next, Some(Token::Symbol(b'('))) {
            return Ok((table, self.names()?, true, self.tokens.next()?));
        }
        let columns = self.tables.columns(&table);
        Ok((table, columns, false, next))
    }

    /// Reads a list of names up to the closing parenthesis.
    fn names(&mut self) -> io::Result<Vec<String>> {
        let mut names = Columns::default();
        loop {
            match self.tokens.next()? {
                Some(Token::Word(name) | Token::Name(name) | Token::Text(name)) => {
                    names.push(name.to_lowercase())?;
                }
                Some(Token::Symbol(b',')) => {}
                None => return Err(incomplete("the last list of columns is not closed")),
                Some(_) => return Ok(names.into_list()),
            }
        }
    }

    /// Reads the columns of a CREATE TABLE statement. Each definition starts with the column's
    /// name.
    fn create(&mut self) -> io::Result<()> {
        let (name, next) = self.table()?;
        if !matches!(next, Some(Token::Symbol(b'('))) {
            self.tokens.put_back(next);
            return self.tokens.skip_statement();
        }
        const NO_COLUMNS: [&str; 9] = [
            "primary",
            "key",
            "unique",
            "constraint",
            "index",
            "foreign",
            "check",
            "fulltext",
            "exclude",
        ];
        let (mut columns, mut depth, mut is_start) = (Columns::default(), 1, true);
        while depth > 0 {
            match self.tokens.next()? {
                None => return Err(incomplete("the last CREATE statement is not closed")),
                Some(Token::Symbol(b'(')) => depth += 1,
                Some(Token::Symbol(b')')) => depth -= 1,
                Some(Token::Symbol(b',')) if depth == 1 => {
                    is_start = true;
                    continue;
                }
                Some(Token::Word(word)) if is_start && !NO_COLUMNS.contains(&word.as_str()) => {
                    columns.push(word)?;
                }
                Some(Token::Name(name)) if is_start => columns.push(name.to_lowercase())?,
                Some(_) => {}
            }
            is_start = false;
        }
        self.tables.insert(name, columns)?;
        self.tokens.skip_statement()
    }

    /// Reads the rows of `COPY table (columns) FROM stdin;`.
    fn copy(&mut self, each: Each<'_>) -> io::Result<()> {
        let (table, columns, is_listed, mut next) = self.table_and_columns()?;
        let mut is_input = false;
        loop {
            match next {
                None => return Err(incomplete("the last COPY statement is cut off")),
                Some(Token::Symbol(b';')) => break,
                Some(Token::Word(word)) => is_input |= word == "stdin",
                Some(_) => {}
            }
            next = self.tokens.next()?;
        }
        if !is_input {
            return Ok(());
        }
        let place = self.choice.place(&table, &columns)?;
        let width = self.choice.row_width(&table, &columns, is_listed);
        self.tokens.end_line()?;
        let mut row = Vec::new();
        loop {
            let is_whole = self.tokens.row(&mut row)?;
            if row == b"\\." {
                return Ok(());
            }
            if !is_whole {
                return Err(incomplete("the COPY data does not end with \\."));
            }
            let (line, Some(place)) = (self.tokens.line - 1, place) else { continue };
            if row.len() > MAX_LINE {
                each(line, Err(SkipReason::TooLong))?;
                continue;
            }
            // An unescaped tab may have shifted the values.
            let values = memchr::memchr_iter(b'\t', &row).count() + 1;
            if !width.fits(values) {
                each(line, Err(SkipReason::Column))?;
                continue;
            }
            let cell = row.split(|byte| *byte == b'\t').nth(place);
            match cell.map(std::str::from_utf8) {
                None => each(line, Err(SkipReason::Column))?,
                Some(Err(_)) => each(line, Err(SkipReason::Encoding))?,
                Some(Ok(cell)) => each(line, skip_reason::present(cell))?,
            }
        }
    }
}

pub(super) fn incomplete(what: &str) -> io::Error {
    io::Error::other(format!("{what}; the dump is incomplete"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::jobs::load::each::{Found, address, collect};
    use crate::jobs::load::sql_tokens::MAX_VALUE;

    fn all(text: &str, column: Option<&str>) -> Result<Found, String> {
        let input = io::BufReader::with_capacity(1, text.as_bytes());
        collect(|each| read(input, column, each).map(drop)).map_err(|error| error.to_string())
    }

    #[test]
    fn rows_of_inserts_are_read_by_the_name_of_their_column() {
        let dump = "-- MySQL dump; 'quoted\n/*!40101 SET NAMES utf8 */;\n\
            CREATE TABLE `users` (`id` int(11) NOT NULL, `name` varchar(9) DEFAULT 'a,b', `email` text,\n\
            PRIMARY KEY (`id`), KEY `email` (`email`)) ENGINE=InnoDB;\n\
            INSERT INTO `users` VALUES (1,'x','a@b.example'),(2,'it''s (a\\'b);','o\\'brien@b.example'),\n\
            (3,NULL,NULL),(4,'x',concat('a','b')),(5);\n\
            insert ignore into other.users (email, id) values (_utf8 'c@d.example', 1);\n\
            INSERT INTO \"logs\" (\"text\") VALUES ('x@y.example');\n";
        let expected = [
            address(5, "a@b.example"),
            address(5, "o'brien@b.example"),
            (6, Err(SkipReason::Empty)),
            (6, Err(SkipReason::Address)),
            (6, Err(SkipReason::Column)),
            address(7, "c@d.example"),
        ];
        for column in [None, Some("email"), Some("users.email"), Some("USERS.Email")] {
            assert_eq!(all(dump, column).unwrap(), expected, "{column:?}");
        }
        let refused = all(dump, Some("mail")).unwrap_err();
        assert!(refused.contains("no INSERT or COPY statement has a column mail"), "{refused}");
        assert!(refused.contains("users (id name email)"), "{refused}");
        assert!(!refused.contains("b.example"), "{refused}");
        let secret = all("INSERT INTO t (password) VALUES ('x');", Some("password")).unwrap_err();
        assert!(secret.contains("secrets"), "{secret}");
        assert!(all("a@b.example\n", None).unwrap_err().contains("no INSERT or COPY"));
    }

    #[test]
    fn row_with_more_or_fewer_values_than_columns_is_skipped() {
        let dump = "INSERT INTO t (id, email) VALUES (1,'x','a@b.example'),\n(2,'a@b.example','x'),\n\
            (3),\n(4,NULL,'x'),\n(concat(5,''),'c@d.example');\n\
            CREATE TABLE u (id int, email text); INSERT INTO u VALUES (6,'x','a@b.example');\n";
        let skipped = (1..5).map(|line| (line, Err(SkipReason::Column)));
        let others = [address(5, "c@d.example"), (6, Err(SkipReason::Column))];
        let expected: Found = skipped.chain(others).collect();
        assert_eq!(all(dump, None).unwrap(), expected);
    }

    #[test]
    fn last_string_of_an_expression_is_not_read() {
        for value in ["'a@b.example' 'p@ss.example'", "'x' || 'p@ss.example'", "+ 'p@ss.example'"] {
            for row in [format!("(email) VALUES ({value})"), format!("SET email = {value}")] {
                let found = all(&format!("INSERT INTO users {row};"), None).unwrap();
                assert_eq!(found, [(1, Err(SkipReason::Address))], "{row}");
            }
        }
        let plain =
            "INSERT INTO users (email) VALUES (N'a@b.example'), (CAST('c@d.example' AS CHAR));";
        assert_eq!(
            all(plain, None).unwrap(),
            [address(1, "a@b.example"), address(1, "c@d.example")]
        );
    }

    #[test]
    fn rows_of_copy_are_read_up_to_their_end() {
        let dump = "SET x = 1;\nCOPY public.users (id, \"e-mail\", note) FROM stdin;\n\
            1\ta@b.example\tit's; (\n2\t\\N\tx\n3\n\\.\n\nCOPY logs (id) FROM stdin;\n\
            x@y.example\n\\.\nCOPY public.users (\"e-mail\") FROM stdin;\nc@d.example\n\\.";
        let expected = [
            address(3, "a@b.example"),
            (4, Err(SkipReason::Empty)),
            (5, Err(SkipReason::Column)),
            address(12, "c@d.example"),
        ];
        for column in [None, Some("e-mail"), Some("users.e-mail")] {
            assert_eq!(all(dump, column).unwrap(), expected, "{column:?}");
        }
    }

    #[test]
    fn row_of_copy_with_a_tab_in_a_password_is_skipped() {
        let dump = "COPY users (id, password, email) FROM stdin;\n1\tx\ta@b.example\n\
            2\tx\ty@word.example\tc@d.example\n3\tx\\ty\te@f.example\n\\.\n";
        let expected =
            [address(2, "a@b.example"), (3, Err(SkipReason::Column)), address(4, "e@f.example")];
        assert_eq!(all(dump, None).unwrap(), expected);
    }

    #[test]
    fn only_rows_behind_values_are_read() {
        for rest in [
            "VALUES ('a@b.example', 1)\nGO\nINSERT [dbo].[Logins] (id, [Password]) VALUES (1, N'x@y.example')\nGO",
            "VALUES ('a@b.example', 1) INSERT INTO logins (id, password) VALUES (1, 'x@y.example')",
            "VALUES ('a@b.example', 1)\nSET x y\nINSERT INTO logins (password) VALUES ('x@y.example')",
            "OVERRIDING SYSTEM VALUE VALUES ('a@b.example', 1) ON CONFLICT (id) DO NOTHING;",
            "VALUES ('a@b.example', 1) ON DUPLICATE KEY UPDATE email = VALUES(email);",
        ] {
            let dump = format!(
                "CREATE TABLE users (email text, id int);\nINSERT INTO users (email, id) {rest}"
            );
            let found: Vec<_> = all(&dump, None).unwrap().into_iter().map(|row| row.1).collect();
            assert_eq!(found, [Ok("a@b.example".to_owned())], "{rest}");
        }
        let script = "USE [db]\nGO\nSET IDENTITY_INSERT [Users] ON\n\
            INSERT [dbo].[Users] ([Email]) VALUES (N'a@b.example')\n\
            INSERT [dbo].[Users] ([Email]) VALUES (N'c@d.example')\nGO\n\
            INSERT OR IGNORE INTO users (email) VALUES ('e@f.example');";
        let expected =
            [address(4, "a@b.example"), address(5, "c@d.example"), address(7, "e@f.example")];
        assert_eq!(all(script, None).unwrap(), expected);
    }

    #[test]
    fn assignments_are_read_and_other_statements_counted() {
        let expected = [address(2, "a@b.example")];
        for row in [
            "SET id = 1, email = 'a@b.example', name = 'x';",
            "SET `users`.`email` = _utf8'a@b.example' ON DUPLICATE KEY UPDATE email = 'x@y.example';",
            "SET email='a@b.example'",
        ] {
            let dump = format!("-- MySQL\nINSERT INTO users {row}");
            assert_eq!(all(&dump, Some("users.email")).unwrap(), expected, "{row}");
        }
        for (row, reason) in [
            ("SET email = concat('a', '@b.example');", SkipReason::Address),
            ("(email, id) SELECT 'a@b.example', 1;", SkipReason::Statement),
            ("(email) SELECT email FROM x WHERE y IN ('x@y.example');", SkipReason::Statement),
            ("(email) SELECT email FROM x\nGO", SkipReason::Statement),
        ] {
            let dump = format!("INSERT INTO users {row}\nINSERT INTO users VALUE ('a@b.example');");
            let dump = format!("CREATE TABLE users (email text);{dump}");
            let found: Vec<_> = all(&dump, None).unwrap().into_iter().map(|row| row.1).collect();
            assert_eq!(found, [Err(reason), Ok("a@b.example".to_owned())], "{row}");
        }
        let none = "INSERT INTO users SET email = NULL; INSERT INTO users (email) DEFAULT VALUES;";
        assert_eq!(all(none, None).unwrap(), [(1, Err(SkipReason::Empty))]);
        let cut = all("INSERT INTO users SET email = ", None).unwrap_err();
        assert!(cut.contains("the last INSERT is cut off"), "{cut}");
    }

    #[test]
    fn dialect_of_a_dump_without_marks_follows_from_its_strings() {
        for rows in [
            // Standard SQL, as written by pg_dump --inserts.
            r"('C:\', 'a@b.example'), ('it''s D:\', 'c@d.example');",
            r"('C:\' ,'a@b.example'),('D:\''','c@d.example');",
            r"(E'x\'y', 'a@b.example'), ('D:\', 'c@d.example');",
            // MySQL.
            r"('O\'Brien, \'x\'', 'a@b.example'), ('C:\\', 'c@d.example');",
            r"('\'', 'a@b.example'), ('it\'s', 'c@d.example');",
        ] {
            let dump = format!("INSERT INTO users (path, email) VALUES {rows}");
            let found = all(&dump, None).unwrap();
            let found: Vec<&str> =
                found.iter().map(|(_, found)| found.as_deref().unwrap_or("?")).collect();
            assert_eq!(found, ["a@b.example", "c@d.example"], "{rows}");
        }
    }

    #[test]
    fn backslashes_are_escapes_only_in_the_dialects_that_have_them() {
        let rows = "(1, 'D:\\', 'a@b.example'), (2, '\\', 'c@d.example');";
        for start in [
            "SET standard_conforming_strings = on;\nINSERT INTO users (id, note, email) VALUES ",
            "PRAGMA foreign_keys=OFF;\nINSERT INTO users (id, note, email) VALUES ",
            "INSERT [users] (id, note, email) VALUES ",
            "INSERT users (id, note, email) VALUES (0, N'x', NULL), ",
            "SET standard_conforming_strings = 'on';\n\
             CREATE FUNCTION f() AS $$ BEGIN it's; END $$; CREATE FUNCTION g() AS $_$ $1 it's $$ $_$;\n\
             INSERT INTO users (id, note, email) VALUES (0, E'it\\'s', NULL), ",
        ] {
            let found = all(&format!("{start}{rows}"), None).unwrap();
            let found: Vec<_> = found.into_iter().filter_map(|row| row.1.ok()).collect();
            assert_eq!(found, ["a@b.example", "c@d.example"], "{start}");
        }
        let mysql = "INSERT INTO users (note, email) VALUES ('it\\'s (', 'a@b.example');";
        for start in ["", "SET NAMES utf8;\n", "SET standard_conforming_strings = off;\n"] {
            let found = all(&format!("{start}{mysql}"), None).unwrap();
            assert_eq!(found.len(), 1, "{start}");
            assert_eq!(found[0].1.as_deref(), Ok("a@b.example"), "{start}");
        }
    }

    #[test]
    fn incomplete_dumps_are_refused_and_their_last_row_is_not_read() {
        let (insert, copy) = ("INSERT INTO t (email) VALUES", "COPY t (email) FROM stdin;");
        let one = format!("{insert} ('a@b.example')");
        for (dump, error) in [
            (format!("{insert} ('a@b.example'),\n"), "ends after a comma; the dump is incomplete"),
            (format!("{insert} ('a@b.example'), ('c@d.example'"), "is not closed; the dump is"),
            (format!("{insert} ('a@b.example'),\n('c@d.ex"), "starts at line 2 is not closed"),
            (format!("{insert} ('a@b.example'); /* x"), "comment that starts at line 1"),
            (format!("{copy}\na@b.example\n"), "does not end with \\.; the dump is incomplete"),
            (format!("{copy}\na@b.example\nc@d.ex"), "does not end with \\.; the dump is"),
            (format!("{one};\nCREATE TABLE u (id int,"), "the last CREATE statement is not closed"),
            (format!("{one};\nINSERT INTO u (id, na"), "the last list of columns is not closed"),
            (format!("{one};\nCOPY u (id, na"), "the last list of columns is not closed"),
            (format!("{one};\nINSERT INTO"), "the last INSERT is cut off"),
            (format!("{one};\nINSERT INTO t (email)"), "the last INSERT is cut off"),
            (format!("{one};\nCOPY t (email) FROM st"), "the last COPY statement is cut off"),
            (format!("{one};\nINSERT INTO u (id) VALUES (1),\n(2"), "that starts at line 3"),
        ] {
            let mut found = Vec::new();
            let refused = read(dump.as_bytes(), None, &mut |_, text| {
                found.push(text.map(str::to_owned));
                Ok(())
            });
            let refused = refused.unwrap_err().to_string();
            assert!(refused.contains(error), "{dump}: {refused}");
            assert_eq!(found, [Ok("a@b.example".to_owned())], "{dump}");
        }
    }

    #[test]
    fn values_and_rows_over_their_limits_are_skipped() {
        let padding = "x".repeat(MAX_LINE - 6);
        let copy = format!("COPY t (id, email) FROM stdin;\n{padding}\ta@b.example\n\\.\n");
        assert_eq!(all(&copy, None).unwrap(), [(2, Err(SkipReason::TooLong))]);
        let blanks = " ".repeat(MAX_VALUE - 6);
        let insert = format!("INSERT INTO t (email) VALUES ('{blanks}a@b.example');");
        assert_eq!(all(&insert, None).unwrap(), [(1, Err(SkipReason::TooLong))]);
    }
}
