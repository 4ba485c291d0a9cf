//! Preprocesses expressions: repairs them and escapes literal quotes.

use regex_syntax::ParserBuilder;
use regex_syntax::ast::parse::Parser;
use regex_syntax::ast::{Ast, Span};
use regex_syntax::hir::Hir;

use super::error::ExpressionError;

/// Maximum nesting depth of groups. Guards against stack overflows.
const DEEPEST: u32 = 100;

/// An expression in plain regex syntax, along with the origin of each byte.
pub(super) struct Source {
    pattern: String,
    /// For each byte of the pattern, the index of the original character.
    origin: Vec<usize>,
}

impl Source {
    /// Replaces quoted literals with escaped groups.
    pub(super) fn of(text: &str) -> Self {
        let mut source = Self { pattern: String::new(), origin: Vec::new() };
        let symbols: Vec<char> = text.chars().collect();
        let mut at = 0;
        while at < symbols.len() {
            let end = match symbols[at] {
                '\\' => (at + 2).min(symbols.len()),
                '[' => class_end(&symbols, at).unwrap_or(at + 1),
                '"' => {
                    at = source.push_quoted(&symbols, at);
                    continue;
                }
                _ => at + 1,
            };
            for (position, &symbol) in symbols.iter().enumerate().take(end).skip(at) {
                source.push(symbol, position);
            }
            at = end;
        }
        source
    }

    /// Closes a quote or comment that is still open at the end, so that something can be appended.
    pub(super) fn closed(text: &str) -> String {
        let mut closed = text.to_owned();
        if has_open_quote(text) {
            closed.push('"');
        }
        let source = Self::of(&closed);
        let parsed = parser().parse_with_comments(&source.pattern);
        let comments = parsed.map_or_else(|_| Vec::new(), |parsed| parsed.comments);
        // A comment's span includes the line feed at its end.
        let is_open =
            |span: Span| span.end.offset == source.pattern.len() && !source.pattern.ends_with('\n');
        if comments.last().is_some_and(|comment| is_open(comment.span)) {
            closed.push('\n');
        }
        closed
    }

    pub(super) fn pattern(&self) -> &str {
        &self.pattern
    }

    /// Returns the index of the original character for a byte of the pattern.
    pub(super) fn origin(&self, byte: usize) -> usize {
        let past_end = self.origin.last().map_or(0, |last| last + 1);
        self.origin.get(byte).copied().unwrap_or(past_end)
    }

    pub(super) fn ast(&self) -> Option<Ast> {
        parser().parse(&self.pattern).ok()
    }

    pub(super) fn parse(&self) -> Result<Hir, ExpressionError> {
        let mut parser = ParserBuilder::new()
            .nest_limit(DEEPEST)
            .case_insensitive(true)
            .dot_matches_new_line(true)
            .build();
        parser.parse(&self.pattern).map_err(|error| self.error(&error))
    }

    fn error(&self, error: &regex_syntax::Error) -> ExpressionError {
        let (reason, byte) = match error {
            regex_syntax::Error::Parse(error) => {
                (error.kind().to_string(), error.span().start.offset)
            }
            regex_syntax::Error::Translate(error) => {
                (error.kind().to_string(), error.span().start.offset)
            }
            _ => ("it cannot be parsed".to_owned(), 0),
        };
        ExpressionError::Syntax { reason, position: self.origin(byte) + 1 }
    }

    fn push(&mut self, symbol: char, position: usize) {
        self.pattern.push(symbol);
        self.origin.resize(self.pattern.len(), position);
    }

    /// Adds `"text"` as a literal and returns the position after it. If the quote isn't closed, it
    /// extends to the end.
    fn push_quoted(&mut self, symbols: &[char], open: usize) -> usize {
        for symbol in "(?:".chars() {
            self.push(symbol, open);
        }
        let mut at = open + 1;
        while at < symbols.len() && symbols[at] != '"' {
            if symbols[at] == '\\' && symbols.get(at + 1) == Some(&'"') {
                at += 1;
            }
            let literal = match symbols[at] {
                // The flag `x` ignores spaces.
                space if space.is_whitespace() => format!("\\x{{{:x}}}", u32::from(space)),
                symbol => regex_syntax::escape(&symbol.to_string()),
            };
            for symbol in literal.chars() {
                self.push(symbol, at);
            }
            at += 1;
        }
        self.push(')', at.min(symbols.len().saturating_sub(1)));
        at + 1
    }
}

