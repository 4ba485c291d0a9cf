//! Backup manifests.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use super::copying::Size;

pub(super) const MANIFEST: &str = "backup.json";
/// Version of the backup layout. Newer versions of a program can read all older layouts.
pub(super) const FORMAT: u32 = 1;

/// Describes a backup and its parts.
#[derive(Debug, Serialize, Deserialize)]
pub(super) struct Manifest {
    pub format: u32,
    pub service: String,
    pub version: String,
    /// The size of each part.
    pub parts: BTreeMap<String, Size>,
}
