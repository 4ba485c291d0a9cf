//! `accounts load`: links addresses from files to breaches.

use std::path::PathBuf;

use batch::Sorted;

use super::adaptive_batch::AdaptiveBatch;
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
use crate::jobs::maintenance::{compaction, domain_index};
use crate::model::Breach;
use crate::store::accounts::{self, Placement};
use crate::store::jobs;

/// Load options.
#[derive(Clone, Debug, Default, serde::Serialize, serde::Deserialize)]
pub struct AccountsOptions {
    /// Breach name, unless there is a manifest.
    pub breach: String,
    /// The breach's files. `-` is standard input.
    pub files: Vec<PathBuf>,
    /// A manifest listing breaches and their files.
    pub manifest: Option<PathBuf>,
    /// File format.
    pub format: Format,
    /// Separates cells, or ends an address in a combo list.
    pub delimiter: Option<String>,
    /// File encoding.
    pub encoding: TextEncoding,
    /// Skip the sanity check of the first rows.
    pub unchecked: bool,
    /// Don't change the published count.
    pub keep_count: bool,
    /// Activate the breach when the load is done.
    pub activate: bool,
    /// Don't send notices about the new links.
    pub no_notify: bool,
}

impl AccountsOptions {
    /// Determines the breaches and their files.
    ///
    /// # Errors
    /// Fails with a message if the options are invalid.
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

    /// Returns how to read the files.
    pub fn reading(&self) -> Reading<'_> {
        Reading {
            format: &self.format,
            delimiter: self.delimiter.as_deref(),
            encoding: self.encoding,
            unchecked: self.unchecked,
        }
    }
}

/// Number of addresses per SQLite transaction for each MiB of `LOAD_MEMORY_MB`.
const PER_MIB: usize = 4_096;

/// Loads addresses from files and links them to their breaches.
///
/// # Errors
/// Fails if the load stops early.
pub fn load_accounts(context: &JobContext, options: &AccountsOptions) -> Result<Outcome, JobError> {
    load(context, options, None)
}

/// Loads addresses. If `resumed` is set, resumes that job. However the load ends, the by-domain
/// index is completed, because earlier loads may have left it incomplete.
pub(super) fn load(
    context: &JobContext,
    options: &AccountsOptions,
    resumed: Option<i64>,
) -> Result<Outcome, JobError> {
    let loaded = load_only(context, options, resumed);
    let indexed = domain_index::index_domains(context)
        .inspect_err(|error| log::warn!("the accounts were not indexed by domain: {error}"));
    loaded.and_then(|outcome| indexed.map(|_| outcome))
}

fn load_only(
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

/// Links the sorted addresses to their breaches. Returns the number of links that the job added.
fn link(
    context: &JobContext,
    options: &AccountsOptions,
    breaches: &[Breach],
    running: &Running,
    merge: Sorted,
    tally: &Tally,
) -> Result<i64, JobError> {
    let loaded = tally.counts.accepted;
    let placement = context.read(|db| Ok(accounts::placement(db, loaded)?))?;
    let mut linker = Linker::new(context, running.id, breaches).placed(placement);
    linker = linker.suppress_notices(options.no_notify);
    if placement == Placement::Table {
        let added = context.read(|db| Ok(jobs::get(db, running.id)?))?.added;
        let largest = AdaptiveBatch::new(context, PER_MIB, false).largest();
        linker = linker.postpone_index(domain_index::is_large(loaded - added, largest));
    }
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

#[cfg(test)]
mod tests {
    use database::{DatabaseError, Db};
    use domain::EmailAddress;
    use testkit::Database;

    use super::*;
    use crate::config::Settings;
    use crate::model::{AccountKey, test_data};
    use crate::store::{breaches, unfiled_accounts};

    #[test]
    fn large_load_that_is_cancelled_before_its_first_batch_leaves_the_index_complete() {
        let database = Database::in_file();
        let pools = database.open(&[&auth::MIGRATIONS, &crate::store::MIGRATIONS]);
        let clock = testkit::clock("2026-03-01T12:00:00Z").shared();
        let context = JobContext { pools, clock, settings: Settings::for_tests() };
        let fixture = test_data::fixtures().remove(0);
        let id = context.pools.write_blocking(|db| breaches::insert(db, &fixture)).unwrap();
        let breach = Breach { id, ..fixture };
        let address = EmailAddress::parse("ada@corp.example").unwrap();
        // The first run is cancelled.
        for writes in [false, true] {
            let begin = |db: &mut Db| {
                let job = jobs::begin(db, "accounts", "", "{}", 1)?;
                if !writes {
                    jobs::cancel(db, job, 1)?;
                }
                Ok::<_, DatabaseError>(job)
            };
            let id = context.pools.write_blocking(begin).unwrap();
            let mut sorter = job::sorter(&context);
            let key = AccountKey::of(&address.sha1());
            sorter.push(key.0, address.as_str().as_bytes()).unwrap();
            let mut tally = Tally::default();
            tally.counts.accepted = 1 << 40;
            let (options, running) = (AccountsOptions::default(), Running { id, after: None });
            let merge = sorter.finish().unwrap();
            let breaches = std::slice::from_ref(&breach);
            let ended = link(&context, &options, breaches, &running, merge, &tally);
            assert_eq!(ended.ok(), writes.then_some(1));
            let is_postponed = context.pools.read_blocking(unfiled_accounts::is_postponed);
            assert_eq!(is_postponed.unwrap(), writes);
        }
    }
}
