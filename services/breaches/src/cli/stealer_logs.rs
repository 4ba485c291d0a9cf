//! `stealer-logs load`.

use std::path::PathBuf;
use std::process::ExitCode;

use super::input_flags::InputFlags;
use super::output::LoadEnding;
use crate::jobs::{self, JobContext, LogFormat, StealerLogsOptions};

/// Formats of stealer log files.
#[derive(Clone, Copy, Debug, clap::ValueEnum)]
pub enum FileFormat {
    /// CSV, or JSON with the fields email and website
    Auto,
    /// Lines such as `https://shop.example/login:address:secret`, also with `|`, `;`, blanks or
    /// --delimiter between the parts
    Ulp,
}

/// The subcommand `stealer-logs`.
#[derive(clap::Subcommand)]
pub enum StealerLogsCommand {
    /// Load pairs of address and website from CSV, one JSON object a line, or lines of URL, login and
    /// secret
    ///
    /// The column of websites of a CSV file must be clear, or the file is refused: its header has a
    /// known name, or --website-column names the column, or, without a header, exactly one of at least
    /// three columns looks like URLs. Columns of passwords are not read. A load stops before it stores
    /// anything if all rows of the file, or more than half of its first 100 to 10,000 rows, are
    /// invalid.
    Load {
        /// Name of the breach, which must be a stealer log
        #[arg(long, value_name = "NAME")]
        breach: String,
        /// Format of the file
        #[arg(long, value_enum, default_value_t = FileFormat::Auto)]
        format: FileFormat,
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
        /// Report new, known and refused pairs, and change nothing
        #[arg(long)]
        dry_run: bool,
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
    /// Dry runs only report what would change.
    pub fn is_dry_run(&self) -> bool {
        let Self::Load { dry_run, .. } = self;
        *dry_run
    }

    pub fn run(self, context: &JobContext) -> anyhow::Result<ExitCode> {
        let Self::Load {
            breach,
            format,
            email_column,
            website_column,
            input,
            drop_self,
            dry_run,
            unchecked,
            ending,
            file,
        } = self;
        let LoadEnding { keep_count, activate, no_notify, .. } = ending;
        let options = StealerLogsOptions {
            breach,
            file,
            format: match format {
                FileFormat::Auto => LogFormat::Auto,
                FileFormat::Ulp => LogFormat::Ulp,
            },
            email_column,
            website_column,
            encoding: input.encoding(),
            delimiter: input.delimiter,
            unchecked,
            drop_self,
            keep_count,
            activate,
            no_notify,
        };
        if dry_run {
            let forecast = jobs::forecast_stealer_logs(context, &options)?;
            return ending.output.print_forecast(&forecast);
        }
        ending.output.print_outcome(&jobs::load_stealer_logs(context, &options)?)
    }
}
