//! The manifest of a backup.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use super::copying::Size;

/// The name of the manifest in a backup.
pub(super) const MANIFEST: &str = "backup.json";
/// The layout of backups. Later versions read all earlier ones.
pub(super) const FORMAT: u32 = 1;

/// The manifest of a backup.
#[derive(Debug, Serialize, Deserialize)]
pub(super) struct Manifest {
    pub format: u32,
    pub service: String,
    pub version: String,
    /// Number and bytes of the files of each part.
    pub parts: BTreeMap<String, Size>,
}
