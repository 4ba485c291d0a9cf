//! Activates a corpus file.

use std::path::{Path, PathBuf};

use anyhow::{Context, bail};

use super::verify::verify;
use crate::store::{Corpus, KindFolder, activate_all};

/// Checks `file` the way a server would, makes `CURRENT` point to it, and returns its path.
///
/// A file outside the data folder is copied into it first. If that would replace an existing corpus
/// with the same ID, all of `file` is verified beforehand (using `threads` threads), since the
/// existing copy might be intact while `file` is damaged.
///
/// # Errors
/// Returns an error if the file is damaged, or the data folder is not writable.
pub fn activate(file: &Path, data_dir: &Path, threads: usize) -> anyhow::Result<PathBuf> {
    let corpus = Corpus::open(file, 0)?;
    corpus.spot_check()?;
    let folder = KindFolder::new(data_dir, corpus.kind());
    let lock = folder.lock()?;
    let path = folder.corpus_path(&corpus.header().corpus_id);
    if !is_same_file(file, &path) {
        if path.exists() && !verify(file, false, threads)?.good {
            let file = file.display();
            bail!("{file} is damaged and does not replace {}; see `verify {file}`", path.display());
        }
        batch::copy_atomically(file, &path)
            .with_context(|| format!("cannot copy {} to DATA_DIR", file.display()))?;
    }
    activate_all([(&folder, &lock, path.as_path())].into_iter())?;
    Ok(path)
}

fn is_same_file(a: &Path, b: &Path) -> bool {
    matches!((a.canonicalize(), b.canonicalize()), (Ok(a), Ok(b)) if a == b)
}
