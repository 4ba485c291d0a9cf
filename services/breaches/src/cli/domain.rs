//! `domain list`, `verify`, `revoke`, `monthly-mail`, `recount`.

use std::process::ExitCode;

use ::domain::{DomainName, EmailAddress};
use anyhow::ensure;
use serde_json::json;

use super::output::Output;
use crate::app;
use crate::jobs::JobContext;
use crate::state;
use crate::store::admin_events;
use crate::store::domain_controls::{self, Control};

/// The subcommand `domain`.
#[derive(clap::Subcommand)]
pub enum DomainCommand {
    /// List domains and the subscribers who control them
    List {
        /// Email address of the subscriber whose domains to list [default: all subscribers]
        email: Option<String>,
        #[command(flatten)]
        output: Output,
    },
    /// Verify a domain for a subscriber
    Verify {
        /// Email address of the subscriber
        email: String,
        /// Domain to verify
        domain: String,
        /// Verify the domain even if VERIFY_DENY lists it, for example because it belongs to an
        /// email provider
        #[arg(long)]
        despite_deny_list: bool,
        #[command(flatten)]
        output: Output,
    },
    /// Revoke a subscriber's control of a domain and of the subdomains added through it
    Revoke {
        /// Email address of the subscriber
        email: String,
        /// Domain to revoke
        domain: String,
        #[command(flatten)]
        output: Output,
    },
    /// Turn a domain's monthly email on or off. It contains the number of new exposures but no
    /// addresses
    MonthlyMail {
        /// Email address of the subscriber
        email: String,
        /// Domain of the monthly email
        domain: String,
        /// Whether to send the email
        setting: OnOff,
        #[command(flatten)]
        output: Output,
    },
    /// Recount the breached addresses of a domain
    Recount {
        /// Domain to recount
        domain: String,
        #[command(flatten)]
        output: Output,
    },
}

/// A switch.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
pub enum OnOff {
    /// Send the email.
    On,
    /// Do not send the email.
    Off,
}

impl OnOff {
    fn word(self) -> &'static str {
        match self {
            Self::On => "on",
            Self::Off => "off",
        }
    }
}

impl DomainCommand {
    pub fn run(self, context: &JobContext) -> anyhow::Result<ExitCode> {
        let now = context.clock.unix();
        match self {
            Self::List { email, output } => {
                let controls = context.pools.read_blocking(|db| list(db, email.as_deref()))?;
                output.print_list(&controls, |listed| {
                    let Listed { subscriber, control } = listed;
                    let size = control.size_now.map_or_else(|| "-".into(), |size| size.to_string());
                    format!("{}\t{}\t{size}\t{subscriber}", control.domain, control.state)
                })
            }
            Self::Verify { email, domain, despite_deny_list, output } => {
                let (email, domain) = (EmailAddress::parse(&email)?, DomainName::parse(&domain)?);
                ensure!(
                    despite_deny_list || !state::deny_list(&context.settings)?.has(&domain),
                    "{domain} is in the list of domains that cannot be verified (VERIFY_DENY), \
                     usually because its addresses belong to many people; --despite-deny-list \
                     verifies it"
                );
                let verified = app::verify_domain(&context.pools, &email, &domain, now)?;
                output.print_list(&verified, |domain| format!("verified {domain}"))
            }
            Self::Revoke { email, domain, output } => {
                let (email, domain) = (EmailAddress::parse(&email)?, DomainName::parse(&domain)?);
                context.pools.write_blocking(|db| app::revoke_domain(db, &email, &domain, now))?;
                let value = json!({ "domain": domain.as_str() });
                output.print(&value, format!("revoked {domain}"))
            }
            Self::MonthlyMail { email, domain, setting, output } => {
                let (email, domain) = (EmailAddress::parse(&email)?, DomainName::parse(&domain)?);
                let monthly = setting == OnOff::On;
                let changed = context.pools.write_blocking(|db| -> anyhow::Result<bool> {
                    let id = app::subscriber_id(db, &email)?;
                    let name = domain.as_str();
                    let changed = app::change_monthly_report(db, id, name, monthly, now)?;
                    if changed {
                        let action = format!("domain monthly-mail {}", setting.word());
                        admin_events::add(db, now, &action, name, email.as_str())?;
                    }
                    Ok(changed)
                })?;
                ensure!(changed, "{email} does not control {domain}");
                let value = json!({ "domain": domain.as_str(), "monthly": monthly });
                output.print(&value, format!("monthly email about {domain}: {}", setting.word()))
            }
            Self::Recount { domain, output } => {
                let domain = DomainName::parse(&domain)?;
                let count = app::recount_domain(&context.pools, &domain, now)?;
                let (all, no_spam, captured) = (count.size.all, count.size.no_spam, count.captured);
                let value =
                    json!({ "all": all, "excluding_spam_lists": no_spam, "captured": captured });
                output.print(
                    &value,
                    format!(
                        "{all} addresses, {no_spam} without spam lists; {captured} in stealer logs"
                    ),
                )
            }
        }
    }
}

/// A domain and its subscriber.
#[derive(serde::Serialize)]
struct Listed {
    subscriber: String,
    #[serde(flatten)]
    control: Control,
}

fn list(db: &mut database::Db, email: Option<&str>) -> anyhow::Result<Vec<Listed>> {
    let rows = match email {
        Some(email) => {
            let email = EmailAddress::parse(email)?;
            let id = app::subscriber_id(db, &email)?;
            let all = domain_controls::all(db, id)?;
            all.into_iter().map(|control| (email.to_string(), control)).collect()
        }
        None => domain_controls::with_subscribers(db)?,
    };
    Ok(rows.into_iter().map(|(subscriber, control)| Listed { subscriber, control }).collect())
}
