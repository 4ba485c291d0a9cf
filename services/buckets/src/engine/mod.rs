//! The file index: one trait, and the engines behind it.
//!
//! An engine holds file rows and nothing else. Words, extensions, addresses, packages and their
//! limits are resolved before a query reaches it; it only compares. Every engine passes the same
//! conformance suite, which asks it and a naive model the same random questions.

mod awaited;
mod bitmap;
pub(crate) mod cluster;
pub(crate) mod embedded;
mod error;
mod generations;
mod index;
mod journal;
mod limits;
mod write_lock;

pub use awaited::AwaitedIndex;
pub use cluster::{Cluster, ClusterIndex};
pub use embedded::EmbeddedIndex;
pub use error::EngineError;
pub use generations::{Folders, Generations, generation_folder};
pub use index::{FileIndex, FileWriter, NewFile, each_row};
pub use journal::{IndexSummary, Journal, Mode, NamedBucket, OpenRun, Publish, PublishCounts};
pub use limits::Limits;
pub use write_lock::{HeldLock, WriteLock};
