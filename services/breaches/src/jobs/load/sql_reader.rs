//! Reads a column of SQL dumps: rows of INSERT statements, and of COPY as written by pg_dump.

use std::collections::HashMap;
use std::io::{self, BufRead};

use super::csv_columns;
use super::each::Each;
use super::skip_reason::SkipReason;

/// Maximum length of a value or a name, in bytes. The rest is not kept.
const MAX_VALUE: usize = 1_024;
/// Maximum number of listed tables in an error.
const LISTED: usize = 20;

/// Reads the values of a column, which is named as `column` or `table.column`; without a name, the
/// first column with a known name of each table.
///
/// # Errors
/// Returns errors of the input, and the tables of a dump without the column.
pub fn read(input: impl BufRead, column: Option<&str>, each: Each<'_>) -> io::Result<()> {
    let mut dump = Dump {
        tokens: Tokens::new(input),
        wanted: column.map(str::to_lowercase),
        tables: HashMap::new(),
        found: false,
        listed: Vec::new(),
    };
    dump.read(each)?;
    if dump.found {
        return Ok(());
    }
    let wanted = column.unwrap_or("of addresses");
    Err(io::Error::other(match dump.listed.as_slice() {
        [] => "the file has no INSERT or COPY statement that names its columns".to_owned(),
        listed => format!(
            "no INSERT or COPY statement has a column {wanted}; the tables are {}. --column names \
             it, as in --column users.email",
            listed.join(", ")
        ),
    }))
}

struct Dump<R> {
    tokens: Tokens<R>,
    wanted: Option<String>,
    /// Columns of the tables, from their CREATE statements.
    tables: HashMap<String, Vec<String>>,
    /// True if a table has the column.
    found: bool,
    /// Tables without the column, for the error.
    listed: Vec<String>,
}

impl<R: BufRead> Dump<R> {
    fn read(&mut self, each: Each<'_>) -> io::Result<()> {
        while let Some(token) = self.tokens.next()? {
            match token {
                Token::Word(word) if word == "insert" || word == "replace" => self.insert(each)?,
                Token::Word(word) if word == "copy" => self.copy(each)?,
                Token::Word(word) if word == "create" => self.create()?,
                Token::Symbol(b';') => {}
                _ => self.tokens.skip_statement()?,
            }
        }
        Ok(())
    }

