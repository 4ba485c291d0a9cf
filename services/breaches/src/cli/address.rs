//! `address show`, `opt-out`, `opt-in`, `remove`.

use std::process::ExitCode;

use anyhow::Context as _;
use domain::EmailAddress;
use serde_json::json;

use super::output::Output;
use crate::app;
use crate::jobs::JobContext;
use crate::model::OptOut;
use crate::store::breaches;

/// The choice of an owner.
#[derive(Clone, Copy, Debug, clap::ValueEnum)]
pub enum Kind {
    /// Hidden from public searches
    Public,
    /// Everything removed, never loaded again
    Breaches,
    /// Everything removed, nothing kept
    Delete,
}

/// The subcommand `address`.
#[derive(clap::Subcommand)]
pub enum AddressCommand {
    /// Print everything stored about an address
    Show {
        /// Address
        email: String,
        #[command(flatten)]
        output: Output,
    },
    /// Apply an owner's opt-out
    OptOut {
        /// Address
        email: String,
        /// Choice of the owner
        #[arg(long, value_enum)]
        kind: Kind,
        #[command(flatten)]
        output: Output,
    },
    /// Revoke a public opt-out
    OptIn {
        /// Address
        email: String,
        #[command(flatten)]
        output: Output,
    },
    /// Unlink an address from a breach
    Remove {
        /// Address
        email: String,
        /// Name of the breach
        #[arg(long, value_name = "NAME")]
        breach: String,
        #[command(flatten)]
        output: Output,
    },
}

impl AddressCommand {
    /// Runs the command.
    pub fn run(self, context: &JobContext) -> anyhow::Result<ExitCode> {
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
                context.pools.write_blocking(|db| app::opt_out(db, &email, choice, now))?;
                output.print(&json!({ "kind": choice.kind() }), "done")
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
                let text = if removed { "removed" } else { "the address was not linked" };
                output.print(&json!({ "removed": removed }), text)
            }
        }
    }
}
