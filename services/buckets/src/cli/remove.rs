//! `buckets remove`, `removals` and `unremove`

use std::process::ExitCode;

use batch::Output;
use jiff::Timestamp;

use crate::jobs::{self, JobContext};
use crate::store::removals::{self, Removal};

/// Exit codes, shown by `--help`.
const STATUSES: &str = "\
Exit status:
  0  the files are erased, or none matched; later loads skip them
  1  the command failed
  2  usage error";

/// Arguments of `remove`.
#[derive(clap::Args, Debug)]
#[command(after_help = STATUSES)]
pub struct RemoveArguments {
    /// Bucket address
    address: String,
    /// Remove only files whose path starts with this prefix
    #[arg(long, value_name = "P", default_value = "")]
    prefix: String,
    /// Reason to record on the removal list
    #[arg(long, value_name = "TEXT", default_value = "")]
    reason: String,
    /// Name of the person responsible [default: the current user]
    #[arg(long, value_name = "NAME", env = "USER", default_value = "unknown")]
    operator: String,
    /// Print JSON instead of text
    #[arg(long)]
    json: bool,
}

/// Arguments of `unremove`.
#[derive(clap::Args, Debug)]
pub struct UnremoveArguments {
    /// Bucket address
    address: String,
    /// Reason to record on the removal list
    #[arg(long, value_name = "TEXT", default_value = "")]
    reason: String,
    /// Name of the person responsible [default: the current user]
    #[arg(long, value_name = "NAME", env = "USER", default_value = "unknown")]
    operator: String,
    /// Print JSON instead of text
    #[arg(long)]
    json: bool,
}

/// Removes a bucket, or the files below a prefix, and erases the data.
pub fn remove(context: &JobContext, arguments: &RemoveArguments) -> anyhow::Result<ExitCode> {
    let RemoveArguments { address, prefix, reason, operator, json } = arguments;
    let done = jobs::remove(context, address, prefix, reason, operator)?;
    let text = match done.files {
        0 => nothing_removed(&done.address, prefix),
        files => format!("{} removed: {files} files hidden and purged", done.address),
    };
    Output::from_json_flag(*json).print(&done, text)?;
    Ok(ExitCode::SUCCESS)
}

/// Describes a removal without any indexed files.
fn nothing_removed(address: &str, prefix: &str) -> String {
    match prefix {
        "" => format!(
            "{address}: no file is indexed, so nothing was removed; later loads skip the bucket, \
             because it is on the removal list"
        ),
        prefix => format!(
            "{address}: no indexed file matches the prefix {prefix}, so nothing was removed; later \
             loads skip such files, because the prefix is on the removal list"
        ),
    }
}

/// Takes a bucket off the removal list.
pub fn unremove(context: &JobContext, arguments: &UnremoveArguments) -> anyhow::Result<ExitCode> {
    let UnremoveArguments { address, reason, operator, json } = arguments;
    let lifted = jobs::unremove(context, address, reason, operator)?;
    if lifted == 0 {
        anyhow::bail!("{address} is not on the removal list");
    }
    let text =
        format!("{address} is no longer on the removal list; load it again to show its files");
    let done = serde_json::json!({ "address": address, "lifted": lifted });
    Output::from_json_flag(*json).print(&done, text)?;
    Ok(ExitCode::SUCCESS)
}

/// Prints the removal list.
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
    let act = match (removal.operator.trim(), removal.reason.trim()) {
        ("", "") => String::new(),
        (operator, "") => format!(", by {operator}"),
        ("", reason) => format!(", reason: {reason}"),
        (operator, reason) => format!(", by {operator}, reason: {reason}"),
    };
    format!("{}{prefix}{}: {state}{act}", removal.address, removal.prefix)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn line_names_the_operator_and_the_reason() {
        let removal = |operator: &str, reason: &str| Removal {
            id: 1,
            address: "a.s3.amazonaws.com".to_owned(),
            prefix: String::new(),
            reason: reason.to_owned(),
            operator: operator.to_owned(),
            requested_at: 0,
            applied_at: None,
            files: 0,
            lifted_at: None,
            lifted_reason: None,
            lifted_by: None,
        };
        assert_eq!(line(&removal("anna", "")), "a.s3.amazonaws.com: waits, by anna");
        let both = "a.s3.amazonaws.com: waits, by anna, reason: asked twice";
        assert_eq!(line(&removal("anna", "asked twice")), both);
        assert_eq!(line(&removal("", "")), "a.s3.amazonaws.com: waits");
    }
}
