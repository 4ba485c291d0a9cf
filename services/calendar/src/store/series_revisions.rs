//! Revisions of series in calendar files. They cover all events of a series, and never go back when
//! an event leaves it.

use database::{DatabaseError, Db};
use diesel::prelude::*;
use diesel::sql_types::BigInt;

use super::sql::Sql;
use crate::model::event::Event;
use crate::model::series::Series;

/// The latest revision of some events.
#[derive(QueryableByName)]
struct Latest {
    #[diesel(sql_type = BigInt)]
    sequence: i64,
    #[diesel(sql_type = BigInt)]
    modified_utc: i64,
}

/// Returns a series with the latest revision of all its events. An event that has its UID without
/// being part of it counts too, because a feed may have had it.
pub fn revised(db: &mut Db, of: &Series) -> Result<Series, DatabaseError> {
    let text = "select coalesce(max(sequence), 0) as sequence, \
         coalesce(max(modified_utc), 0) as modified_utc from events where ical_uid = ";
    let mut sql = Sql::new(db, text);
    sql.bind(of.uid.clone());
    sql.push(" or id in (select event_id from series_events where series_id = ");
    sql.value(of.id).push(")");
    let mut revised = of.clone();
    for Latest { sequence, modified_utc } in sql.load(db)? {
        revised.sequence = revised.sequence.max(sequence);
        revised.modified_utc = revised.modified_utc.max(modified_utc);
    }
    Ok(revised)
}

/// Keeps the revision of an event that is about to leave a series.
pub fn keep(db: &mut Db, event: i64, series: i64) -> Result<(), DatabaseError> {
    let mut sql = Sql::new(db, "select sequence, modified_utc from events where id = ");
    sql.value(event);
    let found: Vec<Latest> = sql.load(db)?;
    for Latest { sequence, modified_utc } in found {
        for (column, value) in [("sequence", sequence), ("modified_utc", modified_utc)] {
            let mut sql = Sql::new(db, "update series set ");
            sql.push(column).push(" = ").value(value).push(" where id = ").value(series);
            sql.push(" and ").push(column).push(" < ").value(value);
            sql.execute(db)?;
        }
    }
    Ok(())
}

/// Keeps the revision of an event that is about to be erased, also if it only has the UID of a
/// series. Otherwise subscribers would ignore later changes.
pub fn keep_erased(db: &mut Db, event: &Event) -> Result<(), DatabaseError> {
    let columns = [("sequence", event.sequence), ("modified_utc", event.modified_utc)];
    for (column, value) in columns {
        let mut sql = Sql::new(db, "update series set ");
        sql.push(column).push(" = ").value(value).push(" where ").push(column).push(" < ");
        sql.value(value).push(" and (id in (select series_id from series_events where event_id = ");
        sql.value(event.id).push(")");
        if let Some(uid) = &event.external_id {
            sql.push(" or uid = ").bind(uid.clone());
        }
        sql.push(")");
        sql.execute(db)?;
    }
    Ok(())
}
