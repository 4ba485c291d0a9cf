//! Reads INSERT statements of SQL dumps.

use std::io::{self, BufRead};

use super::each::Each;
use super::skip_reason::{self, SkipReason};
use super::sql_choice::RowWidth;
use super::sql_columns::Columns;
use super::sql_reader::{Dump, incomplete};
use super::sql_tokens::{MAX_VALUE, Token};

impl<R: BufRead> Dump<R> {
    /// Reads the rows of an INSERT statement. If these aren't literal values, the statement counts
    /// as a skipped row.
    pub(super) fn insert(&mut self, each: Each<'_>) -> io::Result<()> {
        let line = self.tokens.line;
        let (table, columns, is_listed, mut next) = self.table_and_columns()?;
        if next.is_none() {
            return Err(incomplete("the last INSERT is cut off"));
        }
        if !is_listed && next.as_ref().is_some_and(|token| token.is_word("set")) {
            return self.assignments(&table, each);
        }
        let place = self.choice.place(&table, &columns)?;
        let width = self.choice.row_width(&table, &columns, is_listed);
        // The rows come after VALUES and end at the next word.
        let (mut is_values, mut is_cut) = (false, false);
        while let Some(place) = place {
            match &next {
                Some(Token::Word(word)) if word == "values" || word == "value" => is_values = true,
                // OVERRIDING SYSTEM VALUE
                Some(Token::Word(word)) if word == "overriding" || word == "system" => {}
                Some(Token::Symbol(b'(')) if is_values => self.row(place, &width, each)?,
                Some(Token::Symbol(b',')) if is_values => {}
                None if is_cut => return Err(incomplete("the last INSERT ends after a comma")),
                Some(Token::Word(word)) if !is_values && word != "default" => {
                    each(line, Err(SkipReason::Statement))?;
                    break;
                }
                _ => break,
            }
            is_cut = next == Some(Token::Symbol(b','));
            next = self.tokens.next()?;
        }
        self.choice.keep_width(table, &width);
        let is_another = next.as_ref().is_some_and(|token| token.is_word("insert"));
        self.tokens.put_back(next);
        if is_another { Ok(()) } else { self.tokens.skip_statement() }
    }

    /// Reads the row in `INSERT INTO table SET column = value, ...`.
    fn assignments(&mut self, table: &str, each: Each<'_>) -> io::Result<()> {
        let line = self.tokens.line;
        let (mut columns, mut values) = (Columns::default(), Vec::new());
        let (mut name, mut value, mut is_value, mut depth) = (None, None, false, 0_u32);
        let end = loop {
            match self.tokens.next()? {
                Some(Token::Symbol(b'(')) => depth += 1,
                Some(Token::Symbol(b')')) => depth = depth.saturating_sub(1),
                Some(Token::Symbol(b'=')) if !is_value => (is_value, value) = (true, None),
                Some(Token::Symbol(b',')) if depth == 0 => {
                    columns.push(name.take().unwrap_or_default())?;
                    values.push(value.take());
                    is_value = false;
                }
                end @ (None | Some(Token::Symbol(b';'))) => break end,
                Some(Token::Word(word)) if depth == 0 && is_end(&word) => {
                    break Some(Token::Word(word));
                }
                Some(Token::Word(part) | Token::Name(part)) if !is_value => {
                    name = Some(part.to_lowercase());
                }
                Some(token) if depth == 0 => value = Some(extended(value.take(), token)),
                Some(_) => {}
            }
        };
        if end.is_none() && value.is_none() {
            return Err(incomplete("the last INSERT is cut off"));
        }
        self.tokens.put_back(end);
        columns.push(name.unwrap_or_default())?;
        values.push(value);
        if let Some(place) = self.choice.place(table, &columns.into_list())? {
            pass(values.into_iter().nth(place).flatten(), line, each)?;
        }
        self.tokens.skip_statement()
    }

    /// Reads a row's values up to the closing parenthesis. A missing quote or an extra comma may
    /// shift the values, so the row is skipped unless it has exactly one value per column.
    fn row(&mut self, place: usize, width: &RowWidth, each: Each<'_>) -> io::Result<()> {
        let line = self.tokens.line;
        let (mut depth, mut current) = (1, 0);
        let mut value = None;
        loop {
            match self.tokens.next()? {
                None => return Err(incomplete("the last row of an INSERT is not closed")),
                end @ Some(Token::Symbol(b';')) => {
                    self.tokens.put_back(end);
                    return each(line, Err(SkipReason::Column));
                }
                Some(Token::Symbol(b'(')) => depth += 1,
                Some(Token::Symbol(b')')) => depth -= 1,
                Some(Token::Symbol(b',')) if depth == 1 => current += 1,
                Some(token) if current == place && depth == 1 => {
                    value = Some(extended(value.take(), token));
                }
                // The argument of a function that only changes the type, as in `CAST('x' AS CHAR)`.
                Some(token @ Token::Text(_))
                    if current == place && depth == 2 && value.as_ref().is_some_and(is_cast) =>
                {
                    value = Some(token);
                }
                Some(_) => {}
            }
            if depth == 0 {
                break;
            }
        }
        if !width.fits(current + 1) {
            return each(line, Err(SkipReason::Column));
        }
        pass(value, line, each)
    }
}

/// Returns `true` for words that follow the assignments of an INSERT statement.
fn is_end(word: &str) -> bool {
    ["on", "as", "returning", "go"].contains(&word)
}

/// Adds a token to a value and returns the last one. A value can have several, as in `_utf8 'x'`.
/// If it's an expression with operators, or with a second string, returns an empty word.
fn extended(value: Option<Token>, token: Token) -> Token {
    match value {
        None => token,
        Some(Token::Word(prefix)) if !prefix.is_empty() => token,
        Some(_) => Token::Word(String::new()),
    }
}

/// Returns `true` for functions that only change the type of a value.
fn is_cast(token: &Token) -> bool {
    token.is_word("cast") || token.is_word("convert")
}

/// Passes on a row's value, given its last token, or an empty word if it's an expression.
fn pass(value: Option<Token>, line: u64, each: Each<'_>) -> io::Result<()> {
    match value {
        Some(Token::Text(text) | Token::Name(text)) if text.len() >= MAX_VALUE => {
            each(line, Err(SkipReason::TooLong))
        }
        // MySQL also accepts strings in double quotes.
        Some(Token::Text(text) | Token::Name(text)) => each(line, skip_reason::present(&text)),
        Some(Token::Word(word)) if word == "null" => each(line, Err(SkipReason::Empty)),
        Some(_) => each(line, Err(SkipReason::Address)),
        None => each(line, Err(SkipReason::Column)),
    }
}
