//! Backs up and restores the corpora.

use std::fs;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};

use anyhow::{Context, bail};
use batch::{Backup, Restore};

use crate::model::Kind;
use crate::store::{CURRENT, KindFolder, tags_path};

/// How many times to list a kind's files. Other commands may change them in the meantime.
const ATTEMPTS: u32 = 5;

/// Adds the corpora of all kinds to a backup. We link them, because a corpus never changes.
///
/// # Errors
/// Returns an error if a file cannot be read or written, or if `CURRENT` points to a missing file.
pub fn back_up(data_dir: &Path, backup: &Backup) -> anyhow::Result<()> {
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
            // These corpora were never served.
            return link_corpora(folder, &backup.path(kind));
        }
        backup.copy(&current, &folder.path().join(CURRENT))?;
        link_corpora(folder, &backup.path(kind))?;
        // The corpus may have been replaced and removed after we read `CURRENT`.
        let copied = KindFolder::new(backup.folder(), folder.kind());
        if copied.current()?.is_some_and(|corpus| corpus.exists()) {
            return Ok(());
        }
    }
    bail!("{} refers to a missing file", folder.path().join(CURRENT).display())
}

/// Links a folder's corpora and their tags. An unfinished mirror isn't part of a backup: its files
/// still change, and a link to them would change too.
fn link_corpora(folder: &KindFolder, to: &Path) -> anyhow::Result<()> {
    for corpus in folder.corpora()? {
        fs::create_dir_all(to).with_context(|| format!("cannot write {}", to.display()))?;
        for path in [tags_path(&corpus), corpus] {
            let copy = to.join(path.file_name().unwrap_or_default());
            match batch::link_or_copy(&path, &copy) {
                // The corpus isn't a mirror, or it was removed after we listed the folder.
                Err(error) if error.kind() == ErrorKind::NotFound && !path.exists() => {}
                linked => linked.with_context(|| {
                    format!("cannot copy {} to {}", path.display(), copy.display())
                })?,
            }
        }
    }
    Ok(())
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
