//! `accounts load`: links the addresses of files to breaches.

use std::path::PathBuf;

use batch::Sorted;
use database::Db;

use super::address_reader::Format;
use super::context::JobContext;
use super::decoding::TextEncoding;
use super::error::JobError;
use super::heartbeat::Heartbeat;
use super::linker::Linker;
use super::load::{self, Params, Running};
use super::read_accounts::{self, Reading};
use super::run_maintenance;
use super::sources::{Sources, open_breach};
use super::tally::{Outcome, Tally};
use super::walk;
use crate::model::Breach;
use crate::store::{admin_events, breaches, jobs, versions};

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
    let running = load::begin(context, "accounts", &files, &params)?;
    load::noted(context, running.id, |heartbeat| {
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
    let (merge, tally) = load::sorted(context, running.id, |tally| {
        read_accounts::sort(context, sources, &reading, Some(heartbeat), tally)
    })?;
    let linked = link(context, options, &sources.breaches, running, merge, &tally);
    let added = load::added_by_any(context, running.id, linked)?;
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
    let beside = run_maintenance::goes_beside(context, accounts)?;
    let mut linker = Linker::new(context, breaches).beside_table(beside);
    linker = linker.without_notices(options.no_notify);
    walk::walk(context, running, merge, tally, PER_MIB, &mut linker)?;
    run_maintenance::merge_runs(context, accounts)?;
    let AccountsOptions { keep_count, activate, .. } = *options;
    finish(context, breaches, running.id, Ending { command: "accounts load", keep_count, activate })
}

/// How a load ends.
#[derive(Clone, Copy, Debug)]
pub struct Ending {
    /// The command, for the list of the operator's changes.
    pub command: &'static str,
    /// Leaves the published count as it is.
    pub keep_count: bool,
    /// Activates the breach.
    pub activate: bool,
}

/// Ends the job of a load: publishes the counts of its breaches and activates them, if wanted.
/// Returns how many links the job added.
///
/// # Errors
/// [`JobError::DoneElsewhere`] where another process did it first, [`JobError::Cancelled`], among others.
pub fn finish(
    context: &JobContext,
    breaches: &[Breach],
    job: i64,
    ending: Ending,
) -> Result<i64, JobError> {
    let now = context.clock.unix();
    context.write(|db| {
        versions::lock_accounts(db)?;
        let jobs::Job { added, state, .. } = jobs::get(db, job)?;
        load::expect_open(db, job, matches!(state.as_str(), "running" | "failed"))?;
        let mut changed = added > 0;
        for breach in breaches {
            changed |= reconcile(db, breach, ending, now)?;
            admin_events::add(db, now, ending.command, &breach.name, &format!("job {job}"))?;
        }
        // Domain searches are charged by catalogue version: new accounts count as a change.
        if changed {
            versions::bump_catalogue(db, now)?;
        }
        jobs::finish(db, job, now)?;
        Ok(added)
    })
}

/// Brings the row of a breach up to date; whether that changed it.
fn reconcile(db: &mut Db, breach: &Breach, ending: Ending, now: i64) -> Result<bool, JobError> {
    let loaded = open_breach(db, &breach.name)?;
    let mut changed = loaded.clone();
    if !ending.keep_count {
        changed.pwn_count = changed.loaded_count;
    }
    if ending.activate && !changed.active {
        changed.activate(false, now);
    }
    if changed != loaded {
        breaches::update(db, &changed)?;
    }
    Ok(changed != loaded)
}
