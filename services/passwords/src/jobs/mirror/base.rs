//! The ranges fetched by an earlier mirror of the same service.

use std::cmp::Reverse;
use std::fs;
use std::path::PathBuf;

use domain::HashPrefix;

use crate::model::BucketDigest;
use crate::store::{BucketProblem, Corpus, KindFolder, TagLog, Tags, tags_path};

/// A mirrored corpus with the entity tags of its ranges.
pub struct Base {
    corpus: Corpus,
    tags: Tags,
}

impl Base {
    /// Returns the corpus in use if it is a mirror of this service, or else the newest corpus that
    /// is. `None` if there is none.
    ///
    /// # Errors
    /// Returns an error if the folder cannot be read.
    pub fn find(folder: &KindFolder, source: &str) -> anyhow::Result<Option<Self>> {
        let current = folder.current()?;
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

    /// Returns the entity tag of a range, if it is known.
    pub fn tag(&self, prefix: HashPrefix) -> Option<&[u8]> {
        self.tags.get(prefix.value(), self.corpus.digest(prefix))
    }

    /// Returns the bucket of a range and its digest.
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
