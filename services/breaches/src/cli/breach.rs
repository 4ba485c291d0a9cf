//! `breach set`, `activate`, `deactivate`, `retire`, `export`.

use std::io::BufRead;
use std::process::ExitCode;

use anyhow::bail;
use serde_json::json;

use super::output::Output;
use crate::app::{self, OperatorError};
use crate::jobs::{self, JobContext};
use crate::model::{Breach, entry, instant};

/// The subcommand `breach`.
#[derive(clap::Subcommand)]
pub enum BreachCommand {
    /// Change attributes of a breach. This updates its ModifiedDate
    Set {
        /// Name of the breach
        name: String,
        #[command(flatten)]
        change: Change,
        #[command(flatten)]
        output: Output,
    },
    /// Publish a breach. Its AddedDate and ModifiedDate are set to the current time, so polling
    /// clients notice it
    Activate {
        /// Name of the breach
        name: String,
        /// Keep the existing dates
        #[arg(long)]
        keep_dates: bool,
        #[command(flatten)]
        output: Output,
    },
    /// Hide a breach from all searches and lists
    Deactivate {
        /// Name of the breach
        name: String,
        #[command(flatten)]
        output: Output,
    },
    /// Hide a breach's addresses immediately and remove them permanently
    Retire {
        /// Name of the breach
        name: String,
        /// Skip the confirmation prompt
        #[arg(long)]
        yes: bool,
        #[command(flatten)]
        output: Output,
    },
    /// Export the catalogue as JSON. Inactive breaches are not included
    Export {
        #[command(flatten)]
        output: Output,
    },
}

/// The attributes to change.
#[derive(Clone, Debug, clap::Args)]
pub struct Change {
    /// Mark the breach as verified
    #[arg(long, value_name = "BOOLEAN")]
    verified: Option<bool>,
    /// Mark the data as fabricated
    #[arg(long, value_name = "BOOLEAN")]
    fabricated: Option<bool>,
    /// Show the breach only to owners of an address or its domain
    #[arg(long, value_name = "BOOLEAN")]
    sensitive: Option<bool>,
    /// Mark the breach as a spam list. Addresses that are only in spam lists do not count towards
    /// domain sizes
    #[arg(long, value_name = "BOOLEAN")]
    spam_list: Option<bool>,
    /// Mark the data as collected by malware
    #[arg(long, value_name = "BOOLEAN")]
    malware: Option<bool>,
    /// Show the breach in domain searches even if the subscription does not cover the domain's size
    #[arg(long, value_name = "BOOLEAN")]
    subscription_free: Option<bool>,
    /// Mark the breach as a stealer log, whose addresses are stored with websites
    #[arg(long, value_name = "BOOLEAN")]
    stealer_log: Option<bool>,
    /// Title of the breach
    #[arg(long, value_name = "TEXT")]
    title: Option<String>,
    /// Domain of the breached website
    #[arg(long, value_name = "DOMAIN")]
    domain: Option<String>,
    /// Description in HTML
    #[arg(long, value_name = "HTML")]
    description: Option<String>,
    /// URL of the logo
    #[arg(long, value_name = "URL")]
    logo_path: Option<String>,
    /// Attribution. An empty value removes it
    #[arg(long, value_name = "TEXT")]
    attribution: Option<String>,
    /// URL of the disclosure. An empty value removes it
    #[arg(long, value_name = "URL")]
    disclosure_url: Option<String>,
    /// Comma-separated data classes. They replace the existing ones
    #[arg(long, value_name = "NAMES", value_delimiter = ',')]
    data_classes: Option<Vec<String>>,
}

impl Change {
    /// True if there's nothing to change.
    fn is_empty(&self) -> bool {
        let Self {
            verified,
            fabricated,
            sensitive,
            spam_list,
            malware,
            subscription_free,
            stealer_log,
            title,
            domain,
            description,
            logo_path,
            attribution,
            disclosure_url,
            data_classes,
        } = self;
        let flags =
            [verified, fabricated, sensitive, spam_list, malware, subscription_free, stealer_log];
        let texts = [title, domain, description, logo_path, attribution, disclosure_url];
        flags.iter().all(|flag| flag.is_none())
            && texts.iter().all(|text| text.is_none())
            && data_classes.is_none()
    }

