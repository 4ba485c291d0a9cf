//! An index of the trigrams of file names, which narrows expressions before files are judged.
//!
//! A name is a text of symbols ([`symbols`]): letters that an expression does not tell apart are one
//! symbol, and a mark stands at both ends. Every three symbols in a row are a term of the inverted
//! index, so terms live and vanish with the documents, in commits, merges and removals.
//!
//! [`need`] reads from the syntax tree of an expression which trigrams a name must have to match.
//! [`select`] asks for the rarest of them. Whoever passes is judged by the expression itself, unless
//! the terms decide alone.

mod need;
mod part;
mod select;
mod symbols;
mod tokenizer;

pub(super) use select::{Counted, Narrowed, containing, narrowed, texts_anywhere};
pub(super) use tokenizer::TrigramTokenizer;
