//! Options for all sources.

use super::format::Format;

/// Options for all sources from the command line.
#[derive(Clone, Debug, Default)]
pub struct Defaults {
    /// `--bucket`.
    pub bucket: Option<String>,
    /// `--type`.
    pub kind: Option<String>,
    /// `--format`.
    pub format: Option<Format>,
    /// Columns of a file of an S3 inventory, which has no header.
    pub columns: Option<Vec<String>>,
}
