//! Backup manifests.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use super::copying::Size;
use super::digests::Digests;

pub(super) const MANIFEST: &str = "backup.json";
/// Version of the backup layout. Newer versions of a program can read all older layouts.
pub(super) const FORMAT: u32 = 2;
/// The first version of the layout with digests.
pub(super) const WITH_DIGESTS: u32 = 2;

/// Describes a backup and its parts.
#[derive(Debug, Serialize, Deserialize)]
pub(super) struct Manifest {
    pub format: u32,
    pub service: String,
    pub version: String,
    /// The size of each part.
    pub parts: BTreeMap<String, Size>,
    /// The digest of each file. Empty before [`WITH_DIGESTS`].
    #[serde(default)]
    pub digests: Digests,
}
