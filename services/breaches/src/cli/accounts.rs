//! `accounts load`.

use std::path::PathBuf;
use std::process::ExitCode;

use super::output::LoadEnding;
use crate::jobs::{self, AccountsOptions, Format, JobContext};

/// How files hold addresses.
#[derive(Clone, Copy, Debug, clap::ValueEnum)]
pub enum FileFormat {
    /// One address a line
    Lines,
    /// A column of a CSV file
    Csv,
    /// Addresses anywhere in a text
    Text,
}

/// The subcommand `accounts`.
#[derive(clap::Subcommand)]
pub enum AccountsCommand {
    /// Link the addresses of files to a breach; resumes where an interrupted load stopped
    Load {
        /// Name of the breach
        #[arg(long, value_name = "NAME")]
        breach: String,
        /// Form of the files
        #[arg(long, value_enum, default_value_t = FileFormat::Lines)]
        format: FileFormat,
        /// Column of a CSV file, by name or by number from 1
        #[arg(long, value_name = "COLUMN")]
        column: Option<String>,
        #[command(flatten)]
        ending: LoadEnding,
        /// Files, or - for standard input
        #[arg(required = true, value_name = "FILE")]
        files: Vec<PathBuf>,
    },
}

impl AccountsCommand {
    /// Runs the command.
    pub fn run(self, context: &JobContext) -> anyhow::Result<ExitCode> {
        let Self::Load { breach, format, column, ending, files } = self;
        let format = match format {
            FileFormat::Lines => Format::Lines,
            FileFormat::Csv => Format::Csv(column),
            FileFormat::Text => Format::Text,
        };
        let LoadEnding { keep_count, activate, .. } = ending;
        let options = AccountsOptions { breach, files, format, keep_count, activate };
        ending.output.print_outcome(&jobs::load_accounts(context, &options)?)
    }
}
