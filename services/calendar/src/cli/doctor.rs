//! `doctor`: checks the database and the media folder.

use std::process::ExitCode;

use batch::Output;

use crate::jobs;
use crate::state::State;

/// Arguments of `doctor`.
#[derive(clap::Args)]
pub struct DoctorCommand {
    /// Print the result as JSON
    #[arg(long)]
    json: bool,
}

impl DoctorCommand {
    /// Prints the findings. Exits with status 1 if there are any problems.
    pub fn run(&self, state: &State) -> anyhow::Result<ExitCode> {
        let found = jobs::examine(state)?;
        Output::from_json_flag(self.json).print(&found, &found)?;
        Ok(if found.is_sound { ExitCode::SUCCESS } else { ExitCode::FAILURE })
    }
}
