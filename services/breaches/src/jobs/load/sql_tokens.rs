//! Splits SQL into tokens.

use std::io::{self, BufRead, Read as _};

use super::input::MAX_LINE;

/// Maximum length of a value or name in bytes. Longer ones are truncated.
pub const MAX_VALUE: usize = 1_024;

/// A SQL token.
#[derive(Debug, PartialEq, Eq)]
pub enum Token {
    /// A lowercase word or number.
    Word(String),
    /// A quoted name.
    Name(String),
    Text(String),
    Symbol(u8),
}

impl Token {
    pub fn is_word(&self, word: &str) -> bool {
        matches!(self, Self::Word(own) if own == word)
    }

    /// Returns `true` for tokens that end a statement: `;`, or `GO` in SQL Server scripts.
    fn is_end(&self) -> bool {
        *self == Self::Symbol(b';') || self.is_word("go")
    }
}

/// Splits an input into tokens, skipping comments and whitespace.
pub struct Tokens<R> {
    input: R,
    /// Current line number, from 1.
    pub line: u64,
    /// Whether a backslash is an escape character in strings, as in MySQL.
    escapes: bool,
    /// Whether `escapes` is certain, thanks to a string or a dialect-specific construct.
    is_known: bool,
    /// Lookahead in reverse order.
    ahead: Vec<u8>,
    /// Whether the last token was a word at the start of its line.
    starts_line: bool,
    put_back: Option<Token>,
}

impl<R: BufRead> Tokens<R> {
    pub fn new(input: R) -> Self {
        Self {
            input,
            line: 1,
            escapes: true,
            is_known: false,
            ahead: Vec::new(),
            starts_line: false,
            put_back: None,
        }
    }

    /// Records whether a backslash is an escape character, as revealed by a dialect-specific
    /// construct.
    pub fn set_escapes(&mut self, escapes: bool) {
        (self.escapes, self.is_known) = (escapes, true);
    }

    /// Makes `next` return this token again.
    pub fn put_back(&mut self, token: Option<Token>) {
        self.put_back = token;
    }

    pub fn next(&mut self) -> io::Result<Option<Token>> {
        if let Some(token) = self.put_back.take() {
            return Ok(Some(token));
        }
        let line = self.line;
        let token = self.read()?;
        self.starts_line = matches!(token, Some(Token::Word(_))) && self.line > line;
        Ok(token)
    }

    fn read(&mut self) -> io::Result<Option<Token>> {
        loop {
            let Some(byte) = self.take()? else { return Ok(None) };
            match byte {
                b'-' if self.peek()? == Some(b'-') => self.end_line()?,
                b'#' => self.end_line()?,
                b'/' if self.peek()? == Some(b'*') => self.comment()?,
                b'\'' => return Ok(Some(Token::Text(self.quoted(byte, self.escapes)?))),
                b'"' => return Ok(Some(Token::Name(self.quoted(byte, self.escapes)?))),
                b'`' => {
                    // Only MySQL and related databases quote names like this.
                    self.is_known = true;
                    return Ok(Some(Token::Name(self.quoted(byte, false)?)));
                }
                b'[' => {
                    // A SQL Server name or a PostgreSQL array.
                    self.set_escapes(false);
                    return Ok(Some(Token::Name(self.quoted(b']', false)?)));
                }
                b'$' if !self.escapes => self.dollar_quoted()?,
                byte if is_word(byte) => return self.word(byte).map(Some),
                byte if byte.is_ascii_whitespace() => {}
                byte => return Ok(Some(Token::Symbol(byte))),
            }
        }
    }

    /// Reads the rest of a word, which may be the prefix of a string: `E'...'` in PostgreSQL (with
    /// escapes) or `N'...'` in SQL Server (without).
    fn word(&mut self, first: u8) -> io::Result<Token> {
        let mut word = vec![first];
        while let Some(byte) = self.peek()?.filter(|byte| is_word(*byte)) {
            self.take()?;
            keep(&mut word, byte);
        }
        let word = String::from_utf8_lossy(&word).to_lowercase();
        match (word.as_str(), self.peek()?) {
            ("e", Some(b'\'')) => {
                // No other strings in PostgreSQL have escapes.
                self.set_escapes(false);
                self.take()?;
                return Ok(Token::Text(self.quoted(b'\'', true)?));
            }
            ("n", Some(b'\'')) => self.set_escapes(false),
            ("x", Some(b'\'')) => {
                self.take()?;
                let digits = self.quoted(b'\'', false)?;
                return Ok(Token::Text(hexadecimal(&digits).unwrap_or(digits)));
            }
            _ => {}
        }
        // `mysqldump --hex-blob` writes binary columns like this.
        match word.strip_prefix("0x").and_then(hexadecimal) {
            Some(text) => Ok(Token::Text(text)),
            None => Ok(Token::Word(word)),
        }
    }

