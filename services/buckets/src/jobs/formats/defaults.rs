//! Options that apply to all sources.

use super::format::Format;

/// Command-line options that apply to all sources.
#[derive(Clone, Debug, Default)]
pub struct Defaults {
    /// `--bucket`.
    pub bucket: Option<String>,
    /// `--type`.
    pub kind: Option<String>,
    /// `--format`.
    pub format: Option<Format>,
    /// The columns of an S3 inventory file, which does not have a header.
    pub columns: Option<Vec<String>>,
}
