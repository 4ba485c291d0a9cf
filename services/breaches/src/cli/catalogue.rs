//! `catalogue import`.

use std::path::PathBuf;
use std::process::ExitCode;

use super::output::Output;
use crate::jobs::{self, ImportOptions, ImportReport, JobContext, JobError};

/// The subcommand `catalogue`.
#[derive(clap::Subcommand)]
pub enum CatalogueCommand {
    /// Import breaches from a JSON array or one JSON object per line. Either all entries are
    /// imported or none
    Import {
        /// File to import, or - for standard input
        file: PathBuf,
        /// Deactivate breaches that are not in the file
        #[arg(long)]
        deactivate_missing: bool,
        /// Allow changes that otherwise stop the import: breaches that --deactivate-missing would
        /// deactivate, and breaches with accounts that the file marks as retired, because their
        /// accounts are removed permanently
        #[arg(long)]
        yes: bool,
        /// Report the changes without making them
        #[arg(long)]
        dry_run: bool,
        #[command(flatten)]
        output: Output,
    },
}

impl CatalogueCommand {
    /// Dry runs only report what would change.
    pub fn is_dry_run(&self) -> bool {
        let Self::Import { dry_run, .. } = self;
        *dry_run
    }

    pub fn run(self, context: &JobContext) -> anyhow::Result<ExitCode> {
        let Self::Import { file, deactivate_missing, yes, dry_run, output } = self;
        let entries = jobs::read_catalogue(jobs::open_input(&file)?)?;
        let options = ImportOptions { deactivate_missing, confirmed: yes, dry_run };
        let now = context.clock.unix();
        let done = context.pools.write_blocking(|db| -> Result<ImportReport, JobError> {
            jobs::import_catalogue(db, &entries, options, now)
        })?;
        for member in &done.unknown_members {
            log::warn!(target: "notice", "ignored the unknown member {member}");
        }
        if output.json {
            return output.print(&done, "");
        }
        log::info!(target: "notice", "{}", summary(&done, dry_run));
        output.print_list(&lines(&done), String::clone)
    }
}

/// Lists the changes, one line per breach.
fn lines(done: &ImportReport) -> Vec<String> {
    let added = done.added.iter().map(|name| format!("+ {name}"));
    let changed = done.changed.iter().map(|(name, what)| format!("~ {name}: {}", what.join(", ")));
    let deactivated = done.deactivated.iter().map(|name| format!("- {name}"));
    let retired = done
        .retired
        .iter()
        .map(|(name, links)| format!("x {name}: retired, {links} links are removed permanently"));
    added.chain(changed).chain(deactivated).chain(retired).collect()
}

fn summary(done: &ImportReport, dry_run: bool) -> String {
    let would = if dry_run { "would be " } else { "" };
    format!(
        "{} {would}added, {} {would}changed, {} {would}deactivated, {} unchanged",
        done.added.len(),
        done.changed.len(),
        done.deactivated.len(),
        done.unchanged
    )
}
