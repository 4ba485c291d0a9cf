//! Lines rejected by load runs.

use database::{DatabaseError, Db, on_backend};
use diesel::prelude::*;

use super::schema::rejected;

/// Maximum number of lines to store per run.
pub const MOST_KEPT: usize = 10_000;

/// A rejected line.
#[derive(Clone, Debug, PartialEq, Eq, Insertable)]
#[diesel(table_name = rejected)]
pub struct Rejected {
    pub run_id: i64,
    pub source: String,
    /// Line or entry number.
    pub position: i64,
    pub reason: String,
    /// The start of the line or entry.
    pub excerpt: String,
}

pub fn add(db: &mut Db, lines: &[Rejected]) -> Result<(), DatabaseError> {
    for lines in lines.chunks(500) {
        on_backend!(db, conn =>
            diesel::insert_into(rejected::table).values(lines).execute(conn))?;
    }
    Ok(())
}

/// Deletes the lines of all runs.
pub fn clear(db: &mut Db) -> Result<(), DatabaseError> {
    diesel::delete(rejected::table).execute(db)?;
    Ok(())
}

/// Deletes all lines of a run except the first `count`.
pub fn keep_first(db: &mut Db, run: u64, count: usize) -> Result<(), DatabaseError> {
    let own = rejected::run_id.eq(run as i64);
    let next: Option<i64> = rejected::table
        .filter(own)
        .order(rejected::id.asc())
        .offset(count as i64)
        .limit(1)
        .select(rejected::id)
        .first(db)
        .optional()?;
    if let Some(next) = next {
        diesel::delete(rejected::table.filter(own).filter(rejected::id.ge(next))).execute(db)?;
    }
    Ok(())
}

/// Returns the first rejected lines of a run, in order of occurrence.
pub fn of_run(db: &mut Db, run: u64, count: i64) -> Result<Vec<Rejected>, DatabaseError> {
    let rows: Vec<(i64, String, i64, String, String)> = rejected::table
        .filter(rejected::run_id.eq(run as i64))
        .order(rejected::id.asc())
        .limit(count)
        .select((
            rejected::run_id,
            rejected::source,
            rejected::position,
            rejected::reason,
            rejected::excerpt,
        ))
        .load(db)?;
    Ok(rows
        .into_iter()
        .map(|(run_id, source, position, reason, excerpt)| Rejected {
            run_id,
            source,
            position,
            reason,
            excerpt,
        })
        .collect())
}
