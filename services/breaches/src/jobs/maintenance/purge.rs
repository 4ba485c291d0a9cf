//! Removes a breach from all accounts, in key order and in short transactions.

use std::time::{Duration, Instant};

use batch::{ProgressReporter, Unit};
use database::{Backend, Db};

use crate::jobs::context::JobContext;
use crate::jobs::error::JobError;
use crate::jobs::job::{self, Params, Running};
use crate::jobs::retry::RetryingConnection;
use crate::model::{Breach, instant};
use crate::store::accounts::{self, StripPlace, StripStep};
use crate::store::layout::Layout;
use crate::store::{
    admin_events, breaches, cluster, jobs, load_connections, traces, unused_domains, versions,
};

/// `breach retire`: hides the breach right away, then removes its links and stealer log entries
/// along with accounts that have no other data. The published count doesn't change. Returns the job
/// id.
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
        let detail = format!("{} links", found.loaded_count);
        admin_events::add(db, now, "breach retire", &found.name, &detail)?;
    }
    Ok(found)
}

/// Seconds without a heartbeat before a purge is taken over, and seconds before a failed purge is
/// retried.
const ABANDONED: (i64, i64) = (jobs::SILENT_SECONDS, 600);

/// Continues a purge whose process died, or starts one that should exist but doesn't. Returns
/// `false` if there's nothing to do. If several replicas race, only one of them gets the job.
pub fn resume_purge(context: &JobContext) -> Result<bool, JobError> {
    let now = context.clock.unix();
    let (silent, failed) = (now - ABANDONED.0, now - ABANDONED.1);
    let name = context.write(|db| match jobs::take_over(db, "purge", silent, failed, now)? {
        Some(job) => {
            log::info!("job {} was interrupted and is continuing", job.id);
            Ok(Some(job.params))
        }
        None => begin_missing(db, now),
    })?;
    let Some(name) = name else { return Ok(false) };
    retire(context, &name)?;
    Ok(true)
}

/// Starts a job for a retired breach that still has links but has never been purged. That happens
/// if `breach retire` is interrupted between its transactions, or if a catalogue import retires a
/// breach. Returns the breach's name.
fn begin_missing(db: &mut Db, now: i64) -> Result<Option<String>, JobError> {
    if breaches::without_purge(db)?.is_none() {
        return Ok(None);
    }
    versions::lock_accounts(db)?;
    // While we were waiting for the lock, another replica may have started the job.
    let found = breaches::without_purge(db)?;
    if let Some(name) = &found {
        let id = jobs::begin(db, "purge", "", name, now)?;
        log::info!("job {id} is starting: {name} is retired and has links");
    }
    Ok(found)
}

