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
}
