//! `accounts load`: links the addresses of files to breaches.

use std::path::PathBuf;

use batch::Sorted;

use super::address_reader::Format;
use super::decoding::TextEncoding;
use super::finish::{self, Ending};
use super::linker::Linker;
use super::read_accounts::{self, Reading};
use super::sources::Sources;
use super::tally::{Outcome, Tally};
use super::walk;
use crate::jobs::context::JobContext;
use crate::jobs::error::JobError;
use crate::jobs::heartbeat::Heartbeat;
use crate::jobs::job::{self, Params, Running};
use crate::jobs::maintenance::runs;
use crate::model::Breach;

/// What to load.
#[derive(Clone, Debug, Default, serde::Serialize, serde::Deserialize)]
#[serde(default)]
pub struct AccountsOptions {
    /// Name of the breach, where there is no manifest.
    pub breach: String,
    /// Its files, `-` for standard input.
    pub files: Vec<PathBuf>,
    /// Names breaches with their files.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub manifest: Option<PathBuf>,
    /// How files hold addresses.
    pub format: Format,
    /// What separates cells, or ends an address.
    pub delimiter: Option<u8>,
    /// How files are encoded.
    pub encoding: TextEncoding,
    /// Loads whatever the first rows are like.
    pub unchecked: bool,
    /// Leaves the published count as it is.
    pub keep_count: bool,
    /// Activates the breach when done.
    pub activate: bool,
    /// Tells nobody of what it links.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub no_notify: bool,
}

impl AccountsOptions {
    /// The breaches with their files.
    ///
    /// # Errors
    /// What is wrong with them, in a sentence.
    pub fn sources(&self, context: &JobContext) -> Result<Sources, JobError> {
        context.pools.read_blocking(|db| match &self.manifest {
            Some(manifest) => Sources::of_manifest(db, manifest),
            None => Sources::of_breach(db, &self.breach, &self.files),
        })
    }

    /// How the files are read.
    pub fn reading(&self) -> Reading<'_> {
        Reading {
            format: &self.format,
            delimiter: self.delimiter,
            encoding: self.encoding,
            unchecked: self.unchecked,
        }
    }
}

/// Addresses of a SQLite transaction for each MiB of `LOAD_MEMORY_MB`.
const PER_MIB: usize = 4_096;

/// Loads the addresses of files and links them to their breaches.
///
/// # Errors
/// Why the load ended early.
pub fn load_accounts(context: &JobContext, options: &AccountsOptions) -> Result<Outcome, JobError> {
    let sources = options.sources(context)?;
    let other = AccountsOptions { no_notify: !options.no_notify, ..options.clone() };
    let params = Params::of_load(options, &other)?;
    let mut files = sources.paths();
    files.extend(options.manifest.clone());
    let running = job::begin(context, "accounts", &files, &params)?;
    job::noted(context, running.id, |heartbeat| {
        run(context, options, &sources, &running, heartbeat)
    })
}

fn run(
    context: &JobContext,
    options: &AccountsOptions,
    sources: &Sources,
    running: &Running,
    heartbeat: &Heartbeat,
) -> Result<Outcome, JobError> {
    let reading = options.reading();
    let (merge, tally) = job::sorted(context, running.id, |tally| {
        read_accounts::sort(context, sources, &reading, Some(heartbeat), tally)
    })?;
    let linked = link(context, options, &sources.breaches, running, merge, &tally);
    let added = job::added_by_any(context, running.id, linked)?;
    Ok(Outcome::new(running.id, added, tally).without_notices(options.no_notify))
}

/// Links what was sorted; returns how many links the job added.
fn link(
    context: &JobContext,
    options: &AccountsOptions,
    breaches: &[Breach],
    running: &Running,
    merge: Sorted,
    tally: &Tally,
) -> Result<i64, JobError> {
    let accounts = tally.counts.accepted;
    let beside = runs::goes_beside(context, accounts)?;
    let mut linker = Linker::new(context, breaches).beside_table(beside);
    linker = linker.suppress_notices(options.no_notify);
    walk::walk(context, running, merge, tally, PER_MIB, &mut linker)?;
    runs::merge_runs(context, accounts)?;
    let AccountsOptions { keep_count, activate, .. } = *options;
    finish::finish(
        context,
        breaches,
        running.id,
        Ending { command: "accounts load", keep_count, activate },
    )
}