fn parser() -> Parser {
    regex_syntax::ast::parse::ParserBuilder::new().nest_limit(DEEPEST).build()
}

/// Step 1: replaces `*` with `.*` at the start, after `(` and after `|`.
pub(super) fn with_leading_stars(text: &str) -> String {
    let mut repaired = String::with_capacity(text.len() + 1);
    let mut before = Some('|');
    walk(text, |piece| {
        if piece == "*" && matches!(before, Some('|' | '(')) {
            repaired.push('.');
        }
        repaired.push_str(piece);
        before = (piece.len() == 1).then(|| piece.chars().next()).flatten();
    });
    repaired
}

/// Step 2: escapes unbalanced brackets.
pub(super) fn balanced(text: &str) -> String {
    let mut pieces: Vec<(String, bool)> = Vec::new();
    let mut groups = Vec::new();
    let mut counts = Vec::new();
    walk(text, |piece| {
        let mut lonely = matches!(piece, "[" | "]");
        match piece {
            "(" => groups.push(pieces.len()),
            "{" => counts.push(pieces.len()),
            ")" => lonely = groups.pop().is_none(),
            "}" => lonely = counts.pop().is_none(),
            _ => {}
        }
        pieces.push((piece.to_owned(), lonely));
    });
    for lonely in groups.into_iter().chain(counts) {
        pieces[lonely].1 = true;
    }
    let escaped =
        |(piece, lonely): (String, bool)| if lonely { format!("\\{piece}") } else { piece };
    pieces.into_iter().map(escaped).collect()
}

/// Splits an expression into tokens: escapes, classes, quoted literals and single characters. A `[`
/// that isn't closed is a single character.
fn walk(text: &str, mut each: impl FnMut(&str)) {
    let symbols: Vec<char> = text.chars().collect();
    let mut at = 0;
    while at < symbols.len() {
        let end = match symbols[at] {
            '\\' => at + 2,
            '[' => class_end(&symbols, at).unwrap_or(at + 1),
            '"' => quote_end(&symbols, at),
            _ => at + 1,
        };
        let end = end.min(symbols.len());
        each(&symbols[at..end].iter().collect::<String>());
        at = end;
    }
}

/// Returns `true` if the last quote isn't closed.
fn has_open_quote(text: &str) -> bool {
    let mut last = String::new();
    walk(text, |piece| piece.clone_into(&mut last));
    let symbols: Vec<char> = last.chars().collect();
    let closed = symbols.len() > 1 && symbols.ends_with(&['"']) && !symbols.ends_with(&['\\', '"']);
    symbols.first() == Some(&'"') && !closed
}

fn quote_end(symbols: &[char], open: usize) -> usize {
    let mut at = open + 1;
    while at < symbols.len() && symbols[at] != '"' {
        at += if symbols[at] == '\\' && symbols.get(at + 1) == Some(&'"') { 2 } else { 1 };
    }
    at + 1
}

/// Returns the position after the class that starts at `open`, or `None` if it isn't closed.
/// Classes can be nested, and a leading `]` is literal.
fn class_end(symbols: &[char], open: usize) -> Option<usize> {
    let mut depth = 0usize;
    let mut at = open;
    loop {
        match symbols.get(at)? {
            '\\' => at += 2,
            '[' => {
                depth += 1;
                at += 1;
                if symbols.get(at) == Some(&'^') {
                    at += 1;
                }
                while depth == 1 && matches!(symbols.get(at), Some('-')) {
                    at += 1;
                }
                if symbols.get(at) == Some(&']') {
                    at += 1;
                }
            }
            ']' => {
                depth -= 1;
                at += 1;
                if depth == 0 {
                    return Some(at);
                }
            }
            _ => at += 1,
        }
    }
}
