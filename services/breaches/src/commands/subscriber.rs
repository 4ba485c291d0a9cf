//! `subscriber add`, `subscription set`, `subscription end`.

use std::process::ExitCode;

use anyhow::{Context as _, bail};
use domain::EmailAddress;
use serde_json::json;
use store::{Db, StoreError};

use super::report;
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
        /// Print a JSON object
        #[arg(long)]
        json: bool,
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
        /// Print a JSON object
        #[arg(long)]
        json: bool,
    },
    /// End a subscription now
    End {
        /// Address of the subscriber
        email: String,
        /// Print a JSON object
        #[arg(long)]
        json: bool,
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
        let Self::Add { email, json } = self;
        let (email, now) = (EmailAddress::parse(&email)?, context.clock.unix());
        let id = context.pools.write_blocking(|db| -> anyhow::Result<i64> {
            if subscriber::id(db, &email)?.is_some() {
                bail!("{email} is a subscriber already");
            }
            let id = subscriber::add(db, &email, now)?;
            admin_event::add(db, now, "subscriber add", email.as_str(), "")?;
            Ok(id)
        })?;
        if json {
            report::json(&json!({ "id": id, "email": email.as_str() }))?;
        } else {
            println!("subscriber {id}: {email}");
        }
        Ok(ExitCode::SUCCESS)
    }
}

impl SubscriptionCommand {
    /// Runs the command.
    pub fn run(self, context: &Context) -> anyhow::Result<ExitCode> {
        let now = context.clock.unix();
        match self {
            Self::Set { email, plan, until, json } => {
                let email = EmailAddress::parse(&email)?;
                context.pools.write_blocking(|db| subscribe(db, &email, &plan, until, now))?;
                let until = instant::without_zone(until);
                if json {
                    report::json(
                        &json!({ "email": email.as_str(), "plan": plan, "until": until }),
                    )?;
                } else {
                    println!("{email}: {plan} until {until}");
                }
            }
            Self::End { email, json } => {
                let email = EmailAddress::parse(&email)?;
                context.pools.write_blocking(|db| end(db, &email, now))?;
                if json {
                    report::json(&json!({ "email": email.as_str(), "ended": true }))?;
                } else {
                    println!("{email}: ended");
                }
            }
        }
        Ok(ExitCode::SUCCESS)
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
        Err(StoreError::NotFound) => bail!("{email} has no subscription"),
        other => other?,
    }
    admin_event::add(db, now, "subscription end", email.as_str(), "")?;
    Ok(())
}
