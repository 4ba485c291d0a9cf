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

impl LoadRun {
    /// Returns the Unix time at which the run's listing began: the start of the run or, if it
    /// publishes stored pages of a crawl, of that listing.
    pub fn begun_at(&self) -> i64 {
        let options = serde_json::from_str::<Value>(&self.options).unwrap_or_default();
        let sources = options.get("sources").and_then(Value::as_array).into_iter().flatten();
        let listings = sources.filter_map(|source| source.pointer("/stored/begun_at"));
        listings.filter_map(Value::as_i64).min().unwrap_or(self.started_at)
    }
}

/// How long to keep finished runs, in seconds.
const KEPT: i64 = 90 * 86_400;
/// Maximum number of old runs to delete when another one begins.
const MOST_DELETED: i64 = 100;

/// Adds a run and returns its id, which is higher than all others in the database and higher than
/// `known`, the highest id in the index. Also deletes old runs, since every crawl adds one. Their
/// rejected lines must be gone already.
pub fn begin(
    db: &mut Db,
    known: u64,
    mode: &str,
    options: &str,
    now: i64,
) -> Result<u64, DatabaseError> {
    let last: Option<i64> = load_run::table.select(diesel::dsl::max(load_run::id)).first(db)?;
    let id = last.unwrap_or(0).max(known as i64) + 1;
    delete_old(db, known, now)?;
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

/// Deletes the oldest finished runs, except for `known`, which can still be open in the index.
fn delete_old(db: &mut Db, known: u64, now: i64) -> Result<(), DatabaseError> {
    let oldest: Vec<(i64, i64)> = load_run::table
        .select((load_run::id, load_run::started_at))
        .order(load_run::id.asc())
        .limit(MOST_DELETED)
        .load(db)?;
    let old = oldest.into_iter().take_while(|(_, started_at)| *started_at < now - KEPT);
    let Some((last, _)) = old.last() else { return Ok(()) };
    let finished = load_run::state.ne("running").and(load_run::id.ne(known as i64));
    diesel::delete(load_run::table.filter(load_run::id.le(last)).filter(finished)).execute(db)?;
    Ok(())
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

/// Returns the ids of the runs that were published at or after `time`, newest first. There can be
/// many, so callers read them one at a time.
pub fn published_since(db: &mut Db, time: i64) -> Result<Vec<u64>, DatabaseError> {
    let published =
        load_run::table.filter(load_run::state.eq("published")).filter(load_run::ended_at.ge(time));
    let ids: Vec<i64> = published.select(load_run::id).order(load_run::id.desc()).load(db)?;
    Ok(ids.into_iter().map(|id| id as u64).collect())
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

#[cfg(test)]
mod tests {
    use diesel::sql_types::Text;
    use testkit::Database;

    use super::*;
    use crate::store::MIGRATIONS;

    #[test]
    fn old_runs_are_deleted_unless_they_can_be_resumed() {
        let database = Database::new();
        let pools = database.open(&[&auth::MIGRATIONS, &MIGRATIONS]);
        let begun = |known: u64, now: i64| {
            pools.write_blocking(|db| begin(db, known, "replace", "{}", now)).unwrap()
        };
        let [first, running, open, published] = [(); 4].map(|()| begun(0, 1));
        for id in [first, open] {
            pools.write_blocking(|db| fail(db, id, "stopped", 2)).unwrap();
        }
        let done = pools.write_blocking(|db| publish(db, published, "{}", 2));
        assert!(done.unwrap());
        let is_kept = |id: &u64| pools.read_blocking(|db| find(db, *id)).unwrap().is_some();
        let kept = || (1..=9).filter(is_kept).collect::<Vec<u64>>();
        let young = begun(open, 1 + KEPT);
        assert_eq!(kept(), [first, running, open, published, young]);
        let newest = begun(open, 2 + KEPT);
        assert_eq!(kept(), [running, open, young, newest]);
    }

    #[derive(QueryableByName)]
    struct Step {
        #[diesel(sql_type = Text)]
        detail: String,
    }

    /// Servers look for a running run each second, and there is a run for each crawl.
    #[test]
    fn runs_are_found_by_an_index() {
        let database = Database::new();
        let pools = database.open(&[&auth::MIGRATIONS, &MIGRATIONS]);
        if pools.file().is_none() {
            return;
        }
        let mut db = pools.connect().unwrap();
        for condition in ["state = 'running'", "state = 'published' AND ended_at >= 5"] {
            let query = format!(
                "EXPLAIN QUERY PLAN SELECT id FROM load_run WHERE {condition} ORDER BY id DESC"
            );
            let plan: Vec<Step> = diesel::sql_query(query).load(&mut db).unwrap();
            let plan: Vec<String> = plan.into_iter().map(|step| step.detail).collect();
            assert!(plan[0].contains("load_run_state"), "{plan:?}");
        }
    }
}
