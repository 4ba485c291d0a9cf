//! `subscription set`, `subscription end`.

use std::process::ExitCode;

use domain::EmailAddress;
use serde_json::json;

use super::output::Output;
use crate::app;
use crate::jobs::JobContext;
use crate::model::instant;

/// The subcommand `subscription`.
#[derive(clap::Subcommand)]
pub enum SubscriptionCommand {
    /// Start or renew a subscription. The current sizes of the subscriber's domains are locked in
    /// for the period
    Set {
        /// Email address of the subscriber
        email: String,
        /// Plan code
        #[arg(long, value_name = "CODE")]
        plan: String,
        /// Last day in UTC of the subscription, or the time when it ends: YYYY-MM-DDTHH:MM:SS, in
        /// UTC or with an offset
        #[arg(long, value_name = "DATE", value_parser = until)]
        until: i64,
        #[command(flatten)]
        output: Output,
    },
    /// End a subscription immediately
    End {
        /// Email address of the subscriber
        email: String,
        #[command(flatten)]
        output: Output,
    },
}

fn until(text: &str) -> Result<i64, String> {
    instant::parse_until(text).ok_or_else(|| {
        "use a date such as 2027-12-31 (at most 9999-12-31) or a time such as \
         2027-12-31T12:00:00+02:00"
            .to_owned()
    })
}

impl SubscriptionCommand {
    pub fn run(self, context: &JobContext) -> anyhow::Result<ExitCode> {
        let now = context.clock.unix();
        match self {
            Self::Set { email, plan, until, output } => {
                let email = EmailAddress::parse(&email)?;
                context
                    .pools
                    .write_blocking(|db| app::set_subscription(db, &email, &plan, until, now))?;
                let value = json!({
                    "email": email.as_str(),
                    "plan": plan,
                    "until": instant::without_zone(until),
                });
                output.print(&value, format!("{email}: {plan} until {}", instant::with_zone(until)))
            }
            Self::End { email, output } => {
                let email = EmailAddress::parse(&email)?;
                context.pools.write_blocking(|db| app::end_subscription(db, &email, now))?;
                let value = json!({ "email": email.as_str(), "ended": true });
                output.print(&value, format!("{email}: ended"))
            }
        }
    }
}
