//! Backs up and restores the corpora.

use std::path::{Path, PathBuf};

use anyhow::bail;
use batch::{Backup, Restore};

use crate::model::Kind;
use crate::store::{CURRENT, KindFolder};

/// Maximum number of attempts to back up a kind. An attempt fails if another command removes the
/// corpus in the meantime.
const ATTEMPTS: u32 = 5;

/// Adds the corpora of all kinds to a backup. Since a corpus never changes, its file is linked
/// rather than copied. An unfinished mirror does change, so it is left out.
///
/// # Errors
/// Returns an error if the folder doesn't exist, if a file cannot be read or written, or if
/// `CURRENT` points to a missing file.
pub fn back_up(data_dir: &Path, backup: &Backup) -> anyhow::Result<()> {
    anyhow::ensure!(data_dir.is_dir(), "the folder {} does not exist", data_dir.display());
    Kind::ALL
        .into_iter()
        .try_for_each(|kind| back_up_kind(&KindFolder::new(data_dir, kind), backup))
}

fn back_up_kind(folder: &KindFolder, backup: &Backup) -> anyhow::Result<()> {
    let kind = folder.kind().name();
    let current = format!("{kind}/{CURRENT}");
    for _ in 0..ATTEMPTS {
        backup.discard(kind)?;
        if folder.current()?.is_none() {
            // There is no `CURRENT`, so none of these corpora is in use.
            return backup.link_files(kind, &folder.finished()?);
        }
        backup.copy(&current, &folder.path().join(CURRENT))?;
        backup.link_files(kind, &folder.finished()?)?;
        // Another command may have replaced and removed the corpus since we read `CURRENT`.
        let copied = KindFolder::new(backup.folder(), folder.kind());
        if copied.current()?.is_some_and(|corpus| corpus.exists()) {
            return Ok(());
        }
    }
    bail!("{} refers to a missing file", folder.path().join(CURRENT).display())
}

/// Returns the folders that [`restore`] writes to.
pub fn kind_folders(data_dir: &Path) -> [PathBuf; 2] {
    Kind::ALL.map(|kind| KindFolder::new(data_dir, kind).path().to_owned())
}

/// Restores a backup's corpora.
///
/// # Errors
/// Returns an error if a file cannot be read or written.
pub fn restore(data_dir: &Path, restore: &Restore) -> anyhow::Result<()> {
    Kind::ALL
        .into_iter()
        .try_for_each(|kind| restore.link(kind.name(), KindFolder::new(data_dir, kind).path()))
}
