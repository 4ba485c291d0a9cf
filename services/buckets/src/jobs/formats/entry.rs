//! Entries of sources.

use super::link::Link;
use crate::engine::NewFile;
use crate::jobs::error::JobError;
use crate::model::{Attribute, Attributes};

/// Number of bytes of a bad line that a report quotes.
pub const EXCERPT: usize = 200;

/// A file in a source.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Item<'a> {
    /// Line number or entry number, starting at 1.
    pub position: u64,
    /// Bucket address as written in the source.
    pub bucket: &'a str,
    /// Bucket type as written in the source.
    pub kind: Option<&'a str>,
    /// Path inside the bucket.
    pub path: &'a str,
    pub attributes: Attributes,
}

impl Item<'_> {
    /// Returns the file to add to the index.
    pub fn file(&self, bucket: u64, kind: u64) -> NewFile {
        let Item { position: _, bucket: _, kind: _, path, attributes } = *self;
        NewFile { bucket, kind, path: path.to_owned(), attributes }
    }

    /// Returns true if the file is an empty object whose key ends in `/`.
    pub fn is_directory_marker(&self) -> bool {
        self.attributes[Attribute::Size] == 0 && self.path.ends_with('/')
    }
}

/// A bad line or entry.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Bad {
    /// Line number or entry number, starting at 1.
    pub position: u64,
    pub reason: String,
    /// The line, or the entry converted to an NDJSON line. It can be corrected and loaded.
    pub content: Vec<u8>,
}

/// `Ok` if a file was accepted, otherwise the reason for rejecting it.
pub type Taken = Result<(), String>;

/// Entries that are skipped without being bad.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Skipped {
    /// A common prefix, which is a folder in a listing.
    Prefix,
    /// An old version, a snapshot, or a delete marker.
    Version,
    /// An empty object whose key ends in `/`.
    DirectoryMarker,
}

/// The reason that a page of a listing covers only a part of its bucket.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Part {
    /// The page continues after a key. It is only a part if the page before it is missing.
    Continued,
    /// The page does not continue the truncated page before it.
    Unlinked,
    /// The listing is filtered by a prefix or grouped by a delimiter.
    Filtered,
    /// The listing contains versions, which are skipped.
    Versions,
    /// The format does not indicate whether the listing is complete.
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

/// Receives the content of a source, in order.
pub trait Sink {
    /// Receives a file. If the file is rejected, the caller passes it to [`Sink::bad`].
    fn file(&mut self, item: &Item<'_>) -> Result<Taken, JobError>;
    /// Receives a bad line or entry.
    fn bad(&mut self, bad: Bad) -> Result<(), JobError>;
    /// Receives an entry that is skipped.
    fn skipped(&mut self, what: Skipped) -> Result<(), JobError>;
    /// Ends a page of a listing. `truncated` is true if more pages follow.
    fn page(&mut self, bucket: &str, kind: Option<&str>, truncated: bool) -> Result<(), JobError>;
    /// Marks the page that ends next as only a part of its bucket.
    fn part(&mut self, _: Part) {}
    /// Links the page that ends next to those before and after it.
    fn link(&mut self, _: Link) {}
    /// Marks the source as a reject file, which contains only some of the files of its buckets.
    fn rejected(&mut self) -> Result<(), JobError> {
        Ok(())
    }
    /// Ends an incomplete source. Earlier entries are kept.
    fn broken(&mut self, reason: String) -> Result<(), JobError>;
}
