//! `keys`: the shared command, plus audit events and JSON output.

use std::process::ExitCode;

use anyhow::Context as _;
use auth::{KeysCommand, Owners};
use database::Db;
use domain::EmailAddress;
use serde_json::json;

use super::output::Output;
use crate::jobs::JobContext;
use crate::store::{admin_events, subscribers};

/// The subcommand `keys`.
#[derive(clap::Args)]
pub struct Keys {
    #[command(subcommand)]
    command: KeysCommand,
    /// Print the result as JSON
    #[arg(long, global = true)]
    json: bool,
}

impl Keys {
    pub fn run(self, context: &JobContext) -> anyhow::Result<ExitCode> {
        let now = context.clock.unix();
        let revoked = match self.command {
            KeysCommand::Revoke { id } => Some(id),
            _ => None,
        };
        let done = self.command.run(&context.pools, &Subscribers { now }, now)?;
        if let (Some(id), true) = (revoked, self.json) {
            Output { json: true }.print(&json!({ "id": id, "state": "revoked" }), "")?;
        }
        Ok(done)
    }
}

/// Keys belong to subscribers, each of whom can have only one live key.
struct Subscribers {
    /// Time of the command in Unix seconds.
    now: i64,
}

impl Owners for Subscribers {
    fn canonical(&self, db: &mut Db, owner: &str) -> anyhow::Result<String> {
        let email = EmailAddress::parse(owner)?;
        subscribers::id(db, &email)?
            .with_context(|| format!("the subscriber {email} does not exist; add it first"))?;
        Ok(email.to_string())
    }

    fn one_live_key(&self) -> bool {
        true
    }

    fn record(&self, db: &mut Db, action: &str, subject: &str, detail: &str) -> anyhow::Result<()> {
        Ok(admin_events::add(db, self.now, action, subject, detail)?)
    }
}
