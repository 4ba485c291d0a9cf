//! `accounts load`, `pastes load`, `stealer-logs load`, `account export`.

use std::io::{BufWriter, Write};
use std::path::PathBuf;
use std::process::ExitCode;

use anyhow::Context as _;

use super::report::Output;
use crate::jobs::addresses::Format;
use crate::jobs::{Context, accounts, pastes, stealer_logs};
use crate::model::id_list;
use crate::store::{account, breach};

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
        #[command(flatten)]
        output: Output,
        /// Files, or - for standard input
        #[arg(required = true, value_name = "FILE")]
        files: Vec<PathBuf>,
    },
}

impl AccountsCommand {
    /// Runs the command.
    pub fn run(self, context: &Context) -> anyhow::Result<ExitCode> {
        let Self::Load { breach, format, column, keep_count, activate, output, files } = self;
        let format = match format {
            Form::Lines => Format::Lines,
            Form::Csv => Format::Csv(column),
            Form::Text => Format::Text,
        };
        let wish = accounts::Wish { breach, files, format, keep_count, activate };
        output.load(&accounts::load(context, &wish)?)
    }
}

/// The subcommand `pastes`.
#[derive(clap::Subcommand)]
pub enum PastesCommand {
    /// Load pastes: a JSON object a line with Source, Id, Title, Date, EmailCount, Emails
    ///
    /// A line has at most 16 MiB, or a quarter of LOAD_MEMORY_MB where that is less. Texts among Emails
    /// that are no valid addresses are left out and counted at the end.
    Load {
        #[command(flatten)]
        output: Output,
        /// File, or - for standard input
        file: PathBuf,
    },
}

impl PastesCommand {
    /// Runs the command.
    pub fn run(self, context: &Context) -> anyhow::Result<ExitCode> {
        let Self::Load { output, file } = self;
        output.load(&pastes::load(context, &pastes::Wish { file })?)
    }
}

/// The subcommand `stealer-logs`.
#[derive(clap::Subcommand)]
pub enum StealerLogsCommand {
    /// Load pairs of address and website: CSV, or a JSON object a line
    Load {
        /// Name of the breach, which must be a stealer log
        #[arg(long, value_name = "NAME")]
        breach: String,
        /// Drop addresses whose only website is their own mail domain
        #[arg(long, default_value_t = true, action = clap::ArgAction::Set, value_name = "BOOLEAN")]
        drop_self: bool,
        /// Leave PwnCount as it is
        #[arg(long)]
        keep_count: bool,
        /// Activate an inactive breach when done
        #[arg(long)]
        activate: bool,
        #[command(flatten)]
        output: Output,
        /// File, or - for standard input
        file: PathBuf,
    },
}

impl StealerLogsCommand {
    /// Runs the command.
    pub fn run(self, context: &Context) -> anyhow::Result<ExitCode> {
        let Self::Load { breach, drop_self, keep_count, activate, output, file } = self;
        let wish = stealer_logs::Wish { breach, file, drop_self, keep_count, activate };
        output.load(&stealer_logs::load(context, &wish)?)
    }
}

/// The subcommand `account`.
#[derive(clap::Subcommand)]
pub enum AccountCommand {
    /// Print the addresses that are linked to a breach, in key order
    Export {
        /// Name of the breach
        #[arg(long, value_name = "NAME")]
        breach: String,
        /// Print JSON strings, one a line
        #[arg(long)]
        json: bool,
    },
}

impl AccountCommand {
    /// Runs the command.
    pub fn run(self, context: &Context) -> anyhow::Result<ExitCode> {
        let Self::Export { breach, json } = self;
        let mut db = context.pools.connect()?;
        let id = breach::by_name(&mut db, &breach)?
            .with_context(|| format!("there is no breach {breach}"))?
            .id;
        let mut out = BufWriter::new(std::io::stdout().lock());
        let mut after = (i64::MIN, -1);
        loop {
            let rows = account::after(&mut db, after, 5_000)?;
            let Some(last) = rows.last() else { break };
            after = (last.k, last.seq);
            for row in rows.iter().filter(|row| id_list::contains(&row.breaches, id)) {
                let address = row.address();
                if json {
                    writeln!(out, "{}", serde_json::to_string(&address)?)?;
                } else {
                    writeln!(out, "{address}")?;
                }
            }
        }
        out.flush()?;
        Ok(ExitCode::SUCCESS)
    }
}
