//! Removes a breach from all accounts, in key order and in short transactions.

use std::time::{Duration, Instant};

use batch::{ProgressReporter, Unit};
use database::{Backend, Db};

use crate::jobs::context::JobContext;
use crate::jobs::error::JobError;
use crate::jobs::job::{self, Params, Running};
use crate::jobs::retry::RetryingConnection;
use crate::model::{Breach, id_list, instant};
use crate::store::accounts::{self, AccountRow};
use crate::store::layout::Layout;
use crate::store::{account_links, admin_events, breaches, jobs, stealer_logs, versions};

/// `breach retire`: hides the breach immediately, then removes its links and pairs, and accounts
/// without other data. The published count stays. Returns the number of the job.
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

/// Removes the links and pairs of a retired breach.
fn purge(context: &JobContext, breach: &Breach, running: &Running) -> Result<(), JobError> {
    let mut connection = RetryingConnection::open(&context.pools)?;
    match context.pools.backend() {
        Backend::Sqlite => strip_rows(context, &mut connection, breach, running)?,
        Backend::Postgres => strip_ranges(context, &mut connection, breach, running)?,
    }
    let now = context.clock.unix();
    connection.transaction(|db| {
        versions::lock_accounts(db)?;
        versions::bump_catalogue(db, now)?;
        jobs::finish(db, running.id, now)?;
        Ok(())
    })
}

/// Removes links and pairs row by row.
fn strip_rows(
    context: &JobContext,
    connection: &mut RetryingConnection,
    breach: &Breach,
    running: &Running,
) -> Result<(), JobError> {
    strip_appended(context, connection, breach, running.id)?;
    let mut low = running.after.unwrap_or(i64::MIN);
    let after = running.after.map_or((i64::MIN, -1), |k| (k, i16::MAX));
    let mut pages = accounts::Pages::after(connection.db(), after)?;
    let progress = ProgressReporter::new("purging", Unit::Items("accounts"), None);
    loop {
        let rows = pages.next(connection.db())?;
        let Some(last) = rows.last().map(|row| row.k) else { break };
        connection.transaction(|db| strip(context, db, breach, running.id, &rows, (low, last)))?;
        low = last;
        progress.add(rows.len() as u64);
    }
    progress.finish();
    connection.transaction(|db| {
        versions::lock_accounts(db)?;
        stealer_logs::remove_between(db, breach.id, low, i64::MAX)?;
        Ok(())
    })
}

/// Target duration of a transaction. Loads wait for it.
const TARGET: Duration = Duration::from_millis(500);
/// The first range of keys: one shard of a distributed database.
const FIRST_WIDTH: u64 = 1 << 52;

/// Removes links and pairs by ranges of keys, each in a transaction of a few statements.
fn strip_ranges(
    context: &JobContext,
    connection: &mut RetryingConnection,
    breach: &Breach,
    running: &Running,
) -> Result<(), JobError> {
    let layout = Layout::of(connection.db())?;
    let (mut next, mut width) =
        (running.after.map_or(Some(i64::MIN), |k| k.checked_add(1)), FIRST_WIDTH);
    let progress = ProgressReporter::new("purging", Unit::Items("links"), None);
    while let Some(low) = next {
        let high = low.checked_add_unsigned(width - 1).unwrap_or(i64::MAX);
        let begin = Instant::now();
        let removed = connection.transaction(|db| {
            versions::lock_accounts(db)?;
            let Db::Pg(conn) = &mut *db else { return Ok(0) };
            let removed = accounts::strip_between(conn, layout, breach.id, (low, high))?;
            note_removed(context, db, breach, running.id, high, removed)?;
            Ok(removed)
        })?;
        progress.add(u64::try_from(removed).unwrap_or(0));
        next = high.checked_add(1);
        width = adapted(width, begin.elapsed());
    }
    progress.finish();
    Ok(())
}

/// The width of the next range, after one that took some time.
fn adapted(width: u64, took: Duration) -> u64 {
    let ratio = (TARGET.as_secs_f64() / took.as_secs_f64().max(1e-6)).clamp(0.25, 8.0);
    // The conversion is saturating.
    ((width as f64 * ratio) as u64).max(1)
}

/// Removes the links of appended accounts. No load adds new ones to a retired breach.
fn strip_appended(
    context: &JobContext,
    connection: &mut RetryingConnection,
    breach: &Breach,
    job: i64,
) -> Result<(), JobError> {
    let strip_one = |db: &mut Db| {
        versions::lock_accounts(db)?;
        let Some(removed) = accounts::strip_some(db, breach.id)? else { return Ok(false) };
        breaches::add_loaded(db, breach.id, -removed)?;
        let open = jobs::count(db, job, removed, context.clock.unix())?;
        job::expect_open(db, job, open)?;
        Ok(true)
    };
    while connection.transaction(strip_one)? {}
    Ok(())
}

fn strip(
    context: &JobContext,
    db: &mut Db,
    breach: &Breach,
    job: i64,
    rows: &[AccountRow],
    (low, high): (i64, i64),
) -> Result<(), JobError> {
    versions::lock_accounts(db)?;
    stealer_logs::remove_between(db, breach.id, low, high)?;
    let mut removed = 0;
    for row in rows.iter().filter(|row| id_list::contains(&row.breaches, breach.id)) {
        // Another job may have changed the row since it was read.
        let fresh = accounts::by_place(db, (row.k, row.seq))?;
        if let Some(shorter) = fresh.and_then(|list| id_list::without(&list, breach.id)) {
            account_links::shorten(db, (row.k, row.seq), &shorter)?;
            removed += 1;
        }
    }
    note_removed(context, db, breach, job, high, removed)
}

/// Counts removed links and moves the checkpoint.
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
