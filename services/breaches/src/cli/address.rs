//! `address show`, `opt-out`, `opt-in`, `remove`, `verify-removed`.

use std::path::PathBuf;
use std::process::ExitCode;

use database::Db;
use domain::EmailAddress;
use serde_json::json;

use super::output::Output;
use crate::app;
use crate::jobs::{self, JobContext, JobError, Remains};
use crate::model::OptOut;
use crate::store::{breaches, jobs as job_rows, opt_outs, traces};

/// An owner's choice.
#[derive(Clone, Copy, Debug, clap::ValueEnum)]
pub enum Kind {
    /// Hide the address from public searches. Verified owners of its domain still see it
    Public,
    /// Remove all data about the address and never load it again. Only its SHA-1 hash is kept
    Breaches,
    /// Remove all data about the address and keep no record of it. Unfinished loads, including
    /// failed and interrupted ones, skip the address and keep its SHA-1 hash until they are done
    /// (`job resume ID`) or cancelled (`job cancel ID`). Later loads can add it again
    Delete,
}

/// The subcommand `address`.
#[derive(clap::Subcommand)]
pub enum AddressCommand {
    /// Print all data stored about an address
    Show {
        /// Email address
        email: String,
        #[command(flatten)]
        output: Output,
    },
    /// Opt an address out on behalf of its owner
    OptOut {
        /// Email address
        email: String,
        /// Kind of opt-out
        #[arg(long, value_enum)]
        kind: Kind,
        #[command(flatten)]
        output: Output,
    },
    /// Revoke a public opt-out
    OptIn {
        /// Email address
        email: String,
        #[command(flatten)]
        output: Output,
    },
    /// Remove an address from a breach
    ///
    /// Unfinished loads, including failed and interrupted ones, skip the link. They keep the
    /// address's SHA-1 hash until they are done (`job resume ID`) or cancelled (`job cancel ID`).
    /// Later loads can add the link again.
    Remove {
        /// Email address
        email: String,
        /// Name of the breach
        #[arg(long, value_name = "NAME")]
        breach: String,
        #[command(flatten)]
        output: Output,
    },
    /// Search for traces of a removed address. The exit code is 1 if any are found
    ///
    /// Searches all tables, the raw bytes of the SQLite file (including its free pages and
    /// write-ahead log) and the email folder. Backups and dead PostgreSQL rows are not searched.
    ///
    /// A SHA-1 hash that is kept on purpose is reported, but does not change the exit code. An
    /// opt-out keeps it permanently. Unfinished loads, including failed and interrupted ones, keep it
    /// until they are done (`job resume ID`) or cancelled (`job cancel ID`).
    VerifyRemoved {
        /// Email address
        email: String,
        /// Also search this file or folder, such as a log folder. Can be repeated
        #[arg(long = "also", value_name = "PATH")]
        also: Vec<PathBuf>,
        #[command(flatten)]
        output: Output,
    },
}

impl AddressCommand {
    /// Runs the command. `mails` is the folder to which emails would be written, which doesn't have
    /// to exist.
    pub fn run(self, context: &JobContext, mails: PathBuf) -> anyhow::Result<ExitCode> {
        let now = context.clock.unix();
        match self {
            Self::Show { email, output } => {
                let email = EmailAddress::parse(&email)?;
                let held = context.pools.read_blocking(|db| app::held_data(db, &email))?;
                output.print(&held, serde_json::to_string_pretty(&held)?)
            }
            Self::OptOut { email, kind, output } => {
                let email = EmailAddress::parse(&email)?;
                let choice = match kind {
                    Kind::Public => OptOut::Public,
                    Kind::Breaches => OptOut::Breaches,
                    Kind::Delete => OptOut::Delete,
                };
                opt_out(context, &email, choice, output)
            }
            Self::OptIn { email, output } => {
                let email = EmailAddress::parse(&email)?;
                context.write(|db| Ok(app::opt_in(db, &email, now)?))?;
                output.print(&json!({ "kind": null }), "done")
            }
            Self::Remove { email, breach, output } => {
                let email = EmailAddress::parse(&email)?;
                let mut removed = false;
                let keeping =
                    context.write(|db| remove_link(db, &email, &breach, &mut removed, now))?;
                clear_log(context)?;
                let text = if removed { "removed" } else { "the address was not linked" };
                let text = with_keeping_jobs(text, &keeping);
                output.print(&json!({ "removed": removed, "keeping_jobs": keeping }), text)
            }
            Self::VerifyRemoved { email, mut also, output } => {
                let email = EmailAddress::parse(&email)?;
                if mails.is_dir() {
                    also.push(mails);
                }
                let remains = jobs::find_remains(context, &email, &also)?;
                output.print(&remains, describe(&remains))?;
                Ok(if remains.is_clean() { ExitCode::SUCCESS } else { ExitCode::FAILURE })
            }
        }
    }
}

