//! `accounts load`, `accounts clean`.

use std::path::PathBuf;
use std::process::ExitCode;

use super::input_flags::InputFlags;
use super::output::{LoadEnding, Output};
use crate::jobs::{self, AccountsOptions, Format, JobContext};

/// Formats of files with addresses.
#[derive(Clone, Copy, Debug, clap::ValueEnum)]
pub enum FileFormat {
    /// One address a line
    Lines,
    /// An address at the start of each line, as in lists of address:secret. Text after a `:`, `;`,
    /// `,`, `|`, a blank, or anything that no host name contains, as in address----secret, is ignored
    Combo,
    /// A column of a CSV file
    Csv,
    /// A field of JSON documents, one per line
    Jsonl,
    /// A field of whole JSON documents
    Json,
    /// A column of the INSERT and COPY statements of a dump
    Sql,
    /// Addresses anywhere in a text
    Text,
}

/// The subcommand `accounts`.
#[derive(clap::Subcommand)]
pub enum AccountsCommand {
    /// Link the addresses of files to breaches; resumes an interrupted load
    ///
    /// A load stops before it stores anything if all rows of a file are invalid, or if its first
    /// 10,000 rows look wrong: more than half of at least 100 are invalid, many domains are not host
    /// names or do not end in a top-level domain, or most addresses are the only ones at their domain.
    Load(Box<LoadFlags>),
    /// Remove accounts without data, and secrets that older versions stored as part of an address
    /// or as a website
    Clean {
        /// Count what would be removed, and change nothing
        #[arg(long)]
        dry_run: bool,
        #[command(flatten)]
        output: Output,
    },
}

/// Flags of `accounts load`.
#[derive(clap::Args)]
pub struct LoadFlags {
    /// Name of the breach
    #[arg(long, value_name = "NAME", required_unless_present = "manifest")]
    breach: Option<String>,
    /// File with a breach and a file on each line, all loaded in one pass
    #[arg(long, value_name = "FILE", conflicts_with_all = ["breach", "files"])]
    manifest: Option<PathBuf>,
    /// Format of the files
    #[arg(long, value_enum, default_value_t = FileFormat::Lines)]
    format: FileFormat,
    /// Column of a CSV file, by name or by number from 1; field of JSON, such as user.email; column of
    /// a dump, such as users.email. Without it, a column or field with a usual name is read
    #[arg(long, visible_alias = "email-column", value_name = "COLUMN")]
    column: Option<String>,
    #[command(flatten)]
    input: InputFlags,
    /// Report new, known and refused links, and change nothing
    #[arg(long)]
    dry_run: bool,
    /// Load even if the first rows look wrong
    #[arg(long)]
    unchecked: bool,
    #[command(flatten)]
    ending: LoadEnding,
    /// Files, or - for standard input
    #[arg(required_unless_present = "manifest", value_name = "FILE")]
    files: Vec<PathBuf>,
}

impl AccountsCommand {
    /// Dry runs only report what would change.
    pub fn is_dry_run(&self) -> bool {
        match self {
            Self::Load(flags) => flags.dry_run,
            Self::Clean { dry_run, .. } => *dry_run,
        }
    }

    pub fn run(self, context: &JobContext) -> anyhow::Result<ExitCode> {
        match self {
            Self::Load(flags) => flags.run(context),
            Self::Clean { dry_run, output } => {
                let done = jobs::clean(context, dry_run)?;
                let would = if dry_run { "would be " } else { "" };
                output.print(
                    &done,
                    format!(
                        "{} accounts examined; {would}removed: {} without data, {} that were \
                         not addresses, {} domains, {} websites; addresses {would}recovered: {}",
                        done.examined,
                        done.empty,
                        done.odd,
                        done.domains,
                        done.websites,
                        done.rescued
                    ),
                )
            }
        }
    }
}

impl LoadFlags {
    fn run(self, context: &JobContext) -> anyhow::Result<ExitCode> {
        let Self { breach, manifest, format, column, input, dry_run, unchecked, ending, files } =
            self;
        let format = match format {
            FileFormat::Lines => Format::Lines,
            FileFormat::Combo => Format::Combo,
            FileFormat::Csv => Format::Csv(column),
            FileFormat::Jsonl => Format::Jsonl(column),
            FileFormat::Json => Format::Json(column),
            FileFormat::Sql => Format::Sql(column),
            FileFormat::Text => Format::Text,
        };
        let LoadEnding { keep_count, activate, no_notify, output } = ending;
        let options = AccountsOptions {
            breach: breach.unwrap_or_default(),
            files,
            manifest,
            format,
            encoding: input.encoding(),
            delimiter: input.delimiter,
            unchecked,
            keep_count,
            activate,
            no_notify,
        };
        if dry_run {
            return output.print_forecast(&jobs::forecast(context, &options)?);
        }
        output.print_outcome(&jobs::load_accounts(context, &options)?)
    }
}
