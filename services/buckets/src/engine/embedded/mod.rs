//! The embedded engine: an inverted index for words and filters, a flat column for paths.

mod collect;
mod column;
mod deletes;
mod index;
mod lock;
mod page;
mod query;
mod scan;
mod schema;
mod seek_guard;
mod segment;
mod single_word;
mod top_k;
mod verify;
mod view;
mod writer;

pub use index::EmbeddedIndex;
pub use lock::FolderLock;
