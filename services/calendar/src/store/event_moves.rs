//! Former start times of events.

use std::collections::HashMap;

use database::{DatabaseError, Db, on_backend};
use diesel::prelude::*;

use super::among_ids::among;
use super::schema::event_moves;
use super::sql::Sql;
use crate::model::event::Event;
use crate::model::event_status::{EventStatus, Occurring};
use crate::model::schedule::{instant_from_seconds, wall_from_seconds};
use crate::model::zone::Zone;

/// Records an event's former start if the event was moved. An all-day event has dates rather than
/// times, so changing its zone doesn't move it.
pub fn note(db: &mut Db, old: &Event, new: &Event) -> Result<(), DatabaseError> {
    let (was, is) = (&old.schedule, &new.schedule);
    if was.all_day && is.all_day && was.start_local == is.start_local {
        // The former start can be a different instant in the new zone, even if the current start
        // isn't.
        return match was.zone == is.zone {
            true => Ok(()),
            false => move_zone(db, new.id, (&was.zone, &is.zone)),
        };
    }
    if was.start_utc == is.start_utc {
        return Ok(());
    }
    let same_wall = || is.zone.instant(wall_from_seconds(was.start_local));
    let previous = match is.all_day {
        true => same_wall().map_or(was.start_utc, |at| at.as_second()),
        false => was.start_utc,
    };
    let mut sql = Sql::new(db, "insert into event_moves (event_id, previous_start) values (");
    sql.value(new.id).push(", ").value(previous).push(") ");
    sql.push("on conflict (event_id) do update set previous_start = excluded.previous_start");
    sql.execute(db).map(drop)
}

/// Preserves the date of the former start when an all-day event's zone changes.
fn move_zone(db: &mut Db, event: i64, (old, new): (&Zone, &Zone)) -> Result<(), DatabaseError> {
    let known: Option<i64> = on_backend!(db, conn => event_moves::table
        .find(event)
        .select(event_moves::previous_start)
        .first(conn)
        .optional()?);
    let Some(known) = known else { return Ok(()) };
    let wall = old.wall(instant_from_seconds(known));
    let Some(moved) = new.instant(wall) else { return Ok(()) };
    let mut sql = Sql::new(db, "update event_moves set previous_start = ");
    sql.value(moved.as_second()).push(" where event_id = ").value(event);
    sql.execute(db).map(drop)
}

/// Returns the former starts of rescheduled events, keyed by event id, given the statuses of all
/// events. Most lists don't contain any such events, so they don't need a query.
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
