//! Statuses of events that aren't going ahead as announced.

use std::collections::HashMap;

use database::{DatabaseError, Db, on_backend};
use diesel::prelude::*;

use super::among_ids::among;
use super::schema::event_statuses;
use super::sql::Sql;
use crate::model::event_status::{EventStatus, Occurring};

/// A row in the `event_statuses` table.
#[derive(Queryable)]
pub struct Row {
    event: i64,
    status: String,
    reason: String,
}

pub fn by_event(rows: impl Iterator<Item = Row>) -> HashMap<i64, EventStatus> {
    let status = |row: Row| {
        let occurring = Occurring::parse(&row.status).unwrap_or_default();
        (row.event, EventStatus { occurring, reason: row.reason })
    };
    rows.map(status).collect()
}

/// Returns the statuses of these events. Events that are going ahead as announced have no entry.
pub fn of_events(db: &mut Db, ids: &[i64]) -> Result<HashMap<i64, EventStatus>, DatabaseError> {
    if ids.is_empty() {
        return Ok(HashMap::new());
    }
    let rows: Vec<Row> = on_backend!(db, conn => event_statuses::table
        .filter(among(event_statuses::event_id, ids))
        .select((event_statuses::event_id, event_statuses::status, event_statuses::reason))
        .load(conn)?);
    Ok(by_event(rows.into_iter()))
}

pub fn of_event(db: &mut Db, id: i64) -> Result<EventStatus, DatabaseError> {
    Ok(of_events(db, &[id])?.remove(&id).unwrap_or_default())
}

pub fn replace(db: &mut Db, event: i64, status: &EventStatus) -> Result<(), DatabaseError> {
    if status.occurring == Occurring::Scheduled {
        diesel::delete(event_statuses::table.find(event)).execute(db)?;
        return Ok(());
    }
    let text = "insert into event_statuses (event_id, status, reason) values (";
    let mut sql = Sql::new(db, text);
    sql.value(event).push(", ").bind(status.occurring.name().to_owned()).push(", ");
    sql.bind(status.reason.clone());
    sql.push(") on conflict (event_id) do update set status = excluded.status, ");
    sql.push("reason = excluded.reason");
    sql.execute(db).map(drop)
}