    /// Reads a string or name after its opening quote. Quotes inside it are doubled, or escaped
    /// with a backslash if the dialect supports that.
    fn quoted(&mut self, quote: u8, mut escapes: bool) -> io::Result<String> {
        let (line, mut text) = (self.line, Vec::new());
        loop {
            match self.take()?.ok_or_else(|| unclosed("string or name", line))? {
                b'\\' if escapes && !self.is_known && self.peek()? == Some(quote) => {
                    // This is the first construct on which the dialects differ.
                    let decided = self.backslash_escapes(quote)?;
                    self.set_escapes(decided);
                    escapes = decided;
                    match escapes {
                        true => keep_next(self.take()?, &mut text),
                        false => keep(&mut text, b'\\'),
                    }
                }
                b'\\' if escapes => match self.take()? {
                    Some(b'n' | b'r' | b't' | b'0' | b'Z') => keep(&mut text, b' '),
                    Some(byte) => keep(&mut text, byte),
                    None => {}
                },
                byte if byte != quote => keep(&mut text, byte),
                _ if self.peek()? == Some(quote) => {
                    self.take()?;
                    keep(&mut text, quote);
                }
                _ => return Ok(String::from_utf8_lossy(&text).into_owned()),
            }
        }
    }

    /// Looks ahead to decide whether a backslash escapes the quote after it.
    fn backslash_escapes(&mut self, quote: u8) -> io::Result<bool> {
        let mut next: Vec<u8> = self.ahead.iter().rev().copied().collect();
        let missing = LOOKAHEAD.saturating_sub(next.len());
        (&mut self.input).take(missing as u64).read_to_end(&mut next)?;
        self.ahead = next.iter().rev().copied().collect();
        // Choose standard SQL only if it fits better.
        let escaped = faults(next.get(1..).unwrap_or_default(), quote, true);
        Ok(escaped <= faults(&next, quote, false))
    }

    /// Skips a PostgreSQL string such as `$$...$$` or `$body$...$body$`, or a parameter such as
    /// `$1`. The first `$` has already been read.
    fn dollar_quoted(&mut self) -> io::Result<()> {
        let (line, mut mark) = (self.line, vec![b'$']);
        while let Some(byte) = self.peek()?.filter(|byte| is_word(*byte)) {
            self.take()?;
            keep(&mut mark, byte);
            if byte == b'$' {
                break;
            }
        }
        if mark.len() == 1 || mark.last() != Some(&b'$') {
            return Ok(());
        }
        let mut matched = 0;
        while matched < mark.len() {
            let byte = self.take()?.ok_or_else(|| unclosed("string", line))?;
            matched = match byte == mark[matched] {
                true => matched + 1,
                false => usize::from(byte == b'$'),
            };
        }
        Ok(())
    }

    /// Skips a comment. These include MySQL's conditional statements such as `/*!40000 ALTER ...
    /// */`.
    fn comment(&mut self) -> io::Result<()> {
        let line = self.line;
        self.take()?;
        let mut last = 0;
        loop {
            let byte = self.take()?.ok_or_else(|| unclosed("comment", line))?;
            if (last, byte) == (b'*', b'/') {
                return Ok(());
            }
            last = byte;
        }
    }

