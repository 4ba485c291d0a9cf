//! `keys issue`, `keys list`, `keys revoke`, `keys rotate`.

use std::io::Write;
use std::process::ExitCode;

use anyhow::{Context, bail};
use database::{Db, Pools};
use jiff::Timestamp;
use jiff::civil::Date;
use jiff::tz::TimeZone;
use serde_json::{Value, json};

use super::table::{self, instant, rfc3339};
use crate::{Key, Owners, issue, issue_only, list_keys, revoke, rotate};

/// The subcommand `keys`, which issues, lists, revokes and rotates API keys.
///
/// A new key is printed to stdout on a line of its own, and is never shown again. Everything else
/// goes to stderr.
#[derive(Clone, Debug, clap::Subcommand)]
pub enum KeysCommand {
    /// Issue a key and print it. The key cannot be shown again
    Issue {
        /// Owner of the key
        owner: String,
        /// Code of the plan, for services with plans [default: chosen by the service]
        #[arg(long, value_name = "CODE")]
        plan: Option<String>,
        /// Last day in UTC on which the key is valid, or the RFC 3339 time when it expires
        /// [default: never]
        #[arg(long, value_name = "DATE", value_parser = parse_until)]
        until: Option<i64>,
        /// Print a JSON object instead of the bare key
        #[arg(long)]
        json: bool,
    },
    /// List all keys without revealing them
    List {
        /// Print a JSON array instead of a table
        #[arg(long)]
        json: bool,
    },
    /// Revoke a key immediately
    Revoke {
        /// ID of the key, as shown by `keys list`
        id: i64,
    },
    /// Replace a key and print the new one. The old key stops working immediately; the ID, plan and
    /// expiry stay the same
    Rotate {
        /// ID of the key, as shown by `keys list`
        id: i64,
        /// Print a JSON object instead of the bare key
        #[arg(long)]
        json: bool,
    },
}

impl KeysCommand {
    /// Returns whether the command only makes sense if there are keys already. `issue` doesn't need
    /// any.
    pub fn needs_data(&self) -> bool {
        !matches!(self, Self::Issue { .. })
    }

    /// Runs the command, printing its results to stdout.
    ///
    /// # Errors
    /// Returns a one-line message for the operator; the exit code is 1.
    pub fn run(self, pools: &Pools, owners: &dyn Owners, now: i64) -> anyhow::Result<ExitCode> {
        self.run_to(pools, owners, now, &mut std::io::stdout().lock())
    }

    /// Runs the command, writing its results to `out`.
    ///
    /// # Errors
    /// Returns a one-line message for the operator.
    pub fn run_to(
        self,
        pools: &Pools,
        owners: &dyn Owners,
        now: i64,
        out: &mut dyn Write,
    ) -> anyhow::Result<ExitCode> {
        match self {
            Self::Issue { owner, plan, until, json } => {
                let order = IssueOrder { owner: &owner, plan: plan.as_deref(), until };
                let (key, text, revoked) = pools.write_blocking(|db| -> anyhow::Result<_> {
                    let (key, text, revoked) = order.issue(db, owners, now)?;
                    owners.record(db, "keys issue", &key.owner, &format!("key {}", key.id))?;
                    Ok((key, text, revoked))
                })?;
                if revoked > 0 {
                    let owner = &key.owner;
                    log::info!(target: "notice", "{revoked} older key(s) of {owner} revoked");
                }
                print_new(out, &key, &text, json, "issued")?;
            }
            Self::List { json } => {
                let keys = pools.read_blocking(list_keys)?;
                print_list(out, &keys, now, json)?;
            }
            Self::Revoke { id } => {
                let is_new = pools.write_blocking(|db| -> anyhow::Result<bool> {
                    let is_new = revoke(db, id, now)?;
                    owners.record(db, "keys revoke", &format!("key {id}"), "")?;
                    Ok(is_new)
                })?;
                if is_new {
                    log::info!(target: "notice", "key {id} is revoked");
                } else {
                    log::info!(target: "notice", "key {id} was already revoked");
                }
            }
            Self::Rotate { id, json } => {
                let (key, text) = pools.write_blocking(|db| -> anyhow::Result<_> {
                    let (key, text) = rotate(db, id, now)?;
                    owners.record(db, "keys rotate", &format!("key {id}"), "")?;
                    Ok((key, text))
                })?;
                print_new(out, &key, &text, json, "renewed")?;
            }
        }
        Ok(ExitCode::SUCCESS)
    }
}

