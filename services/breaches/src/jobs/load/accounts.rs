//! `accounts load`: links the addresses of files to breaches.

use std::path::PathBuf;

use batch::Sorted;

use super::address_reader::Format;
use super::decoding::TextEncoding;
use super::finish::{self, Ending};
use super::input;
use super::linker::Linker;
use super::read_accounts::{self, Reading};
use super::sources::Sources;
use super::tally::{Outcome, Tally};
use super::walk;
use crate::jobs::context::JobContext;
use crate::jobs::error::JobError;
use crate::jobs::heartbeat::Heartbeat;
use crate::jobs::job::{self, Params, Running};
use crate::jobs::maintenance::compaction;
use crate::model::Breach;
use crate::store::accounts;

/// The options of a load.
#[derive(Clone, Debug, Default, serde::Serialize, serde::Deserialize)]
pub struct AccountsOptions {
    /// Name of the breach, unless a manifest is given.
    pub breach: String,
    /// Files of the breach; `-` is standard input.
    pub files: Vec<PathBuf>,
    /// A manifest that lists breaches and their files.
    pub manifest: Option<PathBuf>,
    /// Format of the files.
    pub format: Format,
    /// The text that separates cells or ends an address.
    pub delimiter: Option<String>,
    /// Encoding of the files.
    pub encoding: TextEncoding,
    /// Skips the check of the first rows.
    pub unchecked: bool,
    /// Keeps the published count.
    pub keep_count: bool,
    /// Activates the breach at the end.
    pub activate: bool,
    /// Suppresses notices about the new links.
    pub no_notify: bool,
}

impl AccountsOptions {
    /// Returns the breaches and their files.
    ///
    /// # Errors
    /// Returns a message if the options are invalid.
    pub fn sources(&self, context: &JobContext) -> Result<Sources, JobError> {
        context.pools.read_blocking(|db| match &self.manifest {
            Some(manifest) => Sources::of_manifest(db, manifest),
            None => Sources::of_breach(db, &self.breach, &self.files),
        })
    }

    fn with_absolute_paths(&self) -> Result<Self, JobError> {
        let files =
            self.files.iter().map(|file| input::absolute(file)).collect::<Result<_, _>>()?;
        let manifest = self.manifest.as_deref().map(input::absolute).transpose()?;
        Ok(Self { files, manifest, ..self.clone() })
    }

    /// Returns the options for reading the files.
    pub fn reading(&self) -> Reading<'_> {
        Reading {
            format: &self.format,
            delimiter: self.delimiter.as_deref(),
            encoding: self.encoding,
            unchecked: self.unchecked,
        }
    }
}

/// Number of addresses per SQLite transaction, per MiB of `LOAD_MEMORY_MB`.
const PER_MIB: usize = 4_096;

/// Loads the addresses of files and links them to their breaches.
///
/// # Errors
/// Returns the reason if the load ended early.
pub fn load_accounts(context: &JobContext, options: &AccountsOptions) -> Result<Outcome, JobError> {
    load(context, options, None)
}

/// Loads addresses. If `resumed` is given, resumes the job with that number.
pub(super) fn load(
    context: &JobContext,
    options: &AccountsOptions,
    resumed: Option<i64>,
) -> Result<Outcome, JobError> {
    let options = &options.with_absolute_paths()?;
    let sources = options.sources(context)?;
    let other = AccountsOptions { no_notify: !options.no_notify, ..options.clone() };
    let params = Params::of_load(options, &other)?.resuming(resumed);
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

/// Links the sorted addresses to their breaches. Returns the number of links that the job has
/// added.
fn link(
    context: &JobContext,
    options: &AccountsOptions,
    breaches: &[Breach],
    running: &Running,
    merge: Sorted,
    tally: &Tally,
) -> Result<i64, JobError> {
    let loaded = tally.counts.accepted;
    let placement = context.pools.read_blocking(|db| accounts::placement(db, loaded))?;
    let mut linker = Linker::new(context, breaches).placed(placement);
    linker = linker.suppress_notices(options.no_notify);
    walk::walk(context, running, merge, tally, PER_MIB, &mut linker)?;
    compaction::compact(context, loaded)?;
    let AccountsOptions { keep_count, activate, .. } = *options;
    finish::finish(
        context,
        breaches,
        running.id,
        Ending { command: "accounts load", keep_count, activate },
    )
}
