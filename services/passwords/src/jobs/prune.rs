//! Removes corpus files that are not in use.

use std::fs;
use std::path::{Path, PathBuf};
use std::time::SystemTime;

use anyhow::Context;

use crate::model::Kind;
use crate::store::KindFolder;

/// Removes the oldest files that `CURRENT` does not name, and leftovers of crashes.
///
/// `keep` corpora of each kind stay, the one in use among them; `removed` gets each path that is
/// gone.
///
/// # Errors
/// Another command holds the folder, a file cannot be removed, or an error of `removed`.
pub fn prune(
    data_dir: &Path,
    keep: usize,
    mut removed: impl FnMut(&Path) -> anyhow::Result<()>,
) -> anyhow::Result<()> {
    for kind in Kind::ALL {
        let folder = KindFolder::new(data_dir, kind);
        if folder.path().is_dir() {
            prune_kind(&folder, keep, &mut removed)?;
        }
    }
    Ok(())
}

fn prune_kind(
    folder: &KindFolder,
    keep: usize,
    removed: &mut impl FnMut(&Path) -> anyhow::Result<()>,
) -> anyhow::Result<()> {
    let _lock = folder.lock()?;
    let current = folder
        .current()
        .with_context(|| format!("cannot read CURRENT of {}", folder.path().display()))?;
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
        fs::remove_file(&path).with_context(|| format!("cannot remove {}", path.display()))?;
        removed(&path)?;
    }
    Ok(())
}
