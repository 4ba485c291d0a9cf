//! `load`: events, venues, organizers and terms from a file.

use std::io::BufReader;
use std::path::PathBuf;
use std::process::ExitCode;

use anyhow::Context;
use batch::{Input, Output};

use crate::jobs::{self, LoadOptions};
use crate::state::State;

/// Arguments of `load`.
#[derive(clap::Args)]
pub struct LoadCommand {
    /// File with one JSON object per line, or - for standard input. A line is the body of a create
    /// request plus `type`, and for events optionally `external_id`
    file: PathBuf,
    /// Change existing rows to match their line, instead of leaving them
    #[arg(long)]
    upsert: bool,
    /// Write nothing and print what would be done. Other writers are blocked meanwhile
    #[arg(long)]
    pub(super) dry_run: bool,
    /// Accept a file without lines instead of failing
    #[arg(long)]
    allow_empty: bool,
    /// Print the result as JSON
    #[arg(long)]
    json: bool,
}

impl LoadCommand {
    /// Loads the file and prints a report. Exits with status 1 if any line failed.
    pub fn run(&self, state: &State) -> anyhow::Result<ExitCode> {
        let name = self.file.display();
        let lines = Input::at(&self.file).and_then(|input| input.open());
        let lines = lines.with_context(|| format!("{name} cannot be read"))?;
        let options = LoadOptions { dry_run: self.dry_run, upsert: self.upsert };
        let loaded = jobs::load(state, BufReader::new(lines), options);
        let loaded = loaded.with_context(|| name.to_string())?;
        anyhow::ensure!(
            self.allow_empty || !loaded.is_empty(),
            "{name}: has no lines, so nothing was loaded; check what made the file, or give \
             --allow-empty if it is meant to be empty"
        );
        for fault in &loaded.faults {
            log::info!(target: "notice", "line {}: {}", fault.line, fault.message);
        }
        let printed = u64::try_from(loaded.faults.len()).unwrap_or(u64::MAX);
        if loaded.failed > printed {
            log::info!(target: "notice", "and {} more faulty lines", loaded.failed - printed);
        }
        let text =
            format_args!("{loaded}{}", if self.dry_run { "; nothing was written" } else { "" });
        Output::from_json_flag(self.json).print(&loaded, text)?;
        Ok(if loaded.failed == 0 { ExitCode::SUCCESS } else { ExitCode::FAILURE })
    }
}
