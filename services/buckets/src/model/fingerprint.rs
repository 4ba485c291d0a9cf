//! Fingerprints of names, for data that must not reveal the names of files.

use sha2::{Digest, Sha256};

/// Returns the fingerprint of a name. It is the same in every process.
pub fn fingerprint(name: &str) -> u64 {
    u64::from_be_bytes(first(&Sha256::digest(name)))
}

/// Returns the first bytes of a digest.
pub(super) fn first<const LENGTH: usize>(digest: &[u8]) -> [u8; LENGTH] {
    digest.first_chunk().copied().unwrap_or([0; LENGTH])
}
