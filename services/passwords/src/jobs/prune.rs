//! Removes corpus files that are not in use.

use std::fs;
use std::path::{Path, PathBuf};
use std::time::SystemTime;

use anyhow::Context;

use crate::model::Kind;
use crate::store::KindFolder;

/// Options of `prune`.
#[derive(Clone, Debug, clap::Args)]
pub struct Prune {
    /// Corpora to keep of each kind, the one in use among them
    #[arg(long, default_value_t = 1)]
    pub keep: usize,
}

impl Prune {
    /// Removes the oldest files that `CURRENT` does not name, and leftovers of crashes.
    ///
    /// # Errors
    /// Another command holds the folder, or a file cannot be removed.
    pub fn run(&self, data_dir: &Path) -> anyhow::Result<()> {
        for kind in Kind::ALL {
            let folder = KindFolder::new(data_dir, kind);
            if folder.path().is_dir() {
                self.prune(&folder)?;
            }
        }
        Ok(())
    }

    fn prune(&self, folder: &KindFolder) -> anyhow::Result<()> {
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
        let kept = self.keep.saturating_sub(usize::from(current.is_some()));
        for (_, path) in others.into_iter().skip(kept) {
            fs::remove_file(&path).with_context(|| format!("cannot remove {}", path.display()))?;
            println!("{}", path.display());
        }
        Ok(())
    }
}
