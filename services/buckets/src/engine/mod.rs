//! The file index and its engines.
//!
//! Engines only store file rows. Words, extensions, addresses, packages and their limits are all
//! resolved before a query reaches an engine. Every engine has to pass the same conformance suite,
//! which compares random query results with a naive model.

mod awaited;
mod bitmap;
pub(crate) mod cluster;
pub(crate) mod embedded;
mod error;
mod generations;
mod index;
mod journal;
mod limits;
mod newer_files;
mod removal_limit;
mod write_lock;

pub use awaited::AwaitedIndex;
pub use bitmap::Bitmap;
pub use cluster::{Cluster, ClusterIndex};
pub use embedded::{EmbeddedIndex, Gram, GramCondition, grams_of};
pub use error::EngineError;
pub use generations::{Folders, Generations, generation_folder, restore_generations};
pub use index::{FileIndex, FileList, FileWriter, NewFile, PublishRules, each_row, each_row_after};
pub use journal::{IndexSummary, Journal, Mode, NamedBucket, OpenRun, Publish, PublishCounts};
pub use limits::Limits;
pub use newer_files::NewerFiles;
pub use removal_limit::{BucketLoss, RemovalLimit};
pub use write_lock::{HeldLock, WriteLock};
