//! A trigram index of file names. It narrows down expressions before we look at any files.
//!
//! A name is converted to symbols (see [`symbols`]). Characters that only differ in case share a
//! symbol, and a marker is added at either end. Any three consecutive symbols are a term in the
//! inverted index, so trigrams are committed, merged and deleted along with their documents.
//!
//! [`need`] derives the trigrams that a match must contain from an expression's syntax tree.
//! [`select`] then queries the rarest ones. The results are checked against the expression, unless
//! the trigrams already settle it.

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
