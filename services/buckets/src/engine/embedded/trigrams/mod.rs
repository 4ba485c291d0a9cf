//! A trigram index of file names, which narrows expressions before files are checked.
//!
//! A name is converted to symbols ([`symbols`]): characters that differ only in case share a
//! symbol, and a marker is added at both ends. Every three consecutive symbols are a term of the
//! inverted index, so trigrams are committed, merged and removed together with their documents.
//!
//! [`need`] derives from the syntax tree of an expression which trigrams a matching name must
//! contain. [`select`] queries the rarest of these. The results are checked against the expression,
//! unless the trigrams suffice.

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
