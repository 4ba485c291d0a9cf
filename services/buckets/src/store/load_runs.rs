//! Load runs.

use database::{DatabaseError, Db};
use diesel::prelude::*;

use super::schema::load_run;

/// A load run.
#[derive(Clone, Debug, PartialEq, Eq, Queryable)]
pub struct LoadRun {
    /// Identifier.
    pub id: i64,
    /// `running`, `published` or `failed`.
    pub state: String,
    /// `replace` or `append`.
    pub mode: String,
    /// Options and sources, as the loader wrote them.
    pub options: String,
    /// Unix seconds.
    pub started_at: i64,
    /// Unix seconds.
    pub ended_at: Option<i64>,
    /// Progress in JSON, for `status`.
    pub progress: String,
    /// Final report in JSON.
    pub report: String,
    /// Why it failed.
    pub error: Option<String>,
}

/// Begins a run and gives its id, which is above all so far and above `known`: the index knows runs by
/// their ids, also such as a database that was restored has forgotten.
pub fn begin(
    db: &mut Db,
    known: u64,
    mode: &str,
    options: &str,
    now: i64,
) -> Result<u64, DatabaseError> {
    let last: Option<i64> = load_run::table.select(diesel::dsl::max(load_run::id)).first(db)?;
    let id = last.unwrap_or(0).max(known as i64) + 1;
    diesel::insert_into(load_run::table)
        .values((
            load_run::id.eq(id),
            load_run::state.eq("running"),
            load_run::mode.eq(mode),
            load_run::options.eq(options),
            load_run::started_at.eq(now),
        ))
        .execute(db)?;
    Ok(id as u64)
}

/// A run by its id.
pub fn find(db: &mut Db, id: u64) -> Result<Option<LoadRun>, DatabaseError> {
    Ok(load_run::table.find(id as i64).first(db).optional()?)
}

/// The last runs, newest first.
pub fn latest(db: &mut Db, count: i64) -> Result<Vec<LoadRun>, DatabaseError> {
    Ok(load_run::table.order(load_run::id.desc()).limit(count).load(db)?)
}

/// Writes how far a run is.
pub fn set_progress(db: &mut Db, id: u64, progress: &str) -> Result<(), DatabaseError> {
    diesel::update(load_run::table.find(id as i64))
        .set(load_run::progress.eq(progress))
        .execute(db)?;
    Ok(())
}

/// Ends a run as published; false when it had ended so before.
pub fn publish(db: &mut Db, id: u64, report: &str, now: i64) -> Result<bool, DatabaseError> {
    let open = load_run::table.find(id as i64).filter(load_run::state.ne("published"));
    let changed = diesel::update(open)
        .set((
            load_run::state.eq("published"),
            load_run::ended_at.eq(now),
            load_run::report.eq(report),
            load_run::error.eq(None::<String>),
        ))
        .execute(db)?;
    Ok(changed > 0)
}

/// Ends as failed what a killed process left as running; `open` can still be resumed.
pub fn fail_strays(db: &mut Db, open: Option<u64>, now: i64) -> Result<(), DatabaseError> {
    let open = open.map_or(-1, |open| open as i64);
    let strays =
        load_run::table.filter(load_run::state.eq("running")).filter(load_run::id.ne(open));
    diesel::update(strays)
        .set((
            load_run::state.eq("failed"),
            load_run::ended_at.eq(now),
            load_run::error.eq("stopped without a checkpoint"),
        ))
        .execute(db)?;
    Ok(())
}

/// The run that is under way, as far as SQL knows.
pub fn under_way(db: &mut Db) -> Result<Option<LoadRun>, DatabaseError> {
    let running = load_run::table.filter(load_run::state.eq("running"));
    Ok(running.order(load_run::id.desc()).first(db).optional()?)
}

/// Ends a run as failed.
pub fn fail(db: &mut Db, id: u64, error: &str, now: i64) -> Result<(), DatabaseError> {
    diesel::update(load_run::table.find(id as i64))
        .set((load_run::state.eq("failed"), load_run::ended_at.eq(now), load_run::error.eq(error)))
        .execute(db)?;
    Ok(())
}