    /// Skips the rest of a statement. Since some scripts don't terminate their statements, a line
    /// that starts with INSERT also begins a new one. The input can end here, unless a parenthesis
    /// is still open.
    pub fn skip_statement(&mut self) -> io::Result<()> {
        let (mut depth, mut line) = (0_u32, self.line);
        loop {
            match self.next()? {
                Some(token) if token.is_word("insert") && self.starts_line => {
                    self.put_back(Some(token));
                    return Ok(());
                }
                Some(Token::Symbol(b'(')) => {
                    if depth == 0 {
                        line = self.line;
                    }
                    depth = depth.saturating_add(1);
                }
                Some(Token::Symbol(b')')) => depth = depth.saturating_sub(1),
                Some(token) if !token.is_end() => {}
                None if depth > 0 => return Err(unclosed("bracket", line)),
                _ => return Ok(()),
            }
        }
    }

    /// Skips the rest of a line.
    pub fn end_line(&mut self) -> io::Result<()> {
        while self.take()?.is_some_and(|byte| byte != b'\n') {}
        Ok(())
    }

    /// Reads a line without its line break. Returns `false` if the line break is missing. Rows
    /// longer than `MAX_LINE` are truncated to one byte more than that, so callers can still
    /// recognize that they were too long.
    pub fn row(&mut self, row: &mut Vec<u8>) -> io::Result<bool> {
        row.clear();
        let mut is_whole = false;
        while let Some(byte) = self.take()? {
            if byte == b'\n' {
                is_whole = true;
                break;
            }
            if row.len() <= MAX_LINE {
                row.push(byte);
            }
        }
        if row.last() == Some(&b'\r') && row.len() <= MAX_LINE {
            row.pop();
        }
        Ok(is_whole)
    }

    fn peek(&mut self) -> io::Result<Option<u8>> {
        if let Some(byte) = self.ahead.last() {
            return Ok(Some(*byte));
        }
        Ok(self.input.fill_buf()?.first().copied())
    }

    fn take(&mut self) -> io::Result<Option<u8>> {
        let byte = self.peek()?;
        if let Some(byte) = byte {
            if self.ahead.pop().is_none() {
                self.input.consume(1);
            }
            self.line += u64::from(byte == b'\n');
        }
        Ok(byte)
    }
}

/// Number of bytes to look at when guessing the dialect.
const LOOKAHEAD: usize = 16 * 1024;

/// Counts strings that start or end where a value can't, assuming that `bytes` start inside a
/// string.
fn faults(bytes: &[u8], quote: u8, escapes: bool) -> usize {
    let (mut count, mut is_inside, mut before) = (0, true, b' ');
    let mut rest = bytes.iter().copied().peekable();
    while let Some(byte) = rest.next() {
        match (is_inside, byte) {
            (true, b'\\') if escapes => drop(rest.next()),
            (true, _) if byte == quote => {
                if rest.next_if_eq(&quote).is_none() {
                    is_inside = false;
                    before = byte;
                }
            }
            (true, _) => {}
            (false, _) if byte.is_ascii_whitespace() => {}
            (false, _) => {
                // Check which character comes after a string.
                count += usize::from(before == quote && !matches!(byte, b',' | b')' | b';' | b':'));
                is_inside = byte == quote;
                // Check which character comes before a string.
                let fits = matches!(before, b'(' | b',' | b'=') || is_word(before);
                count += usize::from(is_inside && !fits);
                before = byte;
            }
        }
    }
    count
}

/// Decodes a hexadecimal string literal. Returns `None` for anything else.
fn hexadecimal(digits: &str) -> Option<String> {
    let (pairs, rest) = digits.as_bytes().as_chunks::<2>();
    if pairs.is_empty() || !rest.is_empty() {
        return None;
    }
    let digit = |byte: u8| char::from(byte).to_digit(16).and_then(|digit| u8::try_from(digit).ok());
    let bytes: Option<Vec<u8>> =
        pairs.iter().map(|[high, low]| Some(digit(*high)? << 4 | digit(*low)?)).collect();
    String::from_utf8(bytes?).ok()
}

fn keep_next(byte: Option<u8>, text: &mut Vec<u8>) {
    if let Some(byte) = byte {
        keep(text, byte);
    }
}

fn unclosed(what: &str, line: u64) -> io::Error {
    io::Error::other(format!("the {what} that starts at line {line} is not closed"))
}

fn keep(text: &mut Vec<u8>, byte: u8) {
    if text.len() < MAX_VALUE {
        text.push(byte);
    }
}

fn is_word(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || byte == b'_' || byte == b'$' || !byte.is_ascii()
}
