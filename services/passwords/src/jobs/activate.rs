//! Makes a corpus file the one that is served.

use std::path::{Path, PathBuf};

use anyhow::Context;
use batch::copy_atomically;

use super::verify;
use crate::store::KindFolder;

/// Options of `activate`.
#[derive(Clone, Debug, clap::Args)]
pub struct Activate {
    /// The corpus file; one from elsewhere is copied into DATA_DIR first
    pub file: PathBuf,
}

impl Activate {
    /// Checks the file as a server would and points `CURRENT` at it.
    ///
    /// # Errors
    /// The file is damaged, or DATA_DIR cannot be written.
    pub fn run(&self, data_dir: &Path) -> anyhow::Result<()> {
        let corpus = verify::quick(&self.file)?;
        let folder = KindFolder::new(data_dir, corpus.kind());
        let lock = folder.lock()?;
        let path = folder.corpus_path(&corpus.header().corpus_id);
        if !same_file(&self.file, &path) {
            copy_atomically(&self.file, &path)
                .with_context(|| format!("cannot copy {} to DATA_DIR", self.file.display()))?;
        }
        folder.activate(&path, &lock)?;
        println!("{}", path.display());
        Ok(())
    }
}

fn same_file(a: &Path, b: &Path) -> bool {
    matches!((a.canonicalize(), b.canonicalize()), (Ok(a), Ok(b)) if a == b)
}
