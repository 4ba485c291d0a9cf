//! Schema and tokenizer of the inverted index.

use tantivy::schema::{
    FAST, Field, IndexRecordOption, NumericOptions, Schema, SchemaBuilder, TextFieldIndexing,
    TextOptions,
};
use tantivy::tokenizer::{Token, TokenStream, Tokenizer};

use crate::model::{Attribute, Attributes, words};

/// Subfolder for the inverted index.
pub(super) const WORDS: &str = "words";
/// Subfolder for the path column.
pub(super) const COLUMN: &str = "column";
/// Tokenizer for both word fields.
pub(super) const TOKENIZER: &str = "words";
/// Trigram field for names, and its tokenizer.
pub(super) const NAME_TRIGRAMS: &str = "name_trigrams";
/// Fast field for the shortest extension.
pub(super) const SHORTEST_EXTENSION: &str = "shortest_extension";
/// Fast field for the file id.
pub(super) const ID: &str = "id";
/// Fast field for the bucket id.
pub(super) const BUCKET: &str = "bucket";
/// Fast field for the run id.
pub(super) const RUN: &str = "run";

/// The fields in the schema.
#[derive(Clone, Copy, Debug)]
pub(super) struct Fields {
    pub(super) name_words: Field,
    pub(super) path_words: Field,
    pub(super) extension: Field,
    pub(super) bucket: Field,
    pub(super) kind: Field,
    pub(super) run: Field,
    pub(super) id: Field,
    /// Fast fields for the attributes.
    pub(super) attributes: Attributes<Field>,
    /// `None` in indexes from version 0.1. Rebuilding the index adds the field.
    pub(super) name_trigrams: Option<Field>,
    /// Empty for files whose name doesn't have an extension. `None` in older indexes. Rebuilding
    /// the index adds the field.
    pub(super) shortest_extension: Option<Field>,
}

impl Fields {
    /// Looks up the fields. Works with indexes from any version.
    pub(super) fn of(schema: &Schema) -> tantivy::Result<Self> {
        Ok(Self {
            name_words: schema.get_field("name_words")?,
            path_words: schema.get_field("path_words")?,
            extension: schema.get_field("extension")?,
            bucket: schema.get_field(BUCKET)?,
            kind: schema.get_field("kind")?,
            run: schema.get_field(RUN)?,
            id: schema.get_field(ID)?,
            attributes: Attributes::try_from_fn(|one| schema.get_field(one.column()))?,
            name_trigrams: schema.get_field(NAME_TRIGRAMS).ok(),
            shortest_extension: schema.get_field(SHORTEST_EXTENSION).ok(),
        })
    }
}

/// Builds the schema. Fields aren't stored, because rows are read from the path column and the fast
/// fields.
pub(super) fn schema() -> Schema {
    let mut builder = SchemaBuilder::new();
    let text = |tokenizer: &str, option: IndexRecordOption| {
        let indexing = TextFieldIndexing::default()
            .set_tokenizer(tokenizer)
            .set_fieldnorms(false)
            .set_index_option(option);
        TextOptions::default().set_indexing_options(indexing)
    };
    let words = text(TOKENIZER, IndexRecordOption::WithFreqsAndPositions);
    builder.add_text_field("name_words", words.clone());
    builder.add_text_field("path_words", words);
    builder.add_text_field("extension", text("raw", IndexRecordOption::Basic));
    // Scores are never used, so there's no point in spending a byte per field and file on norms.
    let indexed = NumericOptions::default().set_indexed();
    builder.add_u64_field(BUCKET, indexed.clone() | FAST);
    builder.add_u64_field("kind", indexed.clone());
    builder.add_u64_field(RUN, indexed | FAST);
    builder.add_u64_field(ID, FAST);
    for attribute in Attribute::ALL {
        builder.add_i64_field(attribute.column(), FAST);
    }
    builder.add_text_field(NAME_TRIGRAMS, text(NAME_TRIGRAMS, IndexRecordOption::Basic));
    builder.add_text_field(SHORTEST_EXTENSION, TextOptions::default().set_fast("raw"));
    builder.build()
}

/// Splits text into [`words`].
#[derive(Clone, Default)]
pub(super) struct WordTokenizer {
    text: String,
    ends: Vec<usize>,
    token: Token,
}

/// Tokens of a string.
pub(super) struct WordStream<'a> {
    text: &'a str,
    ends: &'a [usize],
    token: &'a mut Token,
    next: usize,
}

impl Tokenizer for WordTokenizer {
    type TokenStream<'a> = WordStream<'a>;

    fn token_stream<'a>(&'a mut self, text: &'a str) -> WordStream<'a> {
        self.text.clear();
        self.ends.clear();
        self.token.reset();
        words::for_each(text, |word| {
            self.text.push_str(word);
            self.ends.push(self.text.len());
        });
        WordStream { text: &self.text, ends: &self.ends, token: &mut self.token, next: 0 }
    }
}

impl TokenStream for WordStream<'_> {
    fn advance(&mut self) -> bool {
        let Some(&end) = self.ends.get(self.next) else {
            return false;
        };
        let start = if self.next == 0 { 0 } else { self.ends[self.next - 1] };
        self.token.text.clear();
        self.token.text.push_str(&self.text[start..end]);
        self.token.offset_from = start;
        self.token.offset_to = end;
        self.token.position = self.next;
        self.next += 1;
        true
    }

    fn token(&self) -> &Token {
        self.token
    }

    fn token_mut(&mut self) -> &mut Token {
        self.token
    }
}