/// Removes a retired breach's links and stealer log entries.
fn purge(context: &JobContext, breach: &Breach, running: &Running) -> Result<(), JobError> {
    let mut connection = RetryingConnection::open(&context.pools)?;
    // Accounts are in hash order, so every range touches most pages of the by-domain index. If we
    // checkpoint only after several ranges, those pages get copied only once.
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

/// Target duration of a transaction. Every transaction of a concurrent load has to wait for a purge
/// transaction.
const TARGET: Duration = Duration::from_millis(100);
/// Target duration on a distributed database, where a transaction costs more but also does more.
const DISTRIBUTED_TARGET: Duration = Duration::from_millis(500);
/// Target duration and pause on SQLite while other jobs run. A writer that has waited for less than
/// 100 ms retries at least every 25 ms, so the first pause lets it in.
const SQLITE_SHARED: Pacing = Pacing::from_millis(50, 25);
/// Target duration and pause on SQLite if no other job runs. Every transaction writes most pages of
/// the by-domain index, so long ones are cheaper. A waiting writer has backed off to one retry
/// every 100 ms by the time a transaction ends, so the pause lets it in.
const SQLITE_ALONE: Pacing = Pacing::from_millis(250, 100);
/// Width of the first key range: one shard of a distributed database.
const FIRST_WIDTH: u64 = 1 << 52;

/// How long a transaction should take, and how long to wait before the next one.
#[derive(Clone, Copy)]
struct Pacing {
    target: Duration,
    pause: Duration,
}

impl Pacing {
    const fn from_millis(target: u64, pause: u64) -> Self {
        Self { target: Duration::from_millis(target), pause: Duration::from_millis(pause) }
    }

    /// Chooses the pacing of the next transaction. PostgreSQL queues writers, so it needs no pauses.
    fn choose(
        db: &mut Db,
        layout: Layout,
        backend: Backend,
        job: i64,
        now: i64,
    ) -> Result<Self, JobError> {
        Ok(match (backend, layout) {
            (Backend::Postgres, Layout::OneServer) => {
                Self { target: TARGET, pause: Duration::ZERO }
            }
            (Backend::Postgres, Layout::Distributed) => {
                Self { target: DISTRIBUTED_TARGET, pause: Duration::ZERO }
            }
            (Backend::Sqlite, _) if jobs::another_runs(db, job, now - jobs::SILENT_SECONDS)? => {
                SQLITE_SHARED
            }
            (Backend::Sqlite, _) => SQLITE_ALONE,
        })
    }
}

/// Lets other writers in on SQLite. PostgreSQL queues them anyway.
fn pause(backend: Backend) {
    if backend == Backend::Sqlite {
        std::thread::sleep(SQLITE_SHARED.pause);
    }
}

/// Removes links and stealer log entries from the tables, range by range in key order.
fn strip_table(
    context: &JobContext,
    connection: &mut RetryingConnection,
    breach: &Breach,
    running: &Running,
) -> Result<(), JobError> {
    let (layout, backend) = (connection.read(|db| Ok(Layout::of(db)?))?, context.pools.backend());
    let steps = StripStep::in_order(backend, layout);
    let mut next = running.after.map_or(Some(i64::MIN), |k| k.checked_add(1));
    let mut last: Option<(u64, Duration)> = None;
    let progress = ProgressReporter::new("purging", Unit::Items("links"), None);
    while let Some(low) = next {
        let now = context.clock.unix();
        let pacing = Pacing::choose(connection.db(), layout, backend, running.id, now)?;
        let width = last.map_or(FIRST_WIDTH, |(width, took)| adapted(width, took, pacing.target));
        let high = low.checked_add_unsigned(width - 1).unwrap_or(i64::MAX);
        let lock = |db: &mut Db| -> Result<(), JobError> {
            accounts::prepare_strip(db)?;
            versions::lock_accounts(db)?;
            job::expect_unfinished(db, running.id)?;
            Ok(cluster::complete_all_commits(db)?)
        };
        let mut longest = Duration::ZERO;
        for (at, step) in steps.iter().enumerate() {
            let done_to = (at + 1 == steps.len()).then_some(high);
            let strip = |db: &mut Db| -> Result<i64, JobError> {
                let range = (low, high);
                let removed = accounts::strip_between(db, layout, breach.id, range, *step)?;
                note_removed(context, db, breach, running.id, done_to, removed)?;
                Ok(removed)
            };
            let (removed, took) =
                connection.transaction(|db| timed_after(db, lock, strip, Instant::now))?;
            progress.add(u64::try_from(removed).unwrap_or(0));
            longest = longest.max(took);
        }
        next = high.checked_add(1);
        last = Some((width, longest));
        if longest > pacing.target / 4 {
            std::thread::sleep(pacing.pause);
        }
    }
    progress.finish();
    Ok(())
}

/// Waits for a lock, then does the work. Returns how long the work took, excluding the wait.
fn timed_after<D, T, E>(
    db: &mut D,
    wait: impl FnOnce(&mut D) -> Result<(), E>,
    work: impl FnOnce(&mut D) -> Result<T, E>,
    now: impl Fn() -> Instant,
) -> Result<(T, Duration), E> {
    wait(db)?;
    let begin = now();
    let done = work(db)?;
    Ok((done, now() - begin))
}

/// Adjusts the width of the next key range based on how long the last one took.
fn adapted(width: u64, took: Duration, target: Duration) -> u64 {
    let ratio = (target.as_secs_f64() / took.as_secs_f64().max(1e-6)).clamp(0.25, 8.0);
    // This conversion saturates.
    ((width as f64 * ratio) as u64).max(1)
}

/// Removes links from appended accounts in short transactions. Loads can't add any more, because
/// the breach is retired.
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

/// Above this many domains, scanning every run is faster than looking each domain up.
const FEW_DOMAINS: usize = 100;

/// Deletes domains that aren't used by any account or stealer log.
pub(super) fn remove_unused_domains(
    context: &JobContext,
    connection: &mut RetryingConnection,
) -> Result<(), JobError> {
    let mut in_runs = None;
    let mut after = i32::MIN;
    loop {
        let page = |db: &mut Db| Ok(unused_domains::page_without_rows(db, after)?);
        let Some(mut page) = connection.transaction(page)? else { return Ok(()) };
        if in_runs.is_none() && page.ids.len() > FEW_DOMAINS {
            in_runs = Some(accounts::domains_in_runs(connection.db())?);
        }
        if let Some(in_runs) = &in_runs {
            page.ids.retain(|id| !in_runs.contains(id.cast_unsigned()));
        }
        if !page.ids.is_empty() {
            connection.transaction(|db| {
                versions::lock_accounts(db)?;
                Ok(unused_domains::remove_unused(db, &page.ids)?)
            })?;
            pause(context.pools.backend());
        }
        after = page.last;
    }
}

/// Records the number of removed links, and moves the checkpoint if a range is done.
fn note_removed(
    context: &JobContext,
    db: &mut Db,
    breach: &Breach,
    job: i64,
    done_to: Option<i64>,
    removed: i64,
) -> Result<(), JobError> {
    breaches::add_loaded(db, breach.id, -removed)?;
    let now = context.clock.unix();
    let is_open = match done_to {
        Some(key) => jobs::advance(db, job, &key.to_le_bytes(), removed, now)?,
        None => jobs::count(db, job, removed, now)?,
    };
    job::expect_open(db, job, is_open)
}

#[cfg(test)]
mod tests {
    use std::cell::Cell;

    use super::*;
    use crate::store::MIGRATIONS;

    #[test]
    fn purge_has_short_transactions_on_sqlite_only_while_another_job_runs() {
        let database = testkit::Database::new();
        let pools = database.open(&[&auth::MIGRATIONS, &MIGRATIONS]);
        let targets = pools.write_blocking(|db| {
            let purge = jobs::begin(db, "purge", "", "Alpha", 100)?;
            let target = |db: &mut Db, now: i64| {
                Pacing::choose(db, Layout::OneServer, Backend::Sqlite, purge, now).unwrap().target
            };
            let alone = target(db, 100);
            let load = jobs::begin(db, "accounts", "", "{}", 100)?;
            let (shared, silent) = (target(db, 130), target(db, 131));
            assert!(jobs::finish(db, load, 131)?);
            Ok::<_, database::DatabaseError>([alone, shared, silent, target(db, 131)])
        });
        let millis = targets.unwrap().map(|target| target.as_millis());
        assert_eq!(millis, [250, 50, 250, 250]);
    }

    #[test]
    fn wait_for_the_lock_does_not_count_towards_the_duration() {
        let clock = Cell::new(Instant::now());
        let pass = |seconds: u64| clock.set(clock.get() + Duration::from_secs(seconds));
        let mut order = Vec::new();
        let wait = |order: &mut Vec<&str>| {
            pass(60);
            order.push("wait");
            Ok::<_, JobError>(())
        };
        let work = |order: &mut Vec<&str>| {
            pass(2);
            order.push("work");
            Ok(7)
        };
        let (done, took) = timed_after(&mut order, wait, work, || clock.get()).unwrap();
        assert_eq!((done, took), (7, Duration::from_secs(2)));
        assert_eq!(order, ["wait", "work"]);
    }
}
