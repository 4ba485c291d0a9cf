//! `keys`: the shared command, plus audit events and JSON output.

use std::process::ExitCode;

use anyhow::Context as _;
use auth::{KeysCommand, Owners};
use database::Db;
use domain::EmailAddress;
use serde_json::json;

use super::output::{Output, record};
use crate::jobs::JobContext;
use crate::store::subscribers;

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
        let (mut event, mut revoked) = (None, None);
        match &self.command {
            KeysCommand::Issue { owner, .. } => event = Some(("keys issue", owner.clone())),
            KeysCommand::Rotate { id, .. } => event = Some(("keys rotate", format!("key {id}"))),
            KeysCommand::Revoke { id, .. } => {
                event = Some(("keys revoke", format!("key {id}")));
                revoked = Some(*id);
            }
            KeysCommand::List { .. } => {}
        }
        let done = self.command.run(&context.pools, &Subscribers, context.clock.unix())?;
        record(context, event)?;
        if let (Some(id), true) = (revoked, self.json) {
            Output { json: true }.print(&json!({ "id": id, "state": "revoked" }), "")?;
        }
        Ok(done)
    }
}

/// Keys belong to subscribers, each of whom can have only one live key.
pub struct Subscribers;

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
}