/// The arguments of `keys issue`.
struct IssueOrder<'a> {
    owner: &'a str,
    plan: Option<&'a str>,
    until: Option<i64>,
}

impl IssueOrder<'_> {
    /// Returns the key, its text, and the number of older keys that were revoked.
    fn issue(
        &self,
        db: &mut Db,
        owners: &dyn Owners,
        now: i64,
    ) -> anyhow::Result<(Key, String, usize)> {
        if self.until.is_some_and(|end| end <= now) {
            bail!("--until must be in the future");
        }
        let plan = match (self.plan, owners.default_plan()) {
            (Some(_), None) => bail!("this service's keys do not have plans: remove --plan"),
            (named, default) => named.or(default),
        };
        let owner = owners.canonical(db, self.owner)?;
        if owners.one_live_key() {
            return Ok(issue_only(db, &owner, plan, self.until, None, now)?);
        }
        let (key, text) = issue(db, &owner, plan, self.until, now)?;
        Ok((key, text, 0))
    }
}

/// Parses either an instant or a day, meaning the end of that day. Returns Unix seconds.
///
/// # Errors
/// Returns an error if `text` is neither.
pub fn parse_until(text: &str) -> Result<i64, String> {
    if let Ok(instant) = text.parse::<Timestamp>() {
        return Ok(instant.as_second());
    }
    let day = text.parse::<Date>().map_err(|_| {
        "use a date such as 2027-12-31 or a time such as 2027-12-31T12:00:00Z".to_owned()
    })?;
    // Keys that "never expire" are often given the last day that the calendar supports. The
    // midnight that ends it can't be represented as an instant.
    let end = day.tomorrow().and_then(|next| next.to_zoned_datetime(TimeZone::UTC));
    Ok(end.map_or(Timestamp::MAX, |midnight| midnight.timestamp()).as_second())
}

fn print_new(
    out: &mut dyn Write,
    key: &Key,
    text: &str,
    json: bool,
    verb: &str,
) -> anyhow::Result<()> {
    let (id, owner) = (key.id, &key.owner);
    log::info!(target: "notice", "key {id} of {owner} {verb}; it will not be shown again");
    let written = if json {
        let mut value = as_json(key, key.created_at);
        value["key"] = Value::from(text);
        writeln!(out, "{value}")
    } else {
        writeln!(out, "{text}")
    };
    written.and_then(|()| out.flush()).context("the key could not be printed: rotate it")
}

fn print_list(out: &mut dyn Write, keys: &[Key], now: i64, json: bool) -> anyhow::Result<()> {
    if json {
        let keys: Vec<Value> = keys.iter().map(|key| as_json(key, now)).collect();
        writeln!(out, "{}", Value::from(keys))?;
        return Ok(());
    }
    let titles =
        ["ID", "OWNER", "PLAN", "HINT", "STATE", "CREATED", "UNTIL", "REVOKED", "LAST USED"];
    let rows: Vec<Vec<String>> = keys.iter().map(|key| as_row(key, now)).collect();
    table::print(out, &titles.map(str::to_owned), &rows)?;
    Ok(())
}

fn as_row(key: &Key, now: i64) -> Vec<String> {
    vec![
        key.id.to_string(),
        key.owner.clone(),
        key.plan.as_ref().map_or_else(|| "-".to_owned(), |plan| plan.code.clone()),
        key.hint.clone(),
        key.state(now).as_str().to_owned(),
        instant(Some(key.created_at)),
        instant(key.expires_at),
        instant(key.revoked_at),
        instant(key.last_used_at),
    ]
}

fn as_json(key: &Key, now: i64) -> Value {
    json!({
        "id": key.id,
        "owner": key.owner,
        "plan": key.plan.as_ref().map(|plan| &plan.code),
        "hint": key.hint,
        "state": key.state(now).as_str(),
        "created_at": rfc3339(Some(key.created_at)),
        "expires_at": rfc3339(key.expires_at),
        "revoked_at": rfc3339(key.revoked_at),
        "last_used_at": rfc3339(key.last_used_at),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn expiry_date_includes_the_whole_day() {
        assert_eq!(parse_until("1970-01-01"), Ok(86_400));
        assert_eq!(parse_until("1970-01-01T00:00:07Z"), Ok(7));
        assert_eq!(parse_until("9999-12-31"), Ok(Timestamp::MAX.as_second()));
        assert!(parse_until("31.12.2027").unwrap_err().contains("2027-12-31"));
    }
}
