//! `address show`, `opt-out`, `opt-in`, `remove`.

use std::process::ExitCode;

use anyhow::Context as _;
use database::{DatabaseError, Db};
use domain::EmailAddress;
use serde_json::{Value, json};

use super::report::Output;
use crate::jobs::{Context, opt_out as work};
use crate::model::OptOut;
use crate::store::{account, breach, opt_out, paste, stealer_log, subscriber};
use crate::wire;

/// What an owner chose, as a word.
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
    /// Print everything that is held of an address
    Show {
        /// Address
        email: String,
        #[command(flatten)]
        output: Output,
    },
    /// Carry out an owner's wish not to be shown
    OptOut {
        /// Address
        email: String,
        /// What the owner chose
        #[arg(long, value_enum)]
        kind: Kind,
        #[command(flatten)]
        output: Output,
    },
    /// Take a public opt-out back
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
    pub fn run(self, context: &Context) -> anyhow::Result<ExitCode> {
        let now = context.clock.unix();
        match self {
            Self::Show { email, output } => {
                let email = EmailAddress::parse(&email)?;
                let held = context.pools.read_blocking(|db| show(db, &email))?;
                output.say(&held, serde_json::to_string_pretty(&held)?)
            }
            Self::OptOut { email, kind, output } => {
                let email = EmailAddress::parse(&email)?;
                let choice = match kind {
                    Kind::Public => OptOut::Public,
                    Kind::Breaches => OptOut::Breaches,
                    Kind::Delete => OptOut::Delete,
                };
                context.pools.write_blocking(|db| work::choose(db, &email, choice, now))?;
                output.say(&json!({ "kind": choice.kind() }), "done")
            }
            Self::OptIn { email, output } => {
                let email = EmailAddress::parse(&email)?;
                context.pools.write_blocking(|db| work::take_back(db, &email, now))?;
                output.say(&json!({ "kind": null }), "done")
            }
            Self::Remove { email, breach, output } => {
                let email = EmailAddress::parse(&email)?;
                let removed = context.pools.write_blocking(|db| -> anyhow::Result<bool> {
                    let id = breach::by_name(db, &breach)?
                        .with_context(|| format!("there is no breach {breach}"))?
                        .id;
                    Ok(work::unlink(db, &email, id, now)?)
                })?;
                let text = if removed { "removed" } else { "it was not linked" };
                output.say(&json!({ "removed": removed }), text)
            }
        }
    }
}

fn show(db: &mut Db, email: &EmailAddress) -> Result<Value, DatabaseError> {
    let catalogue = breach::catalogue(db)?;
    let row = account::find(db, email)?;
    let (mut names, mut pastes, mut websites) = (Vec::new(), Vec::new(), Vec::new());
    if let Some(row) = &row {
        names.extend(catalogue.names(&row.breaches, |_| true));
        let found = paste::of_account(db, (row.k, row.seq))?;
        pastes.extend(found.into_iter().map(wire::Paste::from));
        websites.extend(stealer_log::websites(db, (row.k, row.seq))?);
    }
    let websites: Vec<String> = websites.into_iter().map(|(website, _)| website).collect();
    Ok(json!({
        "stored": row.is_some(),
        "sha1": email.sha1().to_string(),
        "breaches": names,
        "pastes": pastes,
        "websites": websites,
        "opt_out": opt_out::get(db, &email.sha1())?.map(OptOut::kind),
        "subscriber": subscriber::id(db, email)?,
    }))
}
