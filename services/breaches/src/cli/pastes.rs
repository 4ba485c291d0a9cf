//! `pastes load`.

use std::path::PathBuf;
use std::process::ExitCode;

use super::output::Output;
use crate::jobs::{self, JobContext, PastesOptions};

/// The subcommand `pastes`.
#[derive(clap::Subcommand)]
pub enum PastesCommand {
    /// Load pastes: one JSON object a line with Source, Id, Title, Date, EmailCount, Emails
    ///
    /// A line may have 16 MiB, or a quarter of LOAD_MEMORY_MB if that is less. Invalid addresses in
    /// Emails are skipped and counted at the end.
    Load {
        /// Send no notices about the links of this load. A resumed load keeps its original choice
        #[arg(long)]
        no_notify: bool,
        /// Report new, known and refused links, and change nothing
        #[arg(long)]
        dry_run: bool,
        #[command(flatten)]
        output: Output,
        /// File, or - for standard input
        file: PathBuf,
    },
}

impl PastesCommand {
    /// Dry runs only report what would change.
    pub fn is_dry_run(&self) -> bool {
        let Self::Load { dry_run, .. } = self;
        *dry_run
    }

    pub fn run(self, context: &JobContext) -> anyhow::Result<ExitCode> {
        let Self::Load { no_notify, dry_run, output, file } = self;
        let options = PastesOptions { file, no_notify };
        if dry_run {
            return output.print_forecast(&jobs::forecast_pastes(context, &options)?);
        }
        output.print_outcome(&jobs::load_pastes(context, &options)?)
    }
}
