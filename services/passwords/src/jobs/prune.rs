//! Removes unused corpus files.

use std::fs;
use std::path::{Path, PathBuf};
use std::time::SystemTime;

use anyhow::Context;

use super::source::remove_temporary_files;
use crate::model::Kind;
use crate::store::{KindFolder, remove_partial, tags_path};

/// Removes the oldest corpora except the active ones, as well as leftovers of crashed commands,
/// including any in `tmp`.
///
/// Keeps `keep` corpora of each kind, including the one in use. The data of an unfinished mirror is
/// also kept unless `unfinished` is true. Calls `removed` with the path of each removed file.
///
/// # Errors
/// Returns an error if another command has locked the folder, or a file cannot be removed.
pub fn prune(
    data_dir: &Path,
    tmp: &Path,
    keep: usize,
    unfinished: bool,
    mut removed: impl FnMut(&Path),
) -> anyhow::Result<()> {
    remove_temporary_files(tmp)?;
    for kind in Kind::ALL {
        let folder = KindFolder::new(data_dir, kind);
        if folder.path().is_dir() {
            prune_kind(&folder, keep, unfinished, &mut removed)?;
        }
    }
    Ok(())
}

fn prune_kind(
    folder: &KindFolder,
    keep: usize,
    unfinished: bool,
    removed: &mut impl FnMut(&Path),
) -> anyhow::Result<()> {
    let lock = folder.lock()?;
    if unfinished {
        remove_partial(folder, &lock)?.iter().for_each(|path| removed(path));
    }
    let current = folder
        .current()
        .with_context(|| format!("cannot read CURRENT of {}", folder.path().display()))?;
    // If the active corpus is missing, it doesn't count towards `keep`.
    let current = current.filter(|path| path.exists());
    let mut others: Vec<(SystemTime, PathBuf)> = Vec::new();
    for path in folder.corpora()? {
        if Some(&path) != current.as_ref() {
            others.push((fs::metadata(&path)?.modified()?, path));
        }
    }
    others.sort();
    others.reverse();
    let kept = keep.saturating_sub(usize::from(current.is_some()));
    for (_, path) in others.into_iter().skip(kept) {
        let tags = tags_path(&path);
        for path in [Some(path), tags.exists().then_some(tags)].into_iter().flatten() {
            fs::remove_file(&path).with_context(|| format!("cannot remove {}", path.display()))?;
            removed(&path);
        }
    }
    Ok(())
}
