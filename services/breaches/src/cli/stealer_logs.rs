//! `stealer-logs load`.

use std::path::PathBuf;
use std::process::ExitCode;

use super::input_flags::InputFlags;
use super::output::LoadEnding;
use crate::jobs::{self, JobContext, StealerLogsOptions};

/// The subcommand `stealer-logs`.
#[derive(clap::Subcommand)]
pub enum StealerLogsCommand {
    /// Load pairs of address and website from CSV, or one JSON object a line
    ///
    /// A CSV file is refused unless its header has a known column of websites, --website-column
    /// names one, or, without a header, one column has URLs in most rows and no other column may
    /// contain the websites. Columns of passwords are not read. A load stops before it stores anything if more than half of its first 10,000 rows
    /// are invalid.
    Load {
        /// Name of the breach, which must be a stealer log
        #[arg(long, value_name = "NAME")]
        breach: String,
        /// Column of the addresses in CSV, by name or by number from 1
        #[arg(long, value_name = "COLUMN")]
        email_column: Option<String>,
        /// Column of the websites
        #[arg(long, value_name = "COLUMN")]
        website_column: Option<String>,
        #[command(flatten)]
        input: InputFlags,
        /// Drop addresses whose only website is their own mail domain
        #[arg(long, default_value_t = true, action = clap::ArgAction::Set, value_name = "BOOLEAN")]
        drop_self: bool,
        /// Load even if the first rows look wrong
        #[arg(long)]
        unchecked: bool,
        #[command(flatten)]
        ending: LoadEnding,
        /// File, or - for standard input
        file: PathBuf,
    },
}

impl StealerLogsCommand {
    /// Runs the command.
    pub fn run(self, context: &JobContext) -> anyhow::Result<ExitCode> {
        let Self::Load {
            breach,
            email_column,
            website_column,
            input,
            drop_self,
            unchecked,
            ending,
            file,
        } = self;
        let LoadEnding { keep_count, activate, no_notify, .. } = ending;
        let options = StealerLogsOptions {
            breach,
            file,
            email_column,
            website_column,
            delimiter: input.delimiter,
            encoding: input.encoding(),
            unchecked,
            drop_self,
            keep_count,
            activate,
            no_notify,
        };
        ending.output.print_outcome(&jobs::load_stealer_logs(context, &options)?)
    }
}
