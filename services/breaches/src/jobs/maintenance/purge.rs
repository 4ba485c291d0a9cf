//! Removes a breach from all accounts, in key order and in batches.

use batch::{ProgressReporter, Unit};
use database::Db;

use crate::jobs::context::JobContext;
use crate::jobs::error::JobError;
use crate::jobs::job::{self, Params, Running};
use crate::jobs::retry::RetryingConnection;
use crate::model::{Breach, id_list, instant};
use crate::store::accounts::{self, AccountRow};
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
    strip_appended(context, &mut connection, breach, running.id)?;
    let mut after = running.after.map_or((i64::MIN, -1), |k| (k, i16::MAX));
    let progress = ProgressReporter::new("purging", Unit::Items("accounts"), None);
    loop {
        let rows = accounts::page(connection.db(), after)?;
        let Some(last) = rows.last().map(|row| row.k) else { break };
        let low = after.0;
        connection.transaction(|db| strip(context, db, breach, running.id, &rows, (low, last)))?;
        after = (last, i16::MAX);
        progress.add(rows.len() as u64);
    }
    progress.finish();
    let now = context.clock.unix();
    connection.transaction(|db| {
        versions::lock_accounts(db)?;
        stealer_logs::remove_between(db, breach.id, after.0, i64::MAX)?;
        versions::bump_catalogue(db, now)?;
        jobs::finish(db, running.id, now)?;
        Ok(())
    })
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
    breaches::add_loaded(db, breach.id, -removed)?;
    let now = context.clock.unix();
    let moved = jobs::advance(db, job, &high.to_le_bytes(), removed, now)?;
    job::expect_open(db, job, moved)
}
