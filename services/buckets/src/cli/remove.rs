//! `remove`, `removals` and `unremove`.

use std::process::ExitCode;

use batch::Output;
use jiff::Timestamp;

use crate::jobs::{self, JobContext};
use crate::store::removals::{self, Removal};

/// Arguments of `remove`.
#[derive(clap::Args, Debug)]
pub struct RemoveArguments {
    /// Address of the bucket
    address: String,
    /// Only files whose path begins with this
    #[arg(long, value_name = "P", default_value = "")]
    prefix: String,
    /// Why
    #[arg(long, value_name = "TEXT", default_value = "")]
    reason: String,
    /// Who [default: the user of the system]
    #[arg(long, value_name = "NAME", env = "USER", default_value = "unknown")]
    operator: String,
}

/// Arguments of `unremove`.
#[derive(clap::Args, Debug)]
pub struct UnremoveArguments {
    /// Address of the bucket
    address: String,
    /// Why
    #[arg(long, value_name = "TEXT", default_value = "")]
    reason: String,
    /// Who [default: the user of the system]
    #[arg(long, value_name = "NAME", env = "USER", default_value = "unknown")]
    operator: String,
}

/// Removes and purges.
pub fn remove(context: &JobContext, arguments: &RemoveArguments) -> anyhow::Result<ExitCode> {
    let RemoveArguments { address, prefix, reason, operator } = arguments;
    let done = jobs::remove(context, address, prefix, reason, operator)?;
    println!("{} removed: {} files hidden and purged", done.address, done.files);
    Ok(ExitCode::SUCCESS)
}

/// Takes off the list.
pub fn unremove(context: &JobContext, arguments: &UnremoveArguments) -> anyhow::Result<ExitCode> {
    let UnremoveArguments { address, reason, operator } = arguments;
    let lifted = jobs::unremove(context, address, reason, operator)?;
    if lifted == 0 {
        anyhow::bail!("{address} is not on the removal list");
    }
    println!("{address} is off the removal list; load it again to show its files");
    Ok(ExitCode::SUCCESS)
}

/// Lists removals.
pub fn list(context: &JobContext, as_json: bool) -> anyhow::Result<ExitCode> {
    let all = context.pools.read_blocking(removals::all)?;
    Output::from_json_flag(as_json).print_list(&all, line)?;
    Ok(ExitCode::SUCCESS)
}

fn line(removal: &Removal) -> String {
    let when =
        |second| Timestamp::from_second(second).map_or_else(|_| String::new(), |t| t.to_string());
    let state = match (removal.applied_at, removal.lifted_at) {
        (_, Some(at)) => format!("lifted {}", when(at)),
        (Some(at), None) => format!("in force since {}, {} files", when(at), removal.files),
        (None, None) => "waits".to_owned(),
    };
    let prefix = if removal.prefix.is_empty() { "" } else { " below " };
    format!(
        "{}{prefix}{}: {state} ({} {})",
        removal.address, removal.prefix, removal.operator, removal.reason
    )
}