/// Removes an address from a breach in the current transaction. Returns the unfinished loads that
/// keep its digest. If the transaction is repeated because its commit was not acknowledged, the
/// address may already be gone, so `removed` stays true if an earlier attempt set it.
fn remove_link(
    db: &mut Db,
    email: &EmailAddress,
    breach: &str,
    removed: &mut bool,
    now: i64,
) -> Result<Vec<i64>, JobError> {
    let unknown = || JobError::Rejected(format!("there is no breach {breach}"));
    let id = breaches::by_name(db, breach)?.ok_or_else(unknown)?.id;
    *removed |= app::remove_link(db, email, id, now)?;
    Ok(job_rows::keeping_digest(db, &email.sha1())?)
}

fn opt_out(
    context: &JobContext,
    email: &EmailAddress,
    choice: OptOut,
    output: Output,
) -> anyhow::Result<ExitCode> {
    let now = context.clock.unix();
    let apply = |db: &mut Db| -> Result<(Option<OptOut>, Vec<i64>), JobError> {
        app::opt_out(db, email, choice, now)?;
        let digest = email.sha1();
        Ok((opt_outs::get(db, &digest)?, job_rows::keeping_digest(db, &digest)?))
    };
    let (kept, keeping) = context.write(apply)?;
    clear_log(context)?;
    let kept = kept.unwrap_or(choice);
    let text = match kept == choice {
        true => "done",
        false => "done; an earlier opt-out still prevents later loads of the address",
    };
    let text = with_keeping_jobs(text, &keeping);
    output.print(&json!({ "kind": kept.kind(), "keeping_jobs": keeping }), text)
}

/// Adds a line about unfinished loads that keep the digest of a removed address.
fn with_keeping_jobs(text: &str, jobs: &[i64]) -> String {
    keeping(jobs).map_or_else(|| text.to_owned(), |line| format!("{text}\n{line}"))
}

/// Describes the unfinished loads that keep the digest of a removed address. Returns `None` if there
/// are none.
fn keeping(jobs: &[i64]) -> Option<String> {
    let ids: Vec<String> = jobs.iter().map(|id| format!("job {id}")).collect();
    (!ids.is_empty()).then(|| {
        format!(
            "the SHA-1 hash is kept by unfinished loads, which skip what was removed, until they are \
             done or cancelled: {}. After a failure or interruption, `breaches job resume ID` \
             finishes a load and `breaches job cancel ID` cancels it",
            ids.join(", ")
        )
    })
}

/// Empties SQLite's write-ahead log, which may still contain removed data.
fn clear_log(context: &JobContext) -> anyhow::Result<()> {
    Ok(traces::clear_log_or_warn(&mut context.pools.connect()?)?)
}

fn describe(remains: &Remains) -> String {
    let found = remains.found.iter().map(|(place, count)| format!("{place}: {count}"));
    let mut lines: Vec<String> = found.collect();
    if remains.unused_domain {
        lines.push("the domain is stored without an account".to_owned());
    }
    if lines.is_empty() {
        lines.push("nothing is left".to_owned());
    }
    match remains.opt_out {
        Some(OptOut::Public) => {
            lines.push("the SHA-1 hash is kept, so that public searches hide the address".into());
        }
        Some(_) => {
            lines.push("the SHA-1 hash is kept, so that the address is not loaded again".into());
        }
        None => {}
    }
    lines.extend(keeping(&remains.keeping_jobs));
    lines.join("\n")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::test_data;
    use crate::store::account_links;

    #[test]
    fn repeated_removal_reports_what_the_first_attempt_removed() {
        let database = testkit::Database::new();
        let pools = database.open(&[&auth::MIGRATIONS, &crate::store::MIGRATIONS]);
        let email = EmailAddress::parse("ada@corp.example").unwrap();
        let link = |db: &mut Db| {
            let id = breaches::insert(db, &test_data::fixtures().remove(0))?;
            account_links::link_one(db, &email, id)
        };
        pools.write_blocking(link).unwrap();
        let attempt = |removed: &mut bool| {
            let done = pools.write_blocking(|db| remove_link(db, &email, "Acmegram", removed, 1));
            assert!(done.unwrap().is_empty());
        };
        let mut removed = false;
        attempt(&mut removed);
        attempt(&mut removed);
        assert!(removed);
        let mut found_later = false;
        attempt(&mut found_later);
        assert!(!found_later);
    }
}
