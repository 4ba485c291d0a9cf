//! `import`: imports events from an iCalendar file.

use std::path::PathBuf;
use std::process::ExitCode;

use anyhow::Context;
use batch::{Input, Output};

use crate::jobs::{self, ImportOptions};
use crate::state::State;

/// Arguments of `import`.
#[derive(clap::Args)]
pub struct ImportCommand {
    /// iCalendar file of any size, or - for standard input
    file: PathBuf,
    /// Report what would be done without writing anything. Blocks other writers while it runs
    #[arg(long)]
    pub(super) dry_run: bool,
    /// Print the result as JSON
    #[arg(long)]
    json: bool,
}

impl ImportCommand {
    /// Finds the file. With a mistyped path, the command must not create a database.
    pub fn input(&self) -> anyhow::Result<Input> {
        Input::at(&self.file).with_context(|| format!("{} cannot be read", self.file.display()))
    }

    /// Imports the file and prints a report. Exits with status 1 if any event failed.
    pub fn run(&self, state: &State, input: &Input) -> anyhow::Result<ExitCode> {
        let name = self.file.display();
        let options = ImportOptions { dry_run: self.dry_run };
        let report = jobs::import(state, input, options).with_context(|| name.to_string())?;
        for error in &report.errors {
            log::info!(target: "notice", "line {}: {}: {}", error.line, error.uid, error.message);
        }
        for one in &report.warnings {
            let (line, uid, message) = (one.line, &one.uid, &one.message);
            log::info!(target: "notice", "line {line}: {uid}: warning: {message}");
        }
        for (number, printed, kind) in [
            (report.failed, report.errors.len(), "errors"),
            (report.warned, report.warnings.len(), "warnings"),
        ] {
            let printed = u64::try_from(printed).unwrap_or(u64::MAX);
            if number > printed {
                log::info!(target: "notice", "and {} more {kind}", number - printed);
            }
        }
        let text =
            format_args!("{report}{}", if self.dry_run { "; nothing was written" } else { "" });
        Output::from_json_flag(self.json).print(&report, text)?;
        Ok(if report.failed == 0 { ExitCode::SUCCESS } else { ExitCode::FAILURE })
    }
}
