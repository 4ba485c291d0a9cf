//! The `activate` subcommand.

use std::path::{Path, PathBuf};

use batch::Output;

use super::threads::cores;
use crate::jobs;

/// Options of `activate`.
#[derive(Clone, Debug, clap::Args)]
pub struct Activate {
    /// Corpus file to activate. A file outside DATA_DIR is first copied there
    file: PathBuf,
}

impl Activate {
    /// Activates a corpus file and prints its path.
    pub fn run(&self, data_dir: &Path) -> anyhow::Result<()> {
        let path = jobs::activate(&self.file, data_dir, cores())?;
        Ok(Output::Text.print(&path, path.display())?)
    }
}
