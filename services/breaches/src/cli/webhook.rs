//! `webhook add`, `list`, `remove`.

use std::process::ExitCode;

use ::domain::EmailAddress;
use database::DatabaseError;
use outbound::WebhookSecret;
use serde_json::json;

use super::external::{is_web, may_call};
use super::output::Output;
use crate::app;
use crate::jobs::JobContext;
use crate::model::instant;
use crate::store::admin_events;
use crate::store::webhooks::{self, Webhook};

/// The subcommand `webhook`.
#[derive(clap::Subcommand)]
pub enum WebhookCommand {
    /// Add a webhook for a subscriber and print its secret. The secret cannot be shown again
    Add {
        /// Email address of the subscriber
        email: String,
        /// URL that receives the messages
        url: String,
        #[command(flatten)]
        output: Output,
    },
    /// List a subscriber's webhooks with ID, URL, state and creation time
    List {
        /// Email address of the subscriber
        email: String,
        #[command(flatten)]
        output: Output,
    },
    /// Remove a subscriber's webhook
    Remove {
        /// Email address of the subscriber
        email: String,
        /// URL of the webhook
        url: String,
        #[command(flatten)]
        output: Output,
    },
}

/// A webhook without its secret.
#[derive(serde::Serialize)]
struct Row {
    id: i64,
    url: String,
    enabled: bool,
    created: String,
}

impl From<Webhook> for Row {
    fn from(webhook: Webhook) -> Self {
        let Webhook { id, url, enabled, created_at, .. } = webhook;
        Self { id, url, enabled, created: instant::without_zone(created_at) }
    }
}

/// Returns the host of a URL for the audit log. The rest of the URL may contain a secret.
fn host(text: &str) -> String {
    let url = url::Url::parse(text).ok();
    url.as_ref().and_then(url::Url::host_str).unwrap_or_default().to_owned()
}

impl WebhookCommand {
    pub fn run(self, context: &JobContext) -> anyhow::Result<ExitCode> {
        match self {
            Self::Add { email, url, output } => {
                anyhow::ensure!(
                    is_web(&url),
                    "{url} is not an http or https address without a user name and password"
                );
                anyhow::ensure!(
                    may_call(&context.settings, &url),
                    "{url} is not on a public host at port 80 or 443; \
                     VERIFY_ALLOW_PRIVATE=true permits others"
                );
                let email = EmailAddress::parse(&email)?;
                let (secret, now) = (WebhookSecret::generate()?.text(), context.clock.unix());
                context.pools.write_blocking(|db| -> anyhow::Result<()> {
                    let id = app::subscriber_id(db, &email)?;
                    webhooks::add(db, id, &url, &secret, now).map_err(|error| match error {
                        DatabaseError::Conflict => anyhow::anyhow!("{email} already has {url}"),
                        other => other.into(),
                    })?;
                    Ok(admin_events::add(db, now, "webhook add", email.as_str(), &host(&url))?)
                })?;
                output.print(&json!({ "url": url, "secret": secret }), secret.clone())
            }
            Self::List { email, output } => {
                let email = EmailAddress::parse(&email)?;
                let rows = context.pools.read_blocking(|db| -> anyhow::Result<_> {
                    let id = app::subscriber_id(db, &email)?;
                    Ok(webhooks::of_subscriber(db, id)?)
                })?;
                let rows: Vec<Row> = rows.into_iter().map(Row::from).collect();
                output.print_list(&rows, |row| {
                    let state = if row.enabled { "enabled" } else { "disabled" };
                    format!("{}\t{}\t{state}\t{}", row.id, row.url, row.created)
                })
            }
            Self::Remove { email, url, output } => {
                let (email, now) = (EmailAddress::parse(&email)?, context.clock.unix());
                context.pools.write_blocking(|db| -> anyhow::Result<()> {
                    let id = app::subscriber_id(db, &email)?;
                    let removed = webhooks::remove(db, id, &url)?;
                    anyhow::ensure!(removed, "{email} has no webhook {url}");
                    Ok(admin_events::add(db, now, "webhook remove", email.as_str(), &host(&url))?)
                })?;
                output.print(&json!({ "url": url }), format!("removed {url}"))
            }
        }
    }
}
