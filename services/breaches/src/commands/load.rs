//! `accounts load`.

use std::path::PathBuf;
use std::process::ExitCode;

use super::report;
use crate::jobs::Context;
use crate::jobs::accounts::{self, Wish};
use crate::jobs::addresses::Format;

/// The form of a file.
#[derive(Clone, Copy, Debug, clap::ValueEnum)]
pub enum Form {
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
    /// Link the addresses of files to a breach; goes on where an interrupted load stopped
    Load {
        /// Name of the breach
        #[arg(long, value_name = "NAME")]
        breach: String,
        /// Form of the files
        #[arg(long, value_enum, default_value_t = Form::Lines)]
        format: Form,
        /// Column of a CSV file, by name or by number from 1
        #[arg(long, value_name = "COLUMN")]
        column: Option<String>,
        /// Leave PwnCount as it is
        #[arg(long)]
        keep_count: bool,
        /// Activate an inactive breach when done
        #[arg(long)]
        activate: bool,
        /// Print a JSON object
        #[arg(long)]
        json: bool,
        /// Files, or - for standard input
        #[arg(required = true, value_name = "FILE")]
        files: Vec<PathBuf>,
    },
}

impl AccountsCommand {
    /// Runs the command.
    pub fn run(self, context: &Context) -> anyhow::Result<ExitCode> {
        let Self::Load { breach, format, column, keep_count, activate, json, files } = self;
        let format = match format {
            Form::Lines => Format::Lines,
            Form::Csv => Format::Csv(column),
            Form::Text => Format::Text,
        };
        let wish = Wish { breach, files, format, keep_count, activate };
        report::load(&accounts::load(context, &wish)?, json)
    }
}
