//! What a source holds, entry by entry.

use crate::engine::NewFile;
use crate::jobs::error::JobError;
use crate::model::{Attribute, Attributes};

/// Bytes of a bad line that are kept in the report.
pub const EXCERPT: usize = 200;

/// A file as a source names it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Item<'a> {
    /// Line, or number of the entry, counted from 1.
    pub position: u64,
    /// Bucket address as written.
    pub bucket: &'a str,
    /// Bucket type as written.
    pub kind: Option<&'a str>,
    /// Path inside the bucket.
    pub path: &'a str,
    /// Its attributes.
    pub attributes: Attributes,
}

impl Item<'_> {
    /// The file to be added.
    pub fn file(&self, bucket: u64, kind: u64) -> NewFile {
        let Item { position: _, bucket: _, kind: _, path, attributes } = *self;
        NewFile { bucket, kind, path: path.to_owned(), attributes }
    }

    /// Whether it is a key that ends in `/` and has no bytes.
    pub fn is_directory_marker(&self) -> bool {
        self.attributes[Attribute::Size] == 0 && self.path.ends_with('/')
    }
}

/// A line or entry that cannot be used.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Bad {
    /// Line, or number of the entry, counted from 1.
    pub position: u64,
    /// Why.
    pub reason: String,
    /// The line itself, or the entry as a line of NDJSON: a load reads it once it is mended.
    pub content: Vec<u8>,
}

/// Whether a file was taken, or why not.
pub type Taken = Result<(), String>;

/// Entries that are skipped without being bad.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Skipped {
    /// A common prefix: a folder in a listing.
    Prefix,
    /// An old version, a snapshot or a delete marker.
    Version,
    /// A key that ends in `/` and has no bytes.
    DirectoryMarker,
}

/// Receives what a source holds, in order.
pub trait Sink {
    /// A file. One that is refused comes back whole, by [`Sink::bad`], right after.
    fn file(&mut self, item: &Item<'_>) -> Result<Taken, JobError>;
    /// A line or entry that cannot be used.
    fn bad(&mut self, bad: Bad) -> Result<(), JobError>;
    /// A skipped entry.
    fn skipped(&mut self, what: Skipped) -> Result<(), JobError>;
    /// A page of a listing of a bucket ended; `truncated`: it says that more follow.
    fn page(&mut self, bucket: &str, kind: Option<&str>, truncated: bool) -> Result<(), JobError>;
    /// The source cannot be read further; the entries before stay.
    fn broken(&mut self, reason: String) -> Result<(), JobError>;
}
