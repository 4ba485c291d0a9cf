//! `block add`, `list`, `remove`.

use std::process::ExitCode;

use anyhow::bail;
use database::DatabaseError;
use ipnet::IpNet;
use serde_json::json;

use super::output::Output;
use crate::jobs::JobContext;
use crate::model::instant;
use crate::store::{admin_events, blocks};

/// The subcommand `block`.
#[derive(clap::Subcommand)]
pub enum BlockCommand {
    /// Block clients by network or user agent
    #[command(group = clap::ArgGroup::new("what").required(true).args(["ip", "user_agent"]))]
    Add {
        /// Address or network to block, such as 192.0.2.0/24
        #[arg(long, value_name = "CIDR", value_parser = network)]
        ip: Option<IpNet>,
        /// Block user agents that contain this text, ignoring case
        #[arg(long, value_name = "TEXT")]
        user_agent: Option<String>,
        /// Last day in UTC of the entry, or the time when it expires: YYYY-MM-DDTHH:MM:SS, in UTC
        /// or with an offset [default: never]
        #[arg(long, value_name = "DATE", value_parser = until)]
        until: Option<i64>,
        #[command(flatten)]
        output: Output,
    },
    /// List all entries
    List {
        #[command(flatten)]
        output: Output,
    },
    /// Remove an entry
    Remove {
        /// ID of the entry, as shown by `block list`
        id: i64,
        #[command(flatten)]
        output: Output,
    },
}

fn network(text: &str) -> Result<IpNet, String> {
    shell::network(text)
        .map_err(|_| "must be an address or a network such as 192.0.2.0/24".to_owned())
}

fn until(text: &str) -> Result<i64, String> {
    instant::parse_until(text)
        .ok_or_else(|| "must be a date such as 2027-12-31, at most 9999-12-31".to_owned())
}

impl BlockCommand {
    pub fn run(self, context: &JobContext) -> anyhow::Result<ExitCode> {
        let now = context.clock.unix();
        match self {
            Self::Add { ip, user_agent, until, output } => {
                if let Some(until) = until.filter(|until| *until <= now) {
                    bail!("{} is in the past", instant::with_zone(until));
                }
                let cidr = ip.map(|network| network.to_string());
                if user_agent.as_ref().is_some_and(|text| text.trim().is_empty()) {
                    bail!("an empty text would block every client");
                }
                let agent = user_agent.map(|text| text.to_lowercase());
                let id = context.pools.write_blocking(|db| -> Result<i64, DatabaseError> {
                    let id = blocks::add(db, cidr.as_deref(), agent.as_deref(), until, now)?;
                    let client = cidr.as_deref().or(agent.as_deref()).unwrap_or_default();
                    admin_events::add(db, now, "block add", &id.to_string(), client)?;
                    Ok(id)
                })?;
                output.print(&json!({ "id": id }), format!("entry {id}"))
            }
            Self::List { output } => {
                let rows = context.pools.read_blocking(blocks::all)?;
                output.print_list(&rows, |row| {
                    let until = row.until.map_or_else(|| "forever".into(), instant::with_zone);
                    format!("{}\t{}\t{until}", row.id, row.client())
                })
            }
            Self::Remove { id, output } => {
                let removed = context.pools.write_blocking(|db| -> Result<(), DatabaseError> {
                    let block = blocks::remove(db, id)?;
                    admin_events::add(db, now, "block remove", &id.to_string(), block.client())
                });
                match removed {
                    Err(DatabaseError::NotFound) => bail!("entry {id} does not exist"),
                    other => other?,
                }
                output.print(&json!({ "id": id }), format!("removed entry {id}"))
            }
        }
    }
}
