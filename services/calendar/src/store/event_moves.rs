//! The former starts of events.

use std::collections::HashMap;

use database::{DatabaseError, Db, on_backend};
use diesel::prelude::*;

use super::among_ids::among;
use super::schema::event_moves;
use super::sql::Sql;
use crate::model::event::Event;
use crate::model::event_status::{EventStatus, Occurring};

/// Records the former start of an event if it was moved.
pub fn note(db: &mut Db, old: &Event, new: &Event) -> Result<(), DatabaseError> {
    if old.schedule.start_utc == new.schedule.start_utc {
        return Ok(());
    }
    let mut sql = Sql::new(db, "insert into event_moves (event_id, previous_start) values (");
    sql.value(new.id).push(", ").value(old.schedule.start_utc).push(") ");
    sql.push("on conflict (event_id) do update set previous_start = excluded.previous_start");
    sql.execute(db).map(drop)
}

/// Returns the former starts of rescheduled events by event id, given the statuses of all events.
/// Most lists don't have such events, and don't need a statement.
pub fn of_rescheduled(
    db: &mut Db,
    statuses: &HashMap<i64, EventStatus>,
) -> Result<HashMap<i64, i64>, DatabaseError> {
    let moved = statuses.iter().filter(|(_, status)| status.occurring == Occurring::Rescheduled);
    let ids: Vec<i64> = moved.map(|(id, _)| *id).collect();
    if ids.is_empty() {
        return Ok(HashMap::new());
    }
    let rows: Vec<(i64, i64)> = on_backend!(db, conn => event_moves::table
        .filter(among(event_moves::event_id, &ids))
        .select((event_moves::event_id, event_moves::previous_start))
        .load(conn)?);
    Ok(rows.into_iter().collect())
}
