//! `catalogue import`.

use std::path::PathBuf;
use std::process::ExitCode;

use super::output::Output;
use crate::jobs::{self, ImportOptions, ImportReport, JobContext, JobError};

/// The subcommand `catalogue`.
#[derive(clap::Subcommand)]
pub enum CatalogueCommand {
    /// Import entries: a JSON array, or one JSON object a line; all or nothing
    Import {
        /// File, or - for standard input
        file: PathBuf,
        /// Deactivate breaches that the file does not name
        #[arg(long)]
        deactivate_missing: bool,
        /// Do so without being asked
        #[arg(long, requires = "deactivate_missing")]
        yes: bool,
        /// Report what would change, and change nothing
        #[arg(long)]
        dry_run: bool,
        #[command(flatten)]
        output: Output,
    },
}

impl CatalogueCommand {
    /// Runs the command.
    pub fn run(self, context: &JobContext) -> anyhow::Result<ExitCode> {
        let Self::Import { file, deactivate_missing, yes, dry_run, output } = self;
        let entries = jobs::read_catalogue(jobs::open_input(&file)?)?;
        let options = ImportOptions { deactivate_missing, confirmed: yes, dry_run };
        let now = context.clock.unix();
        let done = context.pools.write_blocking(|db| -> Result<ImportReport, JobError> {
            jobs::import_catalogue(db, &entries, options, now)
        })?;
        if output.json {
            return output.print(&done, "");
        }
        print(&done, dry_run);
        Ok(ExitCode::SUCCESS)
    }
}

fn print(done: &ImportReport, dry_run: bool) {
    for member in &done.unknown_members {
        eprintln!("warning: the member {member} is unknown and ignored");
    }
    for name in &done.added {
        println!("+ {name}");
    }
    for (name, attributes) in &done.changed {
        println!("~ {name}: {}", attributes.join(", "));
    }
    for name in &done.deactivated {
        println!("- {name}");
    }
    let would = if dry_run { "would be " } else { "" };
    eprintln!(
        "{} {would}added, {} {would}changed, {} {would}deactivated, {} as they were",
        done.added.len(),
        done.changed.len(),
        done.deactivated.len(),
        done.unchanged
    );
}
