//! The `prune` subcommand.

use std::path::{Path, PathBuf};

use batch::Output;

use crate::jobs;

/// Options of `prune`.
#[derive(Clone, Debug, clap::Args)]
pub struct Prune {
    /// Number of corpora to keep for each kind, including the active one. The active corpus is
    /// always kept
    #[arg(long, default_value_t = 1)]
    keep: usize,
    /// Folder to clear of temporary files from interrupted builds [default: DATA_DIR/tmp]
    #[arg(long, value_name = "DIR")]
    tmp: Option<PathBuf>,
    /// Also remove the data of an unfinished `mirror` run
    #[arg(long)]
    unfinished: bool,
}

impl Prune {
    /// Removes unused files and prints their paths.
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
