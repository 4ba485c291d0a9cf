//! Corpus files and the folders that hold them.

mod access;
mod corpus;
mod folder;
mod writer;

pub use corpus::{BucketProblem, Corpus, CorpusError};
pub use folder::{KindFolder, Signature};
pub use writer::{CorpusWriter, Encoded};
