//! What the operator says about all sources.

use super::format::Format;

/// What the command line says about every source.
#[derive(Clone, Debug, Default)]
pub struct Defaults {
    /// `--bucket`.
    pub bucket: Option<String>,
    /// `--type`.
    pub kind: Option<String>,
    /// `--format`.
    pub format: Option<Format>,
}
