//! `load`: events, venues, organizers and terms from a file.

use std::io::BufReader;
use std::path::PathBuf;
use std::process::ExitCode;

use anyhow::Context;
use batch::{Input, Output};

use crate::jobs;
use crate::state::State;

/// What is loaded.
#[derive(clap::Args)]
pub struct LoadCommand {
    /// File of one JSON object a line, or - for standard input: the body of a create, with `type`
    /// beside it
    file: PathBuf,
    /// Print the result as JSON
    #[arg(long)]
    json: bool,
}

impl LoadCommand {
    /// Loads the file and says what was done.
    pub fn run(&self, state: &State) -> anyhow::Result<ExitCode> {
        let name = self.file.display();
        let lines = Input::at(&self.file).and_then(|input| input.open());
        let lines = lines.with_context(|| format!("{name} cannot be read"))?;
        let loaded = jobs::load(state, BufReader::new(lines)).with_context(|| name.to_string())?;
        let text = format_args!("{} created, {} already there", loaded.created, loaded.kept);
        Output::from_json_flag(self.json).print(&loaded, text)?;
        Ok(ExitCode::SUCCESS)
    }
}
