//! Corpus files and the folders that hold them.

mod access;
pub mod corpus;
pub mod folder;
pub mod slot;
pub mod writer;

pub use corpus::{Corpus, CorpusError};
pub use folder::KindFolder;
pub use slot::Slot;
pub use writer::CorpusWriter;
