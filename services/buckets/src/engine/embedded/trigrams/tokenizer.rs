//! Splits names into trigrams.

use tantivy::tokenizer::{Token, TokenStream, Tokenizer};

use super::symbols::{END, symbol};

/// Number of symbols in a trigram.
pub(super) const LENGTH: usize = 3;

/// Encodes a trigram as an index term. Each symbol becomes a character below U+0100.
pub(super) fn term_text(symbols: &[u8], text: &mut String) {
    text.clear();
    text.extend(symbols.iter().map(|&symbol| char::from(symbol)));
}

/// Tantivy tokenizer for trigrams.
#[derive(Clone, Default)]
pub(in super::super) struct TrigramTokenizer {
    symbols: Vec<u8>,
    token: Token,
}

/// The trigrams of a name.
pub(in super::super) struct TrigramStream<'a> {
    symbols: &'a [u8],
    token: &'a mut Token,
}

impl Tokenizer for TrigramTokenizer {
    type TokenStream<'a> = TrigramStream<'a>;

    fn token_stream<'a>(&'a mut self, text: &'a str) -> TrigramStream<'a> {
        self.symbols.clear();
        self.symbols.push(END);
        self.symbols.extend(text.chars().map(symbol));
        self.symbols.push(END);
        self.token.reset();
        TrigramStream { symbols: &self.symbols, token: &mut self.token }
    }
}

impl TokenStream for TrigramStream<'_> {
    fn advance(&mut self) -> bool {
        let Some(gram) = self.symbols.get(..LENGTH) else {
            return false;
        };
        term_text(gram, &mut self.token.text);
        self.symbols = &self.symbols[1..];
        self.token.position = self.token.position.wrapping_add(1);
        true
    }

    fn token(&self) -> &Token {
        self.token
    }

    fn token_mut(&mut self) -> &mut Token {
        self.token
    }
}