    fn apply(self, breach: &mut Breach) -> Result<(), OperatorError> {
        let flags = &mut breach.flags;
        for (flag, value) in [
            (&mut flags.verified, self.verified),
            (&mut flags.fabricated, self.fabricated),
            (&mut flags.sensitive, self.sensitive),
            (&mut flags.spam_list, self.spam_list),
            (&mut flags.malware, self.malware),
            (&mut flags.subscription_free, self.subscription_free),
            (&mut flags.stealer_log, self.stealer_log),
        ] {
            *flag = value.unwrap_or(*flag);
        }
        for (text, value) in [
            (&mut breach.title, self.title),
            (&mut breach.domain, self.domain.map(|domain| entry::a_labels(&domain))),
            (&mut breach.description, self.description),
            (&mut breach.logo_path, self.logo_path),
        ] {
            if let Some(value) = value {
                *text = value;
            }
        }
        for (text, value) in [
            (&mut breach.attribution, self.attribution),
            (&mut breach.disclosure_url, self.disclosure_url),
        ] {
            if let Some(value) = value {
                *text = Some(value).filter(|value| !value.is_empty());
            }
        }
        if let Some(mut classes) = self.data_classes {
            classes.sort_by_cached_key(|class| class.to_lowercase());
            breach.data_classes = classes;
        }
        entry::check_texts(breach).map_err(|error| OperatorError::Rejected(error.to_string()))?;
        if breach.title.trim().is_empty() {
            let message = "the title must not be empty";
            return Err(OperatorError::Rejected(message.to_owned()));
        }
        Ok(())
    }
}

impl BreachCommand {
    pub fn run(self, context: &JobContext) -> anyhow::Result<ExitCode> {
        let now = context.clock.unix();
        match self {
            Self::Set { change, .. } if change.is_empty() => {
                bail!("nothing to set; `breaches breach set --help` lists the attributes")
            }
            Self::Set { name, change, output } => {
                let done = context.pools.write_blocking(|db| {
                    app::change_breach(db, &name, "breach set", now, |breach| {
                        let before = breach.clone();
                        change.apply(breach)?;
                        if *breach != before {
                            breach.modified = instant::whole_minute(now).max(breach.added);
                        }
                        Ok(())
                    })
                })?;
                output.print(&done, format!("{} changed", done.name))
            }
            Self::Activate { name, keep_dates, output } => {
                let done = context.pools.write_blocking(|db| {
                    app::change_breach(db, &name, "breach activate", now, |breach| {
                        if !breach.active {
                            breach.activate(keep_dates, now);
                        }
                        Ok(())
                    })
                })?;
                output.print(&done, format!("{} is active", done.name))
            }
            Self::Deactivate { name, output } => {
                let done = context.pools.write_blocking(|db| {
                    app::change_breach(db, &name, "breach deactivate", now, |breach| {
                        breach.active = false;
                        Ok(())
                    })
                })?;
                output.print(&done, format!("deactivated {}", done.name))
            }
            Self::Retire { name, yes, output } => {
                if !yes {
                    confirm(&name)?;
                }
                let job = jobs::retire(context, &name)?;
                output.print(&json!({ "name": name, "job": job }), format!("retired {name}"))
            }
            Self::Export { output } => {
                let listed = context.pools.read_blocking(app::listed_breaches)?;
                // Both are JSON, but this form is easier to read.
                output.print(&listed, serde_json::to_string_pretty(&listed)?)
            }
        }
    }
}

fn confirm(name: &str) -> anyhow::Result<()> {
    log::info!(target: "notice", "Retiring {name} removes its accounts permanently. Type its name to confirm:");
    let mut answer = String::new();
    std::io::stdin().lock().read_line(&mut answer)?;
    if answer.trim() == name { Ok(()) } else { bail!("not confirmed; nothing was changed") }
}
