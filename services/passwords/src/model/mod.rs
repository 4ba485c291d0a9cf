//! The rules of the range service: how a corpus is laid out, rendered, compressed and parsed.
//!
//! Nothing here knows HTTP or opens a file.

pub mod accept;
pub mod bucket;
pub mod conditional;
pub mod entry;
pub mod gzip;
mod gzip_simd;
pub mod header;
pub mod index;
pub mod kind;
pub mod lines;
pub mod padding;
pub mod plaintext;
pub mod query;
pub mod render;
mod render_simd;

pub use bucket::Bucket;
pub use entry::Entry;
pub use header::Header;
pub use index::Index;
pub use kind::Kind;
