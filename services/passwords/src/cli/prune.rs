//! `prune`.

use std::path::{Path, PathBuf};

use batch::Output;

use crate::jobs;

/// Options of `prune`.
#[derive(Clone, Debug, clap::Args)]
pub struct Prune {
    /// Corpora to keep of each kind, the one in use among them
    #[arg(long, default_value_t = 1)]
    keep: usize,
    /// Folder in which killed builds left temporary files [default: DATA_DIR/tmp]
    #[arg(long, value_name = "DIR")]
    tmp: Option<PathBuf>,
    /// Remove also what an unfinished mirror has fetched
    #[arg(long)]
    unfinished: bool,
}

impl Prune {
    /// Prunes and prints each path that is gone.
    pub fn run(&self, data_dir: &Path) -> anyhow::Result<()> {
        let tmp = self.tmp.clone().unwrap_or_else(|| jobs::default_tmp(data_dir));
        let mut removed = Vec::new();
        let outcome = jobs::prune(data_dir, &tmp, self.keep, self.unfinished, |path| {
            removed.push(path.to_owned());
        });
        Output::Text.print_list(&removed, |path| path.display().to_string())?;
        outcome
    }
}