    /// Reads `TABLE [schema.]name`, after the words before it. Returns the name and the next token.
    fn table(&mut self) -> io::Result<(String, Option<Token>)> {
        let mut name = String::new();
        let mut next = self.tokens.next()?;
        const BEFORE: [&str; 11] = [
            "into",
            "table",
            "if",
            "not",
            "exists",
            "ignore",
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

    /// Reads a list of names up to its closing bracket.
    fn names(&mut self) -> io::Result<Vec<String>> {
        let mut names = Vec::new();
        loop {
            match self.tokens.next()? {
                Some(Token::Word(name) | Token::Name(name) | Token::Text(name)) => {
                    names.push(name.to_lowercase());
                }
                Some(Token::Symbol(b',')) => {}
                _ => return Ok(names),
            }
        }
    }

    /// Reads the columns of a CREATE TABLE statement: the first word of each part.
    fn create(&mut self) -> io::Result<()> {
        let (name, next) = self.table()?;
        if !matches!(next, Some(Token::Symbol(b'('))) {
            return match next {
                Some(Token::Symbol(b';')) | None => Ok(()),
                _ => self.tokens.skip_statement(),
            };
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
        let (mut columns, mut depth, mut is_start) = (Vec::new(), 1, true);
        while depth > 0 {
            match self.tokens.next()? {
                None => return Ok(()),
                Some(Token::Symbol(b'(')) => depth += 1,
                Some(Token::Symbol(b')')) => depth -= 1,
                Some(Token::Symbol(b',')) if depth == 1 => {
                    is_start = true;
                    continue;
                }
                Some(Token::Word(word)) if is_start && !NO_COLUMNS.contains(&word.as_str()) => {
                    columns.push(word);
                }
                Some(Token::Name(name)) if is_start => columns.push(name.to_lowercase()),
                Some(_) => {}
            }
            is_start = false;
        }
        self.tables.insert(name, columns);
        self.tokens.skip_statement()
    }

    /// The place of the wanted column.
    fn place(&mut self, table: &str, columns: &[String]) -> io::Result<Option<usize>> {
        let place = match &self.wanted {
            Some(wanted) => {
                let own = wanted.strip_prefix(table).and_then(|rest| rest.strip_prefix('.'));
                columns.iter().position(|name| name == wanted || Some(name.as_str()) == own)
            }
            None => csv_columns::ADDRESS_TITLES
                .iter()
                .find_map(|title| columns.iter().position(|name| name == title)),
        };
        if let Some(title) = place.and_then(|place| columns.get(place))
            && csv_columns::is_secret(title)
        {
            return Err(io::Error::other("the column contains secrets and is not read"));
        }
        self.found |= place.is_some();
        let listed = format!("{table} ({})", columns.join(" "));
        if place.is_none() && self.listed.len() < LISTED && !self.listed.contains(&listed) {
            self.listed.push(listed);
        }
        Ok(place)
    }

    /// Reads the rows of an INSERT statement.
    fn insert(&mut self, each: Each<'_>) -> io::Result<()> {
        let (table, mut next) = self.table()?;
        let mut columns = self.tables.get(&table).cloned().unwrap_or_default();
        if matches!(next, Some(Token::Symbol(b'('))) {
            columns = self.names()?;
            next = self.tokens.next()?;
        }
        let Some(place) = self.place(&table, &columns)? else {
            return match next {
                Some(Token::Symbol(b';')) | None => Ok(()),
                _ => self.tokens.skip_statement(),
            };
        };
        loop {
            match next {
                None | Some(Token::Symbol(b';')) => return Ok(()),
                Some(Token::Symbol(b'(')) => self.row(place, each)?,
                Some(_) => {}
            }
            next = self.tokens.next()?;
        }
    }

    /// Reads the values of a row up to its closing bracket.
    fn row(&mut self, place: usize, each: Each<'_>) -> io::Result<()> {
        let line = self.tokens.line;
        let (mut depth, mut current) = (1, 0);
        // The token of the wanted value; the last one of several, as in `_utf8 'x'`.
        let mut value = None;
        loop {
            match self.tokens.next()? {
                None | Some(Token::Symbol(b';')) if depth > 0 => {
                    return each(line, Err(SkipReason::Column));
                }
                None => return Ok(()),
                Some(Token::Symbol(b'(')) => depth += 1,
                Some(Token::Symbol(b')')) => depth -= 1,
                Some(Token::Symbol(b',')) if depth == 1 => current += 1,
                Some(token) if current == place && depth == 1 => value = Some(token),
                Some(_) => {}
            }
            if depth == 0 {
                break;
            }
        }
        match value {
            Some(Token::Text(text)) => each(line, Ok(&text)),
            Some(Token::Word(word)) if word == "null" => Ok(()),
            Some(_) => each(line, Err(SkipReason::Address)),
            None => each(line, Err(SkipReason::Column)),
        }
    }

    /// Reads the rows of `COPY table (columns) FROM stdin;`.
    fn copy(&mut self, each: Each<'_>) -> io::Result<()> {
        let (table, mut next) = self.table()?;
        let mut columns = self.tables.get(&table).cloned().unwrap_or_default();
        if matches!(next, Some(Token::Symbol(b'('))) {
            columns = self.names()?;
            next = self.tokens.next()?;
        }
        let mut is_input = false;
        while let Some(token) = next {
            match token {
                Token::Symbol(b';') => break,
                Token::Word(word) => is_input |= word == "stdin",
                _ => {}
            }
            next = self.tokens.next()?;
        }
        if !is_input {
            return Ok(());
        }
        let place = self.place(&table, &columns)?;
        self.tokens.end_line()?;
        let mut row = Vec::new();
        while self.tokens.row(&mut row)? && row != b"\\." {
            let (line, Some(place)) = (self.tokens.line - 1, place) else { continue };
            let cell = row.split(|byte| *byte == b'\t').nth(place);
            match cell.map(std::str::from_utf8) {
                None => each(line, Err(SkipReason::Column))?,
                Some(Err(_)) => each(line, Err(SkipReason::Encoding))?,
                Some(Ok("\\N")) => {}
                Some(Ok(cell)) => each(line, Ok(cell))?,
            }
        }
        Ok(())
    }
}

/// A token of SQL.
#[derive(Debug, PartialEq, Eq)]
enum Token {
    /// A word or number, in lower case.
    Word(String),
    /// A quoted name.
    Name(String),
    /// A string.
    Text(String),
    Symbol(u8),
}

/// Splits an input into tokens. Comments and blanks are skipped.
struct Tokens<R> {
    input: R,
    line: u64,
}

impl<R: BufRead> Tokens<R> {
    fn new(input: R) -> Self {
        Self { input, line: 1 }
    }

    fn peek(&mut self) -> io::Result<Option<u8>> {
        Ok(self.input.fill_buf()?.first().copied())
    }

    fn take(&mut self) -> io::Result<Option<u8>> {
        let byte = self.peek()?;
        if let Some(byte) = byte {
            self.input.consume(1);
            self.line += u64::from(byte == b'\n');
        }
        Ok(byte)
    }

    fn next(&mut self) -> io::Result<Option<Token>> {
        loop {
            let Some(byte) = self.take()? else { return Ok(None) };
            match byte {
                b'-' if self.peek()? == Some(b'-') => self.end_line()?,
                b'#' => self.end_line()?,
                b'/' if self.peek()? == Some(b'*') => {
                    self.take()?;
                    // Statements for certain versions of MySQL, as in `/*!40000 ALTER ... */`, are
                    // skipped too.
                    let mut last = 0;
                    while let Some(byte) = self.take()? {
                        if (last, byte) == (b'*', b'/') {
                            break;
                        }
                        last = byte;
                    }
                }
                b'\'' => return self.quoted(byte).map(|text| Some(Token::Text(text))),
                b'"' | b'`' => return self.quoted(byte).map(|name| Some(Token::Name(name))),
                b'[' => {
                    let mut name = Vec::new();
                    while let Some(byte) = self.take()?.filter(|byte| *byte != b']') {
                        keep(&mut name, byte);
                    }
                    return Ok(Some(Token::Name(String::from_utf8_lossy(&name).into_owned())));
                }
                byte if is_word(byte) => {
                    let mut word = vec![byte];
                    while let Some(byte) = self.peek()?.filter(|byte| is_word(*byte)) {
                        self.take()?;
                        keep(&mut word, byte);
                    }
                    let word = String::from_utf8_lossy(&word).to_lowercase();
                    return Ok(Some(Token::Word(word)));
                }
                byte if byte.is_ascii_whitespace() => {}
                byte => return Ok(Some(Token::Symbol(byte))),
            }
        }
    }

    /// Reads a string or name behind its opening quote. A quote within is doubled or follows a
    /// backslash.
    fn quoted(&mut self, quote: u8) -> io::Result<String> {
        let mut text = Vec::new();
        while let Some(byte) = self.take()? {
            match byte {
                b'\\' if quote != b'`' => match self.take()? {
                    Some(b'n' | b'r' | b't' | b'0' | b'Z') => keep(&mut text, b' '),
                    Some(byte) => keep(&mut text, byte),
                    None => break,
                },
                byte if byte != quote => keep(&mut text, byte),
                _ if self.peek()? == Some(quote) => {
                    self.take()?;
                    keep(&mut text, quote);
                }
                _ => break,
            }
        }
        Ok(String::from_utf8_lossy(&text).into_owned())
    }

    /// Skips the rest of a statement.
    fn skip_statement(&mut self) -> io::Result<()> {
        while let Some(token) = self.next()? {
            if token == Token::Symbol(b';') {
                break;
            }
        }
        Ok(())
    }

    /// Skips the rest of a line.
    fn end_line(&mut self) -> io::Result<()> {
        while self.take()?.is_some_and(|byte| byte != b'\n') {}
        Ok(())
    }

    /// Reads a line without its end. Returns false at the end of the input.
    fn row(&mut self, row: &mut Vec<u8>) -> io::Result<bool> {
        row.clear();
        let mut is_line = false;
        while let Some(byte) = self.take()? {
            is_line = true;
            if byte == b'\n' {
                break;
            }
            if row.len() < super::input::MAX_LINE {
                row.push(byte);
            }
        }
        if row.last() == Some(&b'\r') {
            row.pop();
        }
        Ok(is_line)
    }
}

fn keep(text: &mut Vec<u8>, byte: u8) {
    if text.len() < MAX_VALUE {
        text.push(byte);
    }
}

fn is_word(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || byte == b'_' || byte == b'$' || !byte.is_ascii()
}

#[cfg(test)]
mod tests {
    use super::*;

    type Found = Vec<(u64, Result<String, SkipReason>)>;

    fn all(text: &str, column: Option<&str>) -> Result<Found, String> {
        let mut found = Vec::new();
        let input = io::BufReader::with_capacity(1, text.as_bytes());
        read(input, column, &mut |line, text| {
            found.push((line, text.map(str::to_owned)));
            Ok(())
        })
        .map_err(|error| error.to_string())?;
        Ok(found)
    }

    fn address(line: u64, text: &str) -> (u64, Result<String, SkipReason>) {
        (line, Ok(text.to_owned()))
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
    fn rows_of_copy_are_read_up_to_their_end() {
        let dump = "SET x = 1;\nCOPY public.users (id, \"e-mail\", note) FROM stdin;\n\
            1\ta@b.example\tit's; (\n2\t\\N\tx\n3\n\\.\n\nCOPY logs (id) FROM stdin;\n\
            x@y.example\n\\.\nCOPY public.users (\"e-mail\") FROM stdin;\nc@d.example\n";
        let expected =
            [address(3, "a@b.example"), (5, Err(SkipReason::Column)), address(12, "c@d.example")];
        for column in [None, Some("e-mail"), Some("users.e-mail")] {
            assert_eq!(all(dump, column).unwrap(), expected, "{column:?}");
        }
    }
}
