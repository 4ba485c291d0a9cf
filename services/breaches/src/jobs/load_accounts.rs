//! `accounts load`: links the addresses of files to a breach.

use std::path::PathBuf;

use batch::{ByteSize, Sorted, Sorter};
use database::Db;

use super::address_reader::{self, Format};
use super::context::JobContext;
use super::domain_ids::DomainIds;
use super::error::JobError;
use super::input::JobInput;
use super::load::{self, Excluded, Outcome, Record, Running, Tally};
use super::skip_reason::SkipReason;
use crate::model::{AccountKey, Breach, loaded_address};
use crate::store::account_links::{self, NewAccount};
use crate::store::{admin_events, breaches, domain_accounts, jobs, versions};

/// What to load.
#[derive(Clone, Debug, serde::Serialize, serde::Deserialize)]
pub struct AccountsOptions {
    /// Name of the breach.
    pub breach: String,
    /// Files, `-` for standard input.
    pub files: Vec<PathBuf>,
    /// How they hold addresses.
    pub format: Format,
    /// Leaves the published count as it is.
    pub keep_count: bool,
    /// Activates the breach when done.
    pub activate: bool,
}

/// The part of `LOAD_MEMORY_MB` that sorting takes; the rest is for domains and the database.
const SORTING: (u64, u64) = (7, 10);

/// Addresses of a SQLite transaction for each MiB of `LOAD_MEMORY_MB`.
const PER_MIB: usize = 4_096;

/// Addresses of a batch that are prepared at once: few enough to stay in the processor's cache.
const PIECE: usize = 8_192;

/// Loads the addresses of files and links them to a breach.
pub fn load_accounts(context: &JobContext, options: &AccountsOptions) -> Result<Outcome, JobError> {
    let breach = context.pools.read_blocking(|db| open_breach(db, &options.breach))?;
    let params = serde_json::to_string(options).map_err(database::DatabaseError::broken)?;
    let running = load::begin(context, "accounts", &options.files, &params)?;
    load::noted(context, running.id, || run(context, options, &breach, &running))
}

/// The breach with this name, which must not be retired: no purge would remove the new links.
pub fn open_breach(db: &mut Db, name: &str) -> Result<Breach, JobError> {
    let found = breaches::by_name(db, name)?
        .ok_or_else(|| JobError::Rejected(format!("there is no breach {name}")))?;
    if found.flags.retired {
        return Err(JobError::Rejected(format!("the breach {name} is retired")));
    }
    Ok(found)
}

/// The same breach as it is now: it may have been retired since the load began.
fn still_open(db: &mut Db, breach: &Breach) -> Result<Breach, JobError> {
    let found = open_breach(db, &breach.name)?;
    if found.id != breach.id {
        return Err(JobError::Rejected(format!("the breach {} is gone", breach.name)));
    }
    Ok(found)
}

fn run(
    context: &JobContext,
    options: &AccountsOptions,
    breach: &Breach,
    running: &Running,
) -> Result<Outcome, JobError> {
    let (merge, tally) =
        load::sorted(context, running.id, |tally| sort(context, options, running.id, tally))?;
    let mut linker = Linker::new(context, breach);
    load::walk(context, running, merge, &tally, PER_MIB, |db, batch| linker.link(db, batch))?;
    let AccountsOptions { keep_count, activate, .. } = *options;
    let ending = Ending { command: "accounts load", keep_count, activate };
    let added = finish(context, breach, running.id, ending)?;
    Ok(Outcome::new(running.id, added, tally))
}

/// Memory for sorting, in bytes.
pub fn sorting_budget(context: &JobContext) -> ByteSize {
    ByteSize((context.settings.load_memory_mb as u64 * (1 << 20)) / SORTING.1 * SORTING.0)
}

fn sort(
    context: &JobContext,
    options: &AccountsOptions,
    job: i64,
    tally: &mut Tally,
) -> Result<Sorted, JobError> {
    let folder = context.settings.temporary_folder();
    let spilled = || JobError::file(format!("a temporary file in {}", folder.display()));
    let mut sorter = Sorter::new(folder.clone(), sorting_budget(context));
    for path in &options.files {
        let (input, mut job_input) = JobInput::open(context, job, path)?;
        address_reader::read(input, &options.format, &mut |line, found| {
            match found
                .and_then(|text| loaded_address::parse(text).map_err(|_| SkipReason::Address))
            {
                Ok(address) => {
                    let key = AccountKey::of(&address.sha1());
                    sorter.push(key.0, load::sorted_text(&address).as_bytes())?;
                    tally.accept();
                }
                Err(reason) => tally.skip(line, reason),
            }
            job_input.report_sometimes(tally.counts).map_err(std::io::Error::other)
        })
        .map_err(JobError::file(path.display().to_string()))?;
        job_input.finish();
    }
    sorter.finish().map_err(spilled())
}

/// Links batches of sorted addresses to one breach.
pub struct Linker {
    breach: Breach,
    domains: DomainIds,
    excluded: Excluded,
}

impl Linker {
    /// A linker without any memory yet.
    pub fn new(context: &JobContext, breach: &Breach) -> Self {
        let excluded = Excluded::new(context.settings.optout_memory_max);
        Self { breach: breach.clone(), domains: DomainIds::default(), excluded }
    }

    /// Links the addresses of a batch, which are distinct; returns how many were not linked before.
    pub fn link(&mut self, db: &mut Db, batch: &[Record<'_>]) -> Result<i64, JobError> {
        let linked = self.try_link(db, batch);
        if linked.is_err() {
            self.domains.forget();
        }
        linked
    }

    fn try_link(&mut self, db: &mut Db, batch: &[Record<'_>]) -> Result<i64, JobError> {
        still_open(db, &self.breach)?;
        self.excluded.refresh(db)?;
        let (mut added, mut filings) = (0, Vec::with_capacity(batch.len()));
        for piece in batch.chunks(PIECE) {
            let mut new = Vec::with_capacity(piece.len());
            for &Record { k, text } in piece {
                if !self.excluded.holds(db, k, text)? {
                    let (local, domain) = load::split_text(text);
                    new.push(NewAccount { k, domain, domain_id: 0, local });
                }
            }
            let ids = self.domains.of(db, new.iter().map(|account| account.domain))?;
            for (account, id) in new.iter_mut().zip(ids) {
                account.domain_id = id;
            }
            added += account_links::link(db, &new, self.breach.id, &mut filings)?;
        }
        domain_accounts::add(db, &mut filings)?;
        breaches::add_loaded(db, self.breach.id, added)?;
        Ok(added)
    }
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

/// Ends the job of a load: publishes the count of its breach and activates that, if wanted.
/// Returns how many links the job added.
pub fn finish(
    context: &JobContext,
    breach: &Breach,
    job: i64,
    ending: Ending,
) -> Result<i64, JobError> {
    let now = context.clock.unix();
    context.pools.write_blocking(|db| {
        versions::lock_accounts(db)?;
        let added = jobs::get(db, job)?.added;
        reconcile(db, breach, ending, added > 0, now)?;
        jobs::finish(db, job, "done", None, now)?;
        admin_events::add(db, now, ending.command, &breach.name, &format!("job {job}"))?;
        Ok(added)
    })
}

fn reconcile(
    db: &mut Db,
    breach: &Breach,
    ending: Ending,
    has_added: bool,
    now: i64,
) -> Result<(), JobError> {
    let loaded = still_open(db, breach)?;
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
    // Domain searches are charged by catalogue version: new accounts count as a change.
    if has_added || changed != loaded {
        versions::bump_catalogue(db, now)?;
    }
    Ok(())
}
