//! `stealer-logs load`.

use std::path::PathBuf;
use std::process::ExitCode;

use super::input_flags::InputFlags;
use super::output::LoadEnding;
use crate::jobs::{self, JobContext, LogFormat, StealerLogsOptions};

/// Formats of stealer log files.
#[derive(Clone, Copy, Debug, clap::ValueEnum)]
pub enum FileFormat {
    /// CSV, or JSON objects with the fields email and website
    Auto,
    /// Lines such as `https://shop.example/login:address:secret`. Parts can also be separated by
    /// `|`, `;`, blanks or --delimiter
    Ulp,
}

/// The subcommand `stealer-logs`.
#[derive(clap::Subcommand)]
pub enum StealerLogsCommand {
    /// Load addresses and websites from CSV, from one JSON object per line, or from
    /// URL:login:secret lines
    ///
    /// A CSV file is rejected unless its website column can be identified: by a known header, by
    /// --website-column, or, in a file without a header, because exactly one of at least three
    /// columns contains URLs. Password columns are never read. Nothing is stored if all rows are
    /// invalid, or if more than half of the first 100 to 10,000 rows are. Use --unchecked to skip
    /// this check.
    Load {
        /// Name of the breach. It must be marked as a stealer log
        #[arg(long, value_name = "NAME")]
        breach: String,
        /// Format of the input file
        #[arg(long, value_enum, default_value_t = FileFormat::Auto)]
        format: FileFormat,
        /// CSV column that contains the addresses, by name or number (starting at 1)
        #[arg(long, value_name = "COLUMN")]
        email_column: Option<String>,
        /// CSV column that contains the websites, by name or number (starting at 1)
        #[arg(long, value_name = "COLUMN")]
        website_column: Option<String>,
        #[command(flatten)]
        input: InputFlags,
        /// Skip addresses whose only website is their own email domain
        #[arg(long, default_value_t = true, action = clap::ArgAction::Set, value_name = "BOOLEAN")]
        drop_self: bool,
        /// Report how many pairs are new, known or rejected without changing anything
        #[arg(long)]
        dry_run: bool,
        /// Skip the check and load the file even if its rows look wrong
        #[arg(long)]
        unchecked: bool,
        #[command(flatten)]
        ending: LoadEnding,
        /// File to load, or - for standard input
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
