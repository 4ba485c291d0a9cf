//! `accounts load`, `accounts clean`.

use std::path::PathBuf;
use std::process::ExitCode;

use super::input_flags::InputFlags;
use super::output::{LoadEnding, Output};
use crate::jobs::{self, AccountsOptions, Format, JobContext};

/// Formats of files with addresses.
#[derive(Clone, Copy, Debug, clap::ValueEnum)]
pub enum FileFormat {
    /// One address per line
    Lines,
    /// Lines that start with an address, such as `address:secret`. Everything after the address is
    /// ignored: it ends at `:`, `;`, `,`, `|`, a blank, or text that cannot be part of a host name,
    /// as in `address----secret`
    Combo,
    /// CSV. Addresses are read from one column
    Csv,
    /// One JSON document per line. Addresses are read from one field
    Jsonl,
    /// Whole JSON documents. Addresses are read from one field
    Json,
    /// A database dump. Addresses are read from one column of its INSERT and COPY statements. A dump
    /// that ends after VALUES or after a row of an INSERT is taken as complete
    Sql,
    /// Free text, such as emails and pages. Addresses are found anywhere in it. Text that looks like
    /// an address is skipped after a label such as `Password:`, and after an address that `:`, `|`
    /// or `--` follows without a blank, as in `ada@corp.example:p@ss.me`. Further along the line of
    /// an address, it is skipped if it does not end in a top-level domain, if `$` or `!` is in its
    /// word, or if the first line has titles such as `email;password`. Everything else is stored:
    /// after a blank, a tab, `,` or `;`, as in `ada@corp.example | p@ss.me`, a secret is taken for a
    /// second address. Use combo for lists of addresses and secrets, and csv for tables
    Text,
}

/// The subcommand `accounts`.
#[derive(clap::Subcommand)]
pub enum AccountsCommand {
    /// Load addresses from files into a breach. Resumes an interrupted load of the same files
    ///
    /// Nothing is stored if all rows of a file are invalid or if the first 10,000 rows look wrong:
    /// more than half of at least 100 rows are invalid, many domains are not host names or do not
    /// end in a top-level domain, or most addresses are the only one at their domain. In larger
    /// loads, the check is repeated for later files. Use --unchecked to skip these checks.
    Load(Box<LoadFlags>),
    /// Remove accounts without data, and secrets that older versions stored as part of an address
    /// or website
    Clean {
        /// Report what would be removed without changing anything
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
    /// Manifest with a breach and a file on each line. All files are loaded in one pass
    #[arg(long, value_name = "FILE", conflicts_with_all = ["breach", "files"])]
    manifest: Option<PathBuf>,
    /// Format of the input files
    #[arg(long, value_enum, default_value_t = FileFormat::Lines)]
    format: FileFormat,
    /// Column or field that contains the addresses: a CSV column by name or number (starting at 1),
    /// a JSON field such as user.email, or a column of a dump such as users.email or users.2
    /// [default: a column or field with a common name]
    #[arg(long, visible_alias = "email-column", value_name = "COLUMN")]
    column: Option<String>,
    #[command(flatten)]
    input: InputFlags,
    /// Report how many addresses are new, known or rejected without changing anything
    #[arg(long)]
    dry_run: bool,
    /// Skip the checks and load the files even if their rows look wrong
    #[arg(long)]
    unchecked: bool,
    #[command(flatten)]
    ending: LoadEnding,
    /// Files to load, or - for standard input
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
