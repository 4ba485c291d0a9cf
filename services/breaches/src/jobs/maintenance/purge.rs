//! Removes a breach from all accounts, in key order and in short transactions.

use std::time::{Duration, Instant};

use batch::{ProgressReporter, Unit};
use database::{Backend, Db};

use crate::jobs::context::JobContext;
use crate::jobs::error::JobError;
use crate::jobs::job::{self, Params, Running};
use crate::jobs::retry::RetryingConnection;
use crate::model::{Breach, instant};
use crate::store::accounts::{self, StripPlace};
use crate::store::layout::Layout;
use crate::store::{
    admin_events, breaches, jobs, load_connections, traces, unused_domains, versions,
};

/// `breach retire`: hides the breach immediately, then removes its links and pairs, and the
/// accounts that have no other data. The published count stays. Returns the number of the job.
pub fn retire(context: &JobContext, name: &str) -> Result<i64, JobError> {
    let now = context.clock.unix();
    let found = context.write(|db| flag(db, name, now))?;
    let running = job::begin(context, "purge", &[], &Params::only(&found.name))?;
    job::noted(context, running.id, |_| match purge(context, &found, &running) {
        Err(JobError::DoneElsewhere) => Ok(()),
        ended => ended,
    })?;
    Ok(running.id)
}

fn flag(db: &mut Db, name: &str, now: i64) -> Result<Breach, JobError> {
    versions::lock_accounts(db)?;
    let mut found = breaches::by_name(db, name)?
        .ok_or_else(|| JobError::Rejected(format!("there is no breach {name}")))?;
    if !found.flags.retired {
        found.flags.retired = true;
        found.modified = instant::whole_minute(now).max(found.added);
        breaches::update(db, &found)?;
        versions::bump_catalogue(db, now)?;
        admin_events::add(db, now, "breach retire", &found.name, "")?;
    }
    Ok(found)
}

/// Seconds without a heartbeat after which another process continues a purge, and seconds after
/// which a failed purge is retried.
const ABANDONED: (i64, i64) = (30, 600);

/// Continues a purge whose process ended, or begins one that is missing. Returns false if there is none. If
/// several replicas race for one, one gets it.
pub fn resume_purge(context: &JobContext) -> Result<bool, JobError> {
    let now = context.clock.unix();
    let (silent, failed) = (now - ABANDONED.0, now - ABANDONED.1);
    let name = context.write(|db| match jobs::take_over(db, "purge", silent, failed, now)? {
        Some(job) => {
            log::info!("job {} was interrupted and continues", job.id);
            Ok(Some(job.params))
        }
        None => begin_missing(db, now),
    })?;
    let Some(name) = name else { return Ok(false) };
    retire(context, &name)?;
    Ok(true)
}

/// Begins the job of a retired breach that still has links and never had a purge: `breach retire` ended
/// between its transactions, or a catalogue import retired the breach. Returns the name of the breach.
fn begin_missing(db: &mut Db, now: i64) -> Result<Option<String>, JobError> {
    if breaches::without_purge(db)?.is_none() {
        return Ok(None);
    }
    versions::lock_accounts(db)?;
    // Another replica may have begun the job before this transaction got the lock.
    let found = breaches::without_purge(db)?;
    if let Some(name) = &found {
        let id = jobs::begin(db, "purge", "", name, now)?;
        log::info!("job {id} begins: {name} is retired and has links");
    }
    Ok(found)
}

/// Removes the links and pairs of a retired breach.
fn purge(context: &JobContext, breach: &Breach, running: &Running) -> Result<(), JobError> {
    let mut connection = RetryingConnection::open(&context.pools)?;
    // Accounts are ordered by their hashes, so each range changes most pages of the index by
    // domain. With a checkpoint only after several ranges, these pages are copied once.
    let cache = (context.settings.load_memory_mb * 1_024 / 2).max(2_048);
    load_connections::set_cache(connection.db(), cache)?;
    strip_appended(context, &mut connection, breach, running.id)?;
    strip_table(context, &mut connection, breach, running)?;
    remove_unused_domains(context, &mut connection)?;
    let now = context.clock.unix();
    connection.transaction(|db| {
        versions::lock_accounts(db)?;
        versions::bump_catalogue(db, now)?;
        let is_open = jobs::finish(db, running.id, now)?;
        job::expect_open(db, running.id, is_open)
    })?;
    Ok(traces::clear_log_or_warn(connection.db())?)
}

