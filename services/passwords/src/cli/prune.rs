//! `prune`.

use std::path::Path;

use crate::jobs;

/// Options of `prune`.
#[derive(Clone, Debug, clap::Args)]
pub struct Prune {
    /// Corpora to keep of each kind, the one in use among them
    #[arg(long, default_value_t = 1)]
    keep: usize,
}

impl Prune {
    /// Prunes and prints each path that is gone.
    pub fn run(&self, data_dir: &Path) -> anyhow::Result<()> {
        jobs::prune(data_dir, self.keep, |path| {
            println!("{}", path.display());
            Ok(())
        })
    }
}
