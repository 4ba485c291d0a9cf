//! Load runs.

use database::{DatabaseError, Db};
use diesel::prelude::*;
use serde_json::{Map, Value};

use super::schema::load_run;

#[derive(Clone, Debug, PartialEq, Eq, Queryable)]
pub struct LoadRun {
    /// Run id.
    pub id: i64,
    /// `running`, `published` or `failed`.
    pub state: String,
    /// `replace`, `append` or `rebuild`.
    pub mode: String,
    /// Options and sources, as JSON.
    pub options: String,
    /// Unix time at which the run started.
    pub started_at: i64,
    /// Unix time at which the run finished. `None` if it is still in progress.
    pub ended_at: Option<i64>,
    /// Progress as JSON, for `status`.
    pub progress: String,
    /// Final report as JSON.
    pub report: String,
    /// Error message if the run failed.
    pub error: Option<String>,
}

/// Adds a run and returns its id, which is higher than all others in the database and higher than
/// `known`, the highest id in the index.
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

/// Looks up a run by id.
pub fn find(db: &mut Db, id: u64) -> Result<Option<LoadRun>, DatabaseError> {
    Ok(load_run::table.find(id as i64).first(db).optional()?)
}

/// Returns the last few runs, newest first.
pub fn latest(db: &mut Db, count: i64) -> Result<Vec<LoadRun>, DatabaseError> {
    Ok(load_run::table.order(load_run::id.desc()).limit(count).load(db)?)
}

/// Updates a run's progress.
pub fn set_progress(db: &mut Db, id: u64, progress: &str) -> Result<(), DatabaseError> {
    diesel::update(load_run::table.find(id as i64))
        .set(load_run::progress.eq(progress))
        .execute(db)?;
    Ok(())
}

/// Marks a run as published. Also deletes the list of newer files from its options, since the list
/// can be long. Returns `false` if the run was already marked.
pub fn publish(db: &mut Db, id: u64, report: &str, now: i64) -> Result<bool, DatabaseError> {
    let open = load_run::table.find(id as i64).filter(load_run::state.ne("published"));
    let Some(options) = open.select(load_run::options).first::<String>(db).optional()? else {
        return Ok(false);
    };
    let changed = diesel::update(open)
        .set((
            load_run::state.eq("published"),
            load_run::options.eq(without_newer(options)),
            load_run::ended_at.eq(now),
            load_run::report.eq(report),
            load_run::error.eq(None::<String>),
        ))
        .execute(db)?;
    Ok(changed > 0)
}

/// Replaces a run's report.
pub fn set_report(db: &mut Db, id: u64, report: &str) -> Result<(), DatabaseError> {
    diesel::update(load_run::table.find(id as i64)).set(load_run::report.eq(report)).execute(db)?;
    Ok(())
}

/// Returns the options without the list of newer files.
fn without_newer(options: String) -> String {
    match serde_json::from_str::<Map<String, Value>>(&options) {
        Ok(mut members) => {
            members.remove("newer");
            Value::from(members).to_string()
        }
        Err(_) => options,
    }
}

/// Returns the runs that were published at or after `time`, newest first.
pub fn published_since(db: &mut Db, time: i64) -> Result<Vec<LoadRun>, DatabaseError> {
    let published =
        load_run::table.filter(load_run::state.eq("published")).filter(load_run::ended_at.ge(time));
    Ok(published.order(load_run::id.desc()).load(db)?)
}

/// Marks the runs of killed processes as failed, except for `open`, which can be resumed.
pub fn fail_strays(db: &mut Db, open: Option<u64>, now: i64) -> Result<(), DatabaseError> {
    let open = open.map_or(-1, |open| open as i64);
    let strays =
        load_run::table.filter(load_run::state.eq("running")).filter(load_run::id.ne(open));
    for id in strays.select(load_run::id).load::<i64>(db)? {
        give_up(db, id as u64, "stopped before its first checkpoint", now)?;
    }
    Ok(())
}

/// Returns the id and progress of the run that is recorded as running, if any.
pub fn under_way(db: &mut Db) -> Result<Option<(i64, String)>, DatabaseError> {
    let running = load_run::table.filter(load_run::state.eq("running"));
    Ok(running
        .select((load_run::id, load_run::progress))
        .order(load_run::id.desc())
        .first(db)
        .optional()?)
}

/// Marks a run that won't be resumed as failed, and deletes the list of newer files from its
/// options.
pub fn give_up(db: &mut Db, id: u64, error: &str, now: i64) -> Result<(), DatabaseError> {
    let run = load_run::table.find(id as i64).select(load_run::options);
    if let Some(options) = run.first::<String>(db).optional()? {
        diesel::update(load_run::table.find(id as i64))
            .set(load_run::options.eq(without_newer(options)))
            .execute(db)?;
    }
    fail(db, id, error, now)
}

/// Marks a run as failed.
pub fn fail(db: &mut Db, id: u64, error: &str, now: i64) -> Result<(), DatabaseError> {
    diesel::update(load_run::table.find(id as i64))
        .set((load_run::state.eq("failed"), load_run::ended_at.eq(now), load_run::error.eq(error)))
        .execute(db)?;
    Ok(())
}
