//! Entries of sources.

use super::link::Link;
use crate::engine::NewFile;
use crate::jobs::error::JobError;
use crate::model::{Attribute, Attributes};

/// Bytes of a bad line in the report.
pub const EXCERPT: usize = 200;

/// A file in a source.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Item<'a> {
    /// Line number or entry number, counted from 1.
    pub position: u64,
    /// Bucket address as in the source.
    pub bucket: &'a str,
    /// Bucket type as in the source.
    pub kind: Option<&'a str>,
    /// Path inside the bucket.
    pub path: &'a str,
    /// Its attributes.
    pub attributes: Attributes,
}

impl Item<'_> {
    /// Returns the file for the index.
    pub fn file(&self, bucket: u64, kind: u64) -> NewFile {
        let Item { position: _, bucket: _, kind: _, path, attributes } = *self;
        NewFile { bucket, kind, path: path.to_owned(), attributes }
    }

    /// Returns true for an empty key that ends in `/`.
    pub fn is_directory_marker(&self) -> bool {
        self.attributes[Attribute::Size] == 0 && self.path.ends_with('/')
    }
}

/// A bad line or entry.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Bad {
    /// Line number or entry number, counted from 1.
    pub position: u64,
    /// The reason.
    pub reason: String,
    /// The line, or the entry as an NDJSON line, which can be loaded after it is corrected.
    pub content: Vec<u8>,
}

/// `Ok` if a file was taken, or why not.
pub type Taken = Result<(), String>;

/// Entries that are skipped but not bad.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Skipped {
    /// A common prefix: a folder in a listing.
    Prefix,
    /// An old version, a snapshot or a delete marker.
    Version,
    /// An empty key that ends in `/`.
    DirectoryMarker,
}

/// Why a page of a listing is only a part of its bucket.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Part {
    /// It continues after a key. That is a part only without the page before it.
    Continued,
    /// It does not continue the truncated page before it.
    Unlinked,
    /// It is filtered by a prefix or grouped by a delimiter.
    Filtered,
    /// It lists versions, which are skipped.
    Versions,
    /// Its format does not say whether it is complete.
    Unended,
}

impl std::fmt::Display for Part {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(match self {
            Self::Continued => "continues a page that is missing before it",
            Self::Unlinked => "does not continue the truncated page before it",
            Self::Filtered => "is filtered by a prefix or delimiter",
            Self::Versions => "only has versions, which are skipped",
            Self::Unended => "does not say whether it is complete",
        })
    }
}

/// Receives the content of a source in order.
pub trait Sink {
    /// Takes a file. If it is rejected, the caller passes it to [`Sink::bad`].
    fn file(&mut self, item: &Item<'_>) -> Result<Taken, JobError>;
    /// Takes a bad line or entry.
    fn bad(&mut self, bad: Bad) -> Result<(), JobError>;
    /// Takes a skipped entry.
    fn skipped(&mut self, what: Skipped) -> Result<(), JobError>;
    /// Ends a page of a listing. `truncated` is true if more pages follow.
    fn page(&mut self, bucket: &str, kind: Option<&str>, truncated: bool) -> Result<(), JobError>;
    /// Marks the page that ends next as a part of its bucket.
    fn part(&mut self, _: Part) {}
    /// Links the page that ends next with those before and after it.
    fn link(&mut self, _: Link) {}
    /// Marks the source as a reject file, which only has a part of the files of its buckets.
    fn rejected(&mut self) -> Result<(), JobError> {
        Ok(())
    }
    /// Ends an incomplete source. Earlier entries are kept.
    fn broken(&mut self, reason: String) -> Result<(), JobError>;
}
