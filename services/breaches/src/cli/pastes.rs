//! `pastes load`.

use std::path::PathBuf;
use std::process::ExitCode;

use super::output::Output;
use crate::jobs::{self, JobContext, PastesOptions};

/// The subcommand `pastes`.
#[derive(clap::Subcommand)]
pub enum PastesCommand {
    /// Load pastes from one JSON object per line, with the fields Source, Id, Title, Date,
    /// EmailCount and Emails
    ///
    /// A line can be up to 16 MiB long, or a quarter of LOAD_MEMORY_MB if that is less. Invalid
    /// addresses in Emails are skipped, and their number is reported at the end.
    ///
    /// Id is a text or a whole number. Date is a date or time such as 2014-11-28,
    /// 2014-11-28T06:11:00Z or 2014-11-28 08:11:00 +0200 (UTC without an offset), or Unix time in
    /// seconds or milliseconds. A missing, empty or null Date means that it is unknown. A paste with
    /// any other Date is skipped (`date`).
    Load {
        /// Do not send notices about addresses from this load. A resumed load keeps its original
        /// setting
        #[arg(long)]
        no_notify: bool,
        /// Report how many addresses are new, known or rejected without changing anything
        #[arg(long)]
        dry_run: bool,
        #[command(flatten)]
        output: Output,
        /// File to load, or - for standard input
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
