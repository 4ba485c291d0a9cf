//! Options that apply to all sources.

use super::format::Format;

/// Command-line options that apply to all sources.
#[derive(Clone, Debug, Default)]
pub struct Defaults {
    /// `--bucket`
    pub bucket: Option<String>,
    /// `--type`
    pub kind: Option<String>,
    /// `--format`
    pub format: Option<Format>,
    /// Column names for S3 inventory files, which have no header.
    pub columns: Option<Vec<String>>,
}
