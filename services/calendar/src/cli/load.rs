//! `load`: events, venues, organizers and terms from a file.

use std::fs::File;
use std::io::BufReader;
use std::path::PathBuf;
use std::process::ExitCode;

use anyhow::Context;

use crate::jobs;
use crate::state::State;

/// What is loaded.
#[derive(clap::Args)]
pub struct LoadCommand {
    /// File of one JSON object a line: the body of a create, with `type` beside it
    file: PathBuf,
}

impl LoadCommand {
    /// Loads the file and says what was done.
    pub fn run(&self, state: &State) -> anyhow::Result<ExitCode> {
        let name = self.file.display();
        let lines = File::open(&self.file).with_context(|| format!("{name} cannot be read"))?;
        let loaded = jobs::load(state, BufReader::new(lines)).with_context(|| name.to_string())?;
        eprintln!("{} created, {} there already", loaded.created, loaded.kept);
        Ok(ExitCode::SUCCESS)
    }
}
