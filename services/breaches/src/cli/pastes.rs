//! `pastes load`.

use std::path::PathBuf;
use std::process::ExitCode;

use super::output::Output;
use crate::jobs::{self, JobContext, PastesOptions};

/// The subcommand `pastes`.
#[derive(clap::Subcommand)]
pub enum PastesCommand {
    /// Load pastes: a JSON object a line with Source, Id, Title, Date, EmailCount, Emails
    ///
    /// A line has at most 16 MiB, or a quarter of LOAD_MEMORY_MB where that is less. Texts among Emails
    /// that are no valid addresses are left out and counted at the end.
    Load {
        /// Tell nobody of what this load links: no mails, no webhooks. A load that is resumed keeps the
        /// choice that it began with
        #[arg(long)]
        no_notify: bool,
        #[command(flatten)]
        output: Output,
        /// File, or - for standard input
        file: PathBuf,
    },
}

impl PastesCommand {
    /// Runs the command.
    pub fn run(self, context: &JobContext) -> anyhow::Result<ExitCode> {
        let Self::Load { no_notify, output, file } = self;
        output.print_outcome(&jobs::load_pastes(context, &PastesOptions { file, no_notify })?)
    }
}
