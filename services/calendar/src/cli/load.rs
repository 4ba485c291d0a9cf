//! `load`: events, venues, organizers and terms from a file.

use std::io::BufReader;
use std::path::PathBuf;
use std::process::ExitCode;

use anyhow::Context;
use batch::{Input, Output};

use crate::jobs::{self, LoadOptions};
use crate::state::State;

/// What is loaded.
#[derive(clap::Args)]
pub struct LoadCommand {
    /// File of one JSON object a line, or - for standard input: the body of a create, with `type`
    /// beside it, and `external_id` where an event has a name elsewhere
    file: PathBuf,
    /// Change what exists already to what its line says, instead of leaving it
    #[arg(long)]
    upsert: bool,
    /// Write nothing, and tell what would be done; others cannot write meanwhile
    #[arg(long)]
    dry_run: bool,
    /// Print the result as JSON
    #[arg(long)]
    json: bool,
}

impl LoadCommand {
    /// Loads the file and says what was done; a faulty line makes the command fail at its end.
    pub fn run(&self, state: &State) -> anyhow::Result<ExitCode> {
        let name = self.file.display();
        let lines = Input::at(&self.file).and_then(|input| input.open());
        let lines = lines.with_context(|| format!("{name} cannot be read"))?;
        let options = LoadOptions { dry_run: self.dry_run, upsert: self.upsert };
        let loaded = jobs::load(state, BufReader::new(lines), options);
        let loaded = loaded.with_context(|| name.to_string())?;
        for fault in &loaded.faults {
            log::info!(target: "notice", "line {}: {}", fault.line, fault.message);
        }
        let told = u64::try_from(loaded.faults.len()).unwrap_or(u64::MAX);
        if loaded.failed > told {
            log::info!(target: "notice", "and {} more faulty lines", loaded.failed - told);
        }
        let text =
            format_args!("{loaded}{}", if self.dry_run { "; nothing was written" } else { "" });
        Output::from_json_flag(self.json).print(&loaded, text)?;
        Ok(if loaded.failed == 0 { ExitCode::SUCCESS } else { ExitCode::FAILURE })
    }
}
