//! The core of the service: corpus layout, rendering, compression and parsing.
//!
//! This module doesn't use HTTP or open files.

pub mod bucket;
mod entry;
pub mod gzip;
mod header;
mod index;
mod kind;
mod layout;
pub mod lines;
mod padding;
pub mod plaintext;
pub(crate) mod prefetch;
pub mod render;

pub use bucket::Bucket;
pub use entry::{
    CountMerge, Entry, RECORD_BYTES, add_counts, add_up_sorted, merge_sorted, sort_and_add_up,
};
pub use header::{Header, HeaderError, lower_hex};
pub use index::{BucketDigest, EMPTY_DIGEST, Index, IndexBuilder, IndexError, bucket_digest};
pub use kind::{Kind, KindError};
pub use layout::{DATA_START, HEADER_BYTES, INDEX_BYTES, PREFIXES};
pub use padding::Padder;
