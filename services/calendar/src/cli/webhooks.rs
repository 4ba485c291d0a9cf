//! `webhooks`: URLs that are notified of event changes.

use std::process::ExitCode;

use batch::Output;
use clap::Subcommand;
use database::{DatabaseError, Pools};
use outbound::{Reach, WebhookSecret, web_url};
use serde_json::json;

use crate::store::{sql, webhooks};

/// Maximum number of webhooks.
const MAX: usize = 20;

/// Maximum URL length in bytes.
const LONGEST: usize = 2000;

/// Subcommands of `webhooks`.
#[derive(Subcommand)]
pub enum WebhooksCommand {
    /// Add a webhook, which is notified whenever an event is created, changed, published or
    /// deleted. Prints its secret, which is not shown again
    Add {
        /// URL that receives the messages: http or https
        url: String,
        /// Print the result as JSON
        #[arg(long)]
        json: bool,
    },
    /// List webhooks with id (as in the log), number of pending messages and URL
    List {
        /// Print the result as JSON
        #[arg(long)]
        json: bool,
    },
    /// Remove a webhook and its pending messages
    Remove {
        /// URL of the webhook
        url: String,
    },
}

impl WebhooksCommand {
    pub fn run(self, pools: &Pools, reach: &Reach, now: i64) -> anyhow::Result<ExitCode> {
        match self {
            WebhooksCommand::Add { url, json } => {
                let is_blank = |c: char| c.is_whitespace() || c.is_control();
                anyhow::ensure!(
                    !url.contains(is_blank),
                    "{url:?} contains a space or control character; encode it, a space as %20"
                );
                let fits = web_url(&url).is_some_and(|url| reach.may_name(&url));
                anyhow::ensure!(
                    fits && url.len() <= LONGEST,
                    "{url} is not an http or https URL on a public host; \
                     set WEBHOOK_ALLOW_PRIVATE to permit others"
                );
                let secret = WebhookSecret::generate()?.text();
                pools.write_blocking(|db| -> anyhow::Result<()> {
                    sql::one_writer(db)?;
                    anyhow::ensure!(
                        webhooks::all(db)?.len() < MAX,
                        "the maximum of {MAX} webhooks is reached"
                    );
                    webhooks::add(db, &url, &secret, now).map_err(|error| match error {
                        DatabaseError::Conflict => {
                            anyhow::anyhow!("webhook {url} already exists")
                        }
                        other => other.into(),
                    })
                })?;
                let shown = json!({"url": url, "secret": secret});
                Output::from_json_flag(json).print(&shown, format_args!("{secret}"))?;
            }
            WebhooksCommand::List { json } => list(pools, json)?,
            WebhooksCommand::Remove { url } => {
                let removed = pools.write_blocking(|db| webhooks::remove(db, &url))?;
                anyhow::ensure!(removed, "webhook {url} does not exist");
                log::info!(target: "notice", "{url} will not receive any more messages");
            }
        }
        Ok(ExitCode::SUCCESS)
    }
}

fn list(pools: &Pools, json: bool) -> anyhow::Result<()> {
    let rows = pools.read_blocking(|db| -> Result<Vec<_>, DatabaseError> {
        let all = webhooks::all(db)?.into_iter();
        all.map(|webhook| Ok((webhooks::waiting(db, webhook.id)?, webhook))).collect()
    })?;
    let shown = rows.iter().map(
        |(waiting, webhook)| json!({"id": webhook.id, "url": webhook.url, "waiting": waiting}),
    );
    let shown: Vec<_> = shown.collect();
    let line = |row: &serde_json::Value| {
        let url = row["url"].as_str().unwrap_or_default();
        format!("{}\t{}\t{url}", row["id"], row["waiting"])
    };
    Ok(Output::from_json_flag(json).print_list(&shown, line)?)
}
