//! A trigram index of file names. It narrows down the matches of an expression before any file is
//! read.
//!
//! A name is converted to symbols (see [`symbols`]), with a marker at either end. Characters that
//! only differ in case share a symbol. Any three consecutive symbols are a term in the inverted
//! index, so trigrams are committed, merged and deleted along with their documents.
//!
//! [`need`] derives the trigrams that a match must contain from the syntax tree of an expression.
//! [`select`] then queries the rarest ones. The results are checked against the expression, unless
//! the trigrams are already conclusive.

mod condition;
mod framed;
mod need;
mod part;
mod select;
mod symbols;
mod tokenizer;

pub use condition::{Gram, GramCondition, grams_of};
pub(super) use framed::Comparison;
pub(super) use select::{Counted, Narrowed, containing, narrowed};
pub(super) use tokenizer::TrigramTokenizer;
