//! Commands beside `load`: removing, rebuilding, checking, exporting.

use std::io::{BufWriter, Write};
use std::path::PathBuf;
use std::process::ExitCode;

use jiff::Timestamp;
use serde_json::json;

use super::load::{ReadingArguments, finished, told};
use crate::engine::Mode;
use crate::jobs::load::Checkpoints;
use crate::jobs::session::Workshop;
use crate::jobs::{
    export as exporting, rebuild as rebuilding, removal, status as state, verify as checking,
};
use crate::store::removal::{Removal, all};

/// Arguments of `remove`.
#[derive(clap::Args, Debug)]
pub struct RemoveArguments {
    /// Address of the bucket
    address: String,
    /// Only files whose paths begin so
    #[arg(long, value_name = "P", default_value = "")]
    prefix: String,
    /// Why
    #[arg(long, value_name = "TEXT", default_value = "")]
    reason: String,
    /// Who [default: the user of the system]
    #[arg(long, value_name = "NAME", env = "USER", default_value = "unknown")]
    operator: String,
}

/// Exit status of a command that makes no sense.
const USAGE: u8 = 2;

/// Arguments of `rebuild`.
#[derive(clap::Args, Debug)]
pub struct RebuildArguments {
    #[command(flatten)]
    reading: ReadingArguments,
    /// Files and folders that the index is made of; - is standard input [default: the present
    /// index, without dead rows]
    #[arg(value_name = "PATH")]
    paths: Vec<PathBuf>,
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
pub fn remove(shop: &Workshop, arguments: &RemoveArguments) -> anyhow::Result<ExitCode> {
    let RemoveArguments { address, prefix, reason, operator } = arguments;
    let done = removal::remove(shop, address, prefix, reason, operator)?;
    println!("{} removed: {} files hidden and purged", done.address, done.files);
    Ok(ExitCode::SUCCESS)
}

/// Takes off the list.
pub fn unremove(shop: &Workshop, arguments: &UnremoveArguments) -> anyhow::Result<ExitCode> {
    let UnremoveArguments { address, reason, operator } = arguments;
    let lifted = removal::unremove(shop, address, reason, operator)?;
    if lifted == 0 {
        anyhow::bail!("{address} is not on the removal list");
    }
    println!("{address} is off the removal list; load it again to show its files");
    Ok(ExitCode::SUCCESS)
}

/// Lists removals.
pub fn removals(shop: &Workshop, as_json: bool) -> anyhow::Result<ExitCode> {
    let removals = shop.pools.read_blocking(all)?;
    if as_json {
        let list: Vec<_> = removals.iter().map(in_json).collect();
        println!("{}", serde_json::to_string(&list)?);
    } else {
        for removal in &removals {
            println!("{}", line(removal));
        }
    }
    Ok(ExitCode::SUCCESS)
}

fn in_json(removal: &Removal) -> serde_json::Value {
    json!({
        "id": removal.id,
        "address": removal.address,
        "prefix": removal.prefix,
        "reason": removal.reason,
        "operator": removal.operator,
        "requested_at": removal.requested_at,
        "applied_at": removal.applied_at,
        "files": removal.files,
        "lifted_at": removal.lifted_at,
        "lifted_reason": removal.lifted_reason,
        "lifted_by": removal.lifted_by,
    })
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

/// Writes a new generation.
pub fn rebuild(
    shop: &Workshop,
    arguments: RebuildArguments,
    pace: Checkpoints,
) -> anyhow::Result<ExitCode> {
    let RebuildArguments { reading, paths } = arguments;
    if paths.is_empty() && reading.say_how() {
        eprintln!("error: how to read sources is said, but no source is given");
        return Ok(ExitCode::from(USAGE));
    }
    let json = reading.json;
    let in_use = |generation: u32, files: u64| {
        if json {
            json!({ "generation": generation, "files": files }).to_string()
        } else {
            format!("generation {generation} is in use: {files} files")
        }
    };
    let done = if paths.is_empty() {
        rebuilding::rebuild(shop).map(|(generation, files)| in_use(generation, files))
    } else {
        let options = reading.options(Mode::Replace, &paths)?;
        rebuilding::rebuild_from(shop, &options, pace).map(|(generation, report)| match json {
            true => told(&report, json),
            false => format!("{report}\n{}", in_use(generation, report.counts.added)),
        })
    };
    finished(done)
}

/// Shows the state.
pub fn status(shop: &Workshop, as_json: bool) -> anyhow::Result<ExitCode> {
    let status = state::status(shop)?;
    if as_json {
        println!("{}", serde_json::to_string(&status)?);
    } else {
        print!("{}", state::as_text(&status));
    }
    Ok(ExitCode::SUCCESS)
}

/// Checks.
pub fn verify(shop: &Workshop) -> anyhow::Result<ExitCode> {
    let faults = checking::faults(shop)?;
    for fault in &faults {
        println!("{fault}");
    }
    if faults.is_empty() {
        println!("the index is sound");
        return Ok(ExitCode::SUCCESS);
    }
    Ok(ExitCode::FAILURE)
}

/// Exports to standard output.
pub fn export(shop: &Workshop, bucket: Option<&str>) -> anyhow::Result<ExitCode> {
    let mut out = BufWriter::new(std::io::stdout().lock());
    exporting::export(shop, bucket, &mut out)?;
    out.flush()?;
    Ok(ExitCode::SUCCESS)
}
