//! Activates corpus files by replacing `CURRENT`.

use std::io::{self, Write};
use std::path::{Path, PathBuf};

use anyhow::{Context, bail};
use batch::AtomicFile;

use super::corpus::{Corpus, CorpusError};
use super::folder::{CURRENT, CURRENT_TMP, FolderLock, KindFolder, is_corpus_name};

/// Activates one corpus file per folder.
///
/// Readers see either the old name or the new one. All files are checked the way a server would,
/// and all data is written, before the first name changes, so a damaged file or a full disk leaves
/// everything unchanged.
///
/// # Errors
/// Returns an error if a file is not a valid corpus for its folder, or a folder is not writable.
pub fn activate_all<'a>(
    all: impl Iterator<Item = (&'a KindFolder, &'a FolderLock, &'a Path)>,
) -> anyhow::Result<()> {
    let prepared = all.map(|(folder, _, corpus)| prepare(folder, corpus));
    let prepared = prepared.collect::<anyhow::Result<Vec<_>>>()?;
    for (file, current) in prepared {
        file.commit(&current).with_context(|| unwritable(&current))?;
    }
    Ok(())
}

/// Writes the new `CURRENT` to a temporary file.
fn prepare(folder: &KindFolder, corpus: &Path) -> anyhow::Result<(AtomicFile, PathBuf)> {
    let name = corpus.file_name().and_then(|name| name.to_str()).unwrap_or_default();
    if !is_corpus_name(name) || corpus.parent() != Some(folder.path()) {
        bail!("{} is not a corpus file of {}", corpus.display(), folder.path().display());
    }
    let sound = Corpus::open(corpus, 0)?;
    if sound.kind() != folder.kind() {
        return Err(CorpusError::Kind { path: corpus.to_owned(), found: sound.kind() }.into());
    }
    sound.spot_check()?;
    let current = folder.path().join(CURRENT);
    if current.is_dir() {
        bail!("{} is a folder", current.display());
    }
    let write = || -> io::Result<AtomicFile> {
        let mut file = AtomicFile::create_as(folder.path().join(CURRENT_TMP))?;
        writeln!(file, "{name}")?;
        file.file().sync_all()?;
        Ok(file)
    };
    let file = write().with_context(|| unwritable(&current))?;
    Ok((file, current))
}

fn unwritable(path: &Path) -> String {
    format!("cannot write {}", path.display())
}
