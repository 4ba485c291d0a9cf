//! The `merge` subcommand.

use std::path::{Path, PathBuf};

use domain::Clock;

use super::lists::{Lists, MergeArgument};
use crate::jobs;

/// Options of `merge`.
#[derive(Clone, Debug, clap::Args)]
pub struct Merge {
    /// Existing corpus to start from. It is not modified
    #[arg(long, value_name = "FILE")]
    base: PathBuf,
    /// How to combine counts if a hash is in both the corpus and the inputs
    #[arg(long, value_enum, default_value = "sum")]
    mode: MergeArgument,
    #[command(flatten)]
    lists: Lists,
}

impl Merge {
    /// Merges and prints a report on the new corpus.
    pub fn run(&self, data_dir: &Path, clock: &dyn Clock) -> anyhow::Result<()> {
        let (base, mode) = (self.base.clone(), self.mode.into());
        let job = jobs::Merge { base, mode, lists: self.lists.to_job() };
        self.lists.print(&job.run(data_dir, clock)?)
    }
}
