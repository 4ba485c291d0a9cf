//! Corpus files and their folders.

mod access;
mod activation;
mod contents;
mod corpus;
mod folder;
mod partial;
mod tag_log;
mod trailers;
mod writer;

pub use activation::activate_all;
pub use corpus::{BucketProblem, Corpus, CorpusError};
pub use folder::{CURRENT, FolderLock, KindFolder, Signature};
pub use partial::{PartialCorpus, remove_partial, tags_path};
pub use tag_log::{TagLog, Tags};
pub use writer::{CorpusWriter, Encoded};
