//! A trigram index of file names, which narrows down an expression's matches before any file is
//! read.
//!
//! A name is converted to symbols (see [`symbols`]), with a marker at either end. Characters that
//! only differ in case share a symbol. Any three consecutive symbols are a term in the inverted
//! index, so trigrams are committed, merged and deleted along with their documents.
//!
//! From an expression's syntax tree, [`need`] derives the trigrams that a match must contain.
//! [`select`] then queries the rarest of these trigrams. The results are checked against the
//! expression, unless the trigrams are already conclusive.

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
