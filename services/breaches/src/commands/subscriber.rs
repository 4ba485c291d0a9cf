//! `subscriber add`, `subscription set`, `subscription end`.

use std::process::ExitCode;

use anyhow::{Context as _, bail};
use database::{DatabaseError, Db};
use domain::EmailAddress;
use serde_json::json;

use super::report::Output;
use crate::jobs::Context;
use crate::model::instant;
use crate::store::{admin_event, subscriber};

/// The subcommand `subscriber`.
#[derive(clap::Subcommand)]
pub enum SubscriberCommand {
    /// Add a subscriber
    Add {
        /// Address of the subscriber
        email: String,
        /// Be content when there is one already
        #[arg(long)]
        if_missing: bool,
        #[command(flatten)]
        output: Output,
    },
}

/// The subcommand `subscription`.
#[derive(clap::Subcommand)]
pub enum SubscriptionCommand {
    /// Start or renew a subscription; locks the counts of the subscriber's domains in
    Set {
        /// Address of the subscriber
        email: String,
        /// Code of the plan
        #[arg(long, value_name = "CODE")]
        plan: String,
        /// When it ends: a date (its first second, UTC) or YYYY-MM-DDTHH:MM:SS
        #[arg(long, value_name = "DATE", value_parser = until)]
        until: i64,
        #[command(flatten)]
        output: Output,
    },
    /// End a subscription now
    End {
        /// Address of the subscriber
        email: String,
        #[command(flatten)]
        output: Output,
    },
}

fn until(text: &str) -> Result<i64, String> {
    instant::parse_until(text)
        .ok_or_else(|| "write a date as 2027-12-31 or an instant as 2027-12-31T12:00:00".to_owned())
}

/// The number of a subscriber, or a sentence for the operator.
pub fn known(db: &mut Db, email: &EmailAddress) -> anyhow::Result<i64> {
    subscriber::id(db, email)?.with_context(|| format!("there is no subscriber {email}"))
}

impl SubscriberCommand {
    /// Runs the command.
    pub fn run(self, context: &Context) -> anyhow::Result<ExitCode> {
        let Self::Add { email, if_missing, output } = self;
        let (email, now) = (EmailAddress::parse(&email)?, context.clock.unix());
        let id = context.pools.write_blocking(|db| -> anyhow::Result<i64> {
            if let Some(id) = subscriber::id(db, &email)? {
                anyhow::ensure!(if_missing, "{email} is a subscriber already");
                return Ok(id);
            }
            let id = subscriber::add(db, &email, now)?;
            admin_event::add(db, now, "subscriber add", email.as_str(), "")?;
            Ok(id)
        })?;
        let value = json!({ "id": id, "email": email.as_str() });
        output.say(&value, format!("subscriber {id}: {email}"))
    }
}

impl SubscriptionCommand {
    /// Runs the command.
    pub fn run(self, context: &Context) -> anyhow::Result<ExitCode> {
        let now = context.clock.unix();
        match self {
            Self::Set { email, plan, until, output } => {
                let email = EmailAddress::parse(&email)?;
                context.pools.write_blocking(|db| subscribe(db, &email, &plan, until, now))?;
                let until = instant::without_zone(until);
                let value = json!({ "email": email.as_str(), "plan": plan, "until": until });
                output.say(&value, format!("{email}: {plan} until {until}"))
            }
            Self::End { email, output } => {
                let email = EmailAddress::parse(&email)?;
                context.pools.write_blocking(|db| end(db, &email, now))?;
                let value = json!({ "email": email.as_str(), "ended": true });
                output.say(&value, format!("{email}: ended"))
            }
        }
    }
}

fn subscribe(
    db: &mut Db,
    email: &EmailAddress,
    plan: &str,
    until: i64,
    now: i64,
) -> anyhow::Result<()> {
    let id = known(db, email)?;
    match auth::plan(db, plan)? {
        None => bail!("there is no plan {plan}"),
        Some(found) if found.hidden => bail!("the plan {plan} is hidden: it is not offered"),
        Some(_) => {}
    }
    subscriber::subscribe(db, id, plan, until, now)?;
    let detail = format!("{plan} until {}", instant::without_zone(until));
    admin_event::add(db, now, "subscription set", email.as_str(), &detail)?;
    Ok(())
}

fn end(db: &mut Db, email: &EmailAddress, now: i64) -> anyhow::Result<()> {
    let id = known(db, email)?;
    match subscriber::end(db, id, now) {
        Err(DatabaseError::NotFound) => bail!("{email} has no subscription"),
        other => other?,
    }
    admin_event::add(db, now, "subscription end", email.as_str(), "")?;
    Ok(())
}
