//! Listing formats.
//!
//! Sources are streamed, so memory use depends on the size of a single entry and not on the size of
//! the file.

mod azure;
mod continuation;
mod csv_table;
mod defaults;
mod entry;
mod fields;
mod format;
mod gcs;
mod lines;
mod link;
mod ls;
mod ls_line;
mod ndjson;
mod read;
mod record;
mod s3;
mod unpack;
mod utf16;
mod values;
mod xml;

pub use continuation::{Marker, named_bucket, next_page};
pub use defaults::Defaults;
pub use entry::{Bad, EXCERPT, Item, Part, Sink, Skipped, Taken};
pub(super) use fields::exported;
pub use format::{Format, UnknownFormat};
pub use link::{Link, LoosePages, PageEnd};
pub(super) use ndjson::{NamedFile, named_file};
pub use read::{read, read_page};
