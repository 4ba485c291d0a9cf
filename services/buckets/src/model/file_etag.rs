//! ETags of listed files. We store fingerprints, because they are short and don't reveal file
//! names.

use std::collections::HashSet;
use std::sync::Arc;

use sha2::{Digest, Sha256};

use super::attribute::{Attribute, Attributes};
use super::fingerprint::first;

/// A file's ETag.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct FileEtag {
    /// Fingerprint of path, size and date.
    pub file: u64,
    /// Fingerprint of the ETag.
    pub etag: u32,
}

impl FileEtag {
    /// Stored size in bytes.
    pub const BYTES: usize = 12;

    /// Computes the fingerprints.
    pub fn of(path: &str, attributes: &Attributes, etag: &str) -> Self {
        let etag = u32::from_be_bytes(first(&Sha256::digest(etag)));
        Self { file: fingerprint(path, attributes), etag }
    }

    /// Appends the ETag in its stored form.
    pub fn write(self, bytes: &mut Vec<u8>) {
        bytes.extend(self.file.to_be_bytes());
        bytes.extend(self.etag.to_be_bytes());
    }

    /// Reads any number of ETags in their stored form.
    pub fn read(bytes: &[u8]) -> impl Iterator<Item = Self> {
        bytes.chunks_exact(Self::BYTES).filter_map(|stored| {
            let (file, etag) = stored.split_first_chunk::<8>()?;
            let etag = u32::from_be_bytes(*etag.first_chunk::<4>()?);
            Some(Self { file: u64::from_be_bytes(*file), etag })
        })
    }
}

fn fingerprint(path: &str, attributes: &Attributes) -> u64 {
    let mut hash = Sha256::new();
    for attribute in Attribute::ALL {
        hash.update(attributes[attribute].to_be_bytes());
    }
    hash.update(path);
    u64::from_be_bytes(first(&hash.finalize()))
}

/// Files whose ETag has changed even though their size and date haven't.
#[derive(Clone, Debug, Default)]
pub struct ChangedFiles(Arc<[u64]>);

impl ChangedFiles {
    /// Creates a set from fingerprints of files.
    pub fn new(mut files: Vec<u64>) -> Self {
        files.sort_unstable();
        Self(files.into())
    }

    /// Number of files.
    pub fn count(&self) -> usize {
        self.0.len()
    }

    /// Returns `true` if the set contains the file with this fingerprint.
    pub fn contain_fingerprint(&self, file: u64) -> bool {
        self.0.binary_search(&file).is_ok()
    }

    /// Returns `true` if the set contains a file with this path, size and date.
    pub fn contain(&self, path: &str, attributes: &Attributes) -> bool {
        self.find(path, attributes).is_some()
    }

    /// Returns the fingerprint of the file with this path, size and date, if the set contains it.
    pub fn find(&self, path: &str, attributes: &Attributes) -> Option<u64> {
        // Usually, the set is empty.
        if self.0.is_empty() {
            return None;
        }
        Some(fingerprint(path, attributes)).filter(|file| self.contain_fingerprint(*file))
    }

    /// Returns a copy of the set without the files that have these fingerprints.
    pub fn without(&self, files: &HashSet<u64>) -> Self {
        Self(self.0.iter().copied().filter(|file| !files.contains(file)).collect())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn stored_etags_are_read_back() {
        let attributes = Attributes::from_fn(|attribute| 7 + attribute as i64);
        let etags = [("a", "\"1\""), ("a/b", "\"2\""), ("", "")]
            .map(|(path, etag)| FileEtag::of(path, &attributes, etag));
        let mut bytes = Vec::new();
        etags.iter().for_each(|etag| etag.write(&mut bytes));
        assert_eq!(bytes.len(), etags.len() * FileEtag::BYTES);
        assert_eq!(FileEtag::read(&bytes).collect::<Vec<_>>(), etags);
    }

    #[test]
    fn set_distinguishes_paths_sizes_and_dates() {
        let attributes = |size, modified| {
            Attributes::from_fn(|attribute| match attribute {
                Attribute::Size => size,
                Attribute::LastModified => modified,
            })
        };
        let file = |path, size, modified| FileEtag::of(path, &attributes(size, modified), "").file;
        let changed = ChangedFiles::new(vec![file("b", 2, 3), file("a", 1, 2)]);
        assert!(changed.contain("a", &attributes(1, 2)) && changed.contain("b", &attributes(2, 3)));
        for (path, size, modified) in [("a", 2, 2), ("a", 1, 3), ("b", 1, 2), ("c", 1, 2)] {
            assert!(
                !changed.contain(path, &attributes(size, modified)),
                "{path} {size} {modified}"
            );
        }
        let rest = changed.without(&HashSet::from([file("a", 1, 2)]));
        assert_eq!(rest.find("b", &attributes(2, 3)), Some(file("b", 2, 3)));
        assert!(!rest.contain("a", &attributes(1, 2)));
    }
}
