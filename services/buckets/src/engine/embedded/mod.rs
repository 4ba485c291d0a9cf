//! The embedded engine, which consists of an inverted index for words and filters and a flat column
//! for the paths.

mod blocks;
mod checksums;
mod chooser;
mod collect;
mod column;
mod copy;
mod core;
mod directories;
mod facets;
mod hits;
mod index;
mod index_directory;
mod judge;
mod list;
mod lock;
mod page;
mod page_collector;
mod path_candidates;
mod phrase;
mod query;
mod scan;
mod schema;
mod seek_guard;
mod segment;
mod single_word;
mod top_k;
mod trigrams;
mod verify;
mod view;
mod writer;

pub use copy::{copy_index, restore_index};
pub use index::EmbeddedIndex;
pub use lock::FolderLock;
pub(super) use lock::retry_while;
pub use trigrams::{Gram, GramCondition, grams_of};
