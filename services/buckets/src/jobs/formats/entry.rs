//! Types for the entries found in sources.

use super::link::Link;
use crate::engine::NewFile;
use crate::jobs::error::JobError;
use crate::model::{Attribute, Attributes};

/// How many bytes of a bad line to quote in a report.
pub const EXCERPT: usize = 200;

/// A file found in a source.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Item<'a> {
    /// Line or entry number, starting at 1.
    pub position: u64,
    /// Bucket address, exactly as in the source.
    pub bucket: &'a str,
    /// Bucket type, exactly as in the source.
    pub kind: Option<&'a str>,
    /// Path within the bucket.
    pub path: &'a str,
    pub attributes: Attributes,
    /// Version of the content, if the source has it. Only crawls use it.
    pub etag: Option<&'a str>,
}

impl Item<'_> {
    /// Converts this to a file for the index.
    pub fn file(&self, bucket: u64, kind: u64) -> NewFile {
        let Item { path, attributes, .. } = *self;
        NewFile { bucket, kind, path: path.to_owned(), attributes, is_changed: false }
    }

    /// Returns `true` for an empty object whose key ends in `/`.
    pub fn is_directory_marker(&self) -> bool {
        self.attributes[Attribute::Size] == 0 && self.path.ends_with('/')
    }
}

/// A bad line or entry.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Bad {
    /// Line or entry number, starting at 1.
    pub position: u64,
    pub reason: String,
    /// The line, or the entry converted to NDJSON, so that it can be fixed and loaded again.
    pub content: Vec<u8>,
    /// Whether it might describe other files than the one that `content` names, for example because
    /// two lines were joined.
    pub is_unclear: bool,
}

/// `Ok` if a file was accepted, otherwise the reason it was rejected.
pub type Taken = Result<(), String>;

/// Valid entries that are skipped.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Skipped {
    /// A common prefix, which is how listings show folders.
    Prefix,
    /// An old version, a snapshot, or a delete marker.
    Version,
    /// An empty object whose key ends in `/`, or an Azure directory.
    DirectoryMarker,
}

/// Why a page doesn't cover the whole bucket.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Part {
    /// The page continues after a key, which is only a problem if the previous page is missing.
    Continued,
    /// The page follows a truncated page but isn't its continuation.
    Unlinked,
    /// The listing was filtered by prefix or grouped by delimiter.
    Filtered,
    /// The listing contains versions, which we skip.
    Versions,
    /// The page was requested without keys.
    NoKeys,
    /// The page has fewer entries than it says.
    Short,
    /// The format doesn't say whether a listing is complete.
    Unended,
}

impl std::fmt::Display for Part {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(match self {
            Self::Continued => "continues a page that is missing before it",
            Self::Unlinked => "does not continue the truncated page before it",
            Self::Filtered => "is filtered by a prefix or delimiter",
            Self::Versions => "only has versions, which are skipped",
            Self::NoKeys => "was requested without keys (MaxKeys is 0)",
            Self::Short => "has fewer entries than its KeyCount says",
            Self::Unended => "does not say whether it is complete",
        })
    }
}

/// Receives the contents of a source, in order. By default, only files and broken sources are
/// handled, and the rest is ignored.
pub trait Sink {
    /// The source only has files of this bucket. Called first, if the bucket is known before the
    /// source is read.
    fn only_bucket(&mut self, _: &str) {}
    /// A file. If it's rejected, the caller also passes it to [`Sink::bad`].
    fn file(&mut self, item: &Item<'_>) -> Result<Taken, JobError>;
    /// A bad line or entry.
    fn bad(&mut self, bad: Bad) -> Result<(), JobError>;
    /// An entry to be skipped.
    fn skipped(&mut self, _: Skipped) -> Result<(), JobError> {
        Ok(())
    }
    /// The end of a page in a listing. `_truncated` means that there are more pages.
    fn page(
        &mut self,
        _bucket: &str,
        _kind: Option<&str>,
        _truncated: bool,
    ) -> Result<(), JobError> {
        Ok(())
    }
    /// The current page doesn't cover the whole bucket. Called before [`Sink::page`].
    fn part(&mut self, _: Part) {}
    /// How the current page is linked to adjacent pages. Called before [`Sink::page`].
    fn link(&mut self, _: Link) {}
    /// The source is a reject file, so it contains only some of the files in its buckets.
    fn rejected(&mut self) -> Result<(), JobError> {
        Ok(())
    }
    /// The source is incomplete and ends here. Entries before this point are kept.
    fn broken(&mut self, reason: String) -> Result<(), JobError>;
}
