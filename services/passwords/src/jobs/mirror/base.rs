//! Reuses ranges that an earlier mirror of the same service fetched.

use std::cmp::Reverse;
use std::fs;
use std::path::PathBuf;

use domain::HashPrefix;

use crate::model::BucketDigest;
use crate::store::{BucketProblem, Corpus, KindFolder, TagLog, Tags, tags_path};

/// A mirrored corpus along with the entity tags of its ranges.
pub struct Base {
    corpus: Corpus,
    tags: Tags,
}

impl Base {
    /// Finds a corpus that is a mirror of this service. Prefers the one in use, then the newest.
    ///
    /// # Errors
    /// Returns an error if the folder cannot be read.
    pub fn find(folder: &KindFolder, source: &str) -> anyhow::Result<Option<Self>> {
        // Ignore a damaged `CURRENT`: it only affects the order here, and the mirror will replace
        // it.
        let current = folder.current().unwrap_or_default();
        let mut candidates = folder.corpora()?;
        let changed = |path: &PathBuf| fs::metadata(path).and_then(|data| data.modified()).ok();
        candidates.sort_by_key(|path| Reverse((Some(path) == current.as_ref(), changed(path))));
        for path in candidates {
            let Some(log) = TagLog::open(&tags_path(&path), folder.kind(), source)? else {
                continue;
            };
            match Corpus::open(&path, 0) {
                Ok(corpus) => return Ok(Some(Self { corpus, tags: Tags::read(log)? })),
                Err(error) => log::warn!("{error}; its ranges are fetched again"),
            }
        }
        Ok(None)
    }

    /// Returns a range's entity tag, if known.
    pub fn tag(&self, prefix: HashPrefix) -> Option<&[u8]> {
        self.tags.get(prefix.value(), self.corpus.digest(prefix))
    }

    /// Returns a range's bucket and its digest.
    ///
    /// # Errors
    /// Returns an error if the bucket cannot be read or is damaged.
    pub fn bucket<'a>(
        &'a self,
        prefix: HashPrefix,
        buffer: &'a mut Vec<u8>,
    ) -> Result<(&'a [u8], BucketDigest), BucketProblem> {
        Ok((self.corpus.sound_bytes(prefix, buffer)?, self.corpus.digest(prefix)))
    }
}
