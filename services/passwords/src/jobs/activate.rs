//! Makes a corpus file the one that is served.

use std::fs::{self, File};
use std::path::{Path, PathBuf};

use anyhow::Context;

use super::verify;
use crate::store::KindFolder;
use crate::store::folder::sync_folder;

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
            let tmp = folder.path().join(".copy.tmp");
            copy(&self.file, &tmp, &path, folder.path())
                .with_context(|| format!("cannot copy {} to DATA_DIR", self.file.display()))
                .inspect_err(|_| {
                    let _ = fs::remove_file(&tmp);
                })?;
        }
        folder.activate(&path, &lock)?;
        println!("{}", path.display());
        Ok(())
    }
}

fn same_file(a: &Path, b: &Path) -> bool {
    matches!((a.canonicalize(), b.canonicalize()), (Ok(a), Ok(b)) if a == b)
}

fn copy(from: &Path, tmp: &Path, to: &Path, folder: &Path) -> std::io::Result<()> {
    fs::copy(from, tmp)?;
    File::open(tmp)?.sync_all()?;
    fs::rename(tmp, to)?;
    sync_folder(folder)
}