/// Target duration of a transaction. Loads wait until it ends.
const TARGET: Duration = Duration::from_millis(500);
/// Target duration on SQLite, where other writers retry at intervals of up to 100 ms.
const SQLITE_TARGET: Duration = Duration::from_millis(200);
/// Pause after a transaction on SQLite, during which another writer can get the lock.
const SQLITE_PAUSE: Duration = Duration::from_millis(25);
/// Width of the first range of keys: one shard of a distributed database.
const FIRST_WIDTH: u64 = 1 << 52;

/// Gives other writers a chance on SQLite. PostgreSQL queues them.
fn pause(backend: Backend) {
    if backend == Backend::Sqlite {
        std::thread::sleep(SQLITE_PAUSE);
    }
}

/// Removes links and pairs by ranges of keys. Each range is a transaction of a few statements.
fn strip_table(
    context: &JobContext,
    connection: &mut RetryingConnection,
    breach: &Breach,
    running: &Running,
) -> Result<(), JobError> {
    let (layout, backend) = (Layout::of(connection.db())?, context.pools.backend());
    let target = if backend == Backend::Sqlite { SQLITE_TARGET } else { TARGET };
    let (mut next, mut width) =
        (running.after.map_or(Some(i64::MIN), |k| k.checked_add(1)), FIRST_WIDTH);
    let progress = ProgressReporter::new("purging", Unit::Items("links"), None);
    while let Some(low) = next {
        let high = low.checked_add_unsigned(width - 1).unwrap_or(i64::MAX);
        let mut took = Duration::ZERO;
        let removed = connection.transaction(|db| {
            // Does not include the wait for the lock.
            let begin = Instant::now();
            accounts::prepare_strip(db)?;
            versions::lock_accounts(db)?;
            let removed = accounts::strip_between(db, layout, breach.id, (low, high))?;
            note_removed(context, db, breach, running.id, high, removed)?;
            took = begin.elapsed();
            Ok(removed)
        })?;
        progress.add(u64::try_from(removed).unwrap_or(0));
        next = high.checked_add(1);
        width = adapted(width, took, target);
        if took > target / 4 {
            pause(backend);
        }
    }
    progress.finish();
    Ok(())
}

/// Returns the width of the next range, given the duration of the last one.
fn adapted(width: u64, took: Duration, target: Duration) -> u64 {
    let ratio = (target.as_secs_f64() / took.as_secs_f64().max(1e-6)).clamp(0.25, 8.0);
    // The conversion is saturating.
    ((width as f64 * ratio) as u64).max(1)
}

/// Removes the links of appended accounts, in short transactions. Loads do not add new ones,
/// because the breach is retired.
fn strip_appended(
    context: &JobContext,
    connection: &mut RetryingConnection,
    breach: &Breach,
    job: i64,
) -> Result<(), JobError> {
    let mut place = Some(StripPlace::default());
    while let Some(from) = place {
        place = connection.transaction(|db| {
            versions::lock_accounts(db)?;
            let Some((removed, next)) = accounts::strip_some(db, breach.id, from)? else {
                return Ok(None);
            };
            breaches::add_loaded(db, breach.id, -removed)?;
            let open = jobs::count(db, job, removed, context.clock.unix())?;
            job::expect_open(db, job, open)?;
            Ok(Some(next))
        })?;
        if place.is_some() {
            pause(context.pools.backend());
        }
    }
    Ok(())
}

/// Removes the names of domains that neither accounts nor stealer logs use.
fn remove_unused_domains(
    context: &JobContext,
    connection: &mut RetryingConnection,
) -> Result<(), JobError> {
    let mut after = Some(i32::MIN);
    while let Some(id) = after {
        after = connection.transaction(|db| {
            versions::lock_accounts(db)?;
            Ok(unused_domains::remove_unused_page(db, id)?)
        })?;
        pause(context.pools.backend());
    }
    Ok(())
}

/// Records the number of removed links and moves the checkpoint.
fn note_removed(
    context: &JobContext,
    db: &mut Db,
    breach: &Breach,
    job: i64,
    high: i64,
    removed: i64,
) -> Result<(), JobError> {
    breaches::add_loaded(db, breach.id, -removed)?;
    let now = context.clock.unix();
    let moved = jobs::advance(db, job, &high.to_le_bytes(), removed, now)?;
    job::expect_open(db, job, moved)
}
