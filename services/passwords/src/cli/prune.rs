//! The `prune` subcommand.

use std::path::{Path, PathBuf};

use batch::Output;

use crate::jobs;

/// Options of `prune`.
#[derive(Clone, Debug, clap::Args)]
pub struct Prune {
    /// Number of corpora of each kind to keep, including the one in use
    #[arg(long, default_value_t = 1)]
    keep: usize,
    /// Folder with temporary files of killed builds [default: DATA_DIR/tmp]
    #[arg(long, value_name = "DIR")]
    tmp: Option<PathBuf>,
    /// Also remove the data of an unfinished mirror
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
