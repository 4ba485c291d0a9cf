//! `subscriber add`.

use std::process::ExitCode;

use domain::EmailAddress;
use serde_json::json;

use super::output::Output;
use crate::app;
use crate::jobs::JobContext;

/// The subcommand `subscriber`.
#[derive(clap::Subcommand)]
pub enum SubscriberCommand {
    /// Add a subscriber
    Add {
        /// Email address of the subscriber
        email: String,
        /// Succeed even if the subscriber already exists
        #[arg(long)]
        if_missing: bool,
        #[command(flatten)]
        output: Output,
    },
}

impl SubscriberCommand {
    pub fn run(self, context: &JobContext) -> anyhow::Result<ExitCode> {
        let Self::Add { email, if_missing, output } = self;
        let (email, now) = (EmailAddress::parse(&email)?, context.clock.unix());
        let id =
            context.pools.write_blocking(|db| app::add_subscriber(db, &email, if_missing, now))?;
        let value = json!({ "id": id, "email": email.as_str() });
        output.print(&value, format!("subscriber {id}: {email}"))
    }
}
