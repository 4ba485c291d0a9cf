//! `address show`, `opt-out`, `opt-in`, `remove`, `verify-removed`.

use std::path::PathBuf;
use std::process::ExitCode;

use anyhow::Context as _;
use domain::EmailAddress;
use serde_json::json;

use super::output::Output;
use crate::app;
use crate::jobs::{self, JobContext, Remains};
use crate::model::OptOut;
use crate::store::{breaches, opt_outs, traces};

/// An owner's choice.
#[derive(Clone, Copy, Debug, clap::ValueEnum)]
pub enum Kind {
    /// Hide the address from public searches. Verified owners of its domain still see it
    Public,
    /// Remove all data about the address and never load it again
    Breaches,
    /// Remove all data about the address and keep no record of it. Unfinished loads skip the address
    /// and keep its hash until they are finished or cancelled. Later loads can add it again
    Delete,
}

/// The subcommand `address`.
#[derive(clap::Subcommand)]
pub enum AddressCommand {
    /// Print all data stored about an address
    Show {
        /// Email address
        email: String,
        #[command(flatten)]
        output: Output,
    },
    /// Opt an address out on behalf of its owner
    OptOut {
        /// Email address
        email: String,
        /// Kind of opt-out
        #[arg(long, value_enum)]
        kind: Kind,
        #[command(flatten)]
        output: Output,
    },
    /// Revoke a public opt-out
    OptIn {
        /// Email address
        email: String,
        #[command(flatten)]
        output: Output,
    },
    /// Remove an address from a breach. Unfinished loads skip the link and keep the address's hash
    /// until they are finished or cancelled. Later loads can add the link again
    Remove {
        /// Email address
        email: String,
        /// Name of the breach
        #[arg(long, value_name = "NAME")]
        breach: String,
        #[command(flatten)]
        output: Output,
    },
    /// Search for traces of a removed address. The exit code is 1 if any are found
    ///
    /// Searches all tables, the raw bytes of the SQLite file (including its free pages and
    /// write-ahead log) and the email folder. Backups and dead PostgreSQL rows are not searched.
    VerifyRemoved {
        /// Email address
        email: String,
        /// Also search this file or folder, such as a log folder. Can be repeated
        #[arg(long = "also", value_name = "PATH")]
        also: Vec<PathBuf>,
        #[command(flatten)]
        output: Output,
    },
}

impl AddressCommand {
    /// Runs the command. `mails` is the folder to which emails would be written, which doesn't have
    /// to exist.
    pub fn run(self, context: &JobContext, mails: PathBuf) -> anyhow::Result<ExitCode> {
        let now = context.clock.unix();
        match self {
            Self::Show { email, output } => {
                let email = EmailAddress::parse(&email)?;
                let held = context.pools.read_blocking(|db| app::held_data(db, &email))?;
                output.print(&held, serde_json::to_string_pretty(&held)?)
            }
            Self::OptOut { email, kind, output } => {
                let email = EmailAddress::parse(&email)?;
                let choice = match kind {
                    Kind::Public => OptOut::Public,
                    Kind::Breaches => OptOut::Breaches,
                    Kind::Delete => OptOut::Delete,
                };
                opt_out(context, &email, choice, output)
            }
            Self::OptIn { email, output } => {
                let email = EmailAddress::parse(&email)?;
                context.pools.write_blocking(|db| app::opt_in(db, &email, now))?;
                output.print(&json!({ "kind": null }), "done")
            }
            Self::Remove { email, breach, output } => {
                let email = EmailAddress::parse(&email)?;
                let removed = context.pools.write_blocking(|db| -> anyhow::Result<bool> {
                    let id = breaches::by_name(db, &breach)?
                        .with_context(|| format!("there is no breach {breach}"))?
                        .id;
                    Ok(app::remove_link(db, &email, id, now)?)
                })?;
                clear_log(context)?;
                let text = if removed { "removed" } else { "the address was not linked" };
                output.print(&json!({ "removed": removed }), text)
            }
            Self::VerifyRemoved { email, mut also, output } => {
                let email = EmailAddress::parse(&email)?;
                if mails.is_dir() {
                    also.push(mails);
                }
                let remains = jobs::find_remains(context, &email, &also)?;
                output.print(&remains, describe(&remains))?;
                Ok(if remains.is_clean() { ExitCode::SUCCESS } else { ExitCode::FAILURE })
            }
        }
    }
}

fn opt_out(
    context: &JobContext,
    email: &EmailAddress,
    choice: OptOut,
    output: Output,
) -> anyhow::Result<ExitCode> {
    let now = context.clock.unix();
    let kept = context.pools.write_blocking(|db| -> anyhow::Result<Option<OptOut>> {
        app::opt_out(db, email, choice, now)?;
        Ok(opt_outs::get(db, &email.sha1())?)
    })?;
    clear_log(context)?;
    let kept = kept.unwrap_or(choice);
    let text = match kept == choice {
        true => "done",
        false => "done; an earlier opt-out still prevents later loads of the address",
    };
    output.print(&json!({ "kind": kept.kind() }), text)
}

/// Empties SQLite's write-ahead log, which may still contain removed data.
fn clear_log(context: &JobContext) -> anyhow::Result<()> {
    Ok(traces::clear_log_or_warn(&mut context.pools.connect()?)?)
}

fn describe(remains: &Remains) -> String {
    let found = remains.found.iter().map(|(place, count)| format!("{place}: {count}"));
    let mut lines: Vec<String> = found.collect();
    if remains.unused_domain {
        lines.push("the domain is stored without an account".to_owned());
    }
    if lines.is_empty() {
        lines.push("nothing is left".to_owned());
    }
    if remains.kept_digest {
        lines.push("the digest is kept, so that the address is not loaded again".to_owned());
    }
    lines.join("\n")
}
