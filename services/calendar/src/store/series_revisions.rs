//! Series revisions in calendar files. A series' revision covers all of its events, and must not
//! decrease when an event leaves the series.

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

/// Selects the latest revision of all events that have this UID or belong to this series. There is
/// an index for each of the two conditions, but PostgreSQL would read the whole table to check both
/// at once.
pub fn latest_statement(db: &Db, uid: &str, series: i64) -> Sql {
    let text = "select coalesce(max(sequence), 0) as sequence, \
         coalesce(max(modified_utc), 0) as modified_utc from (\
         select sequence, modified_utc from events where ical_uid = ";
    let mut sql = Sql::new(db, text);
    sql.bind(uid).push(" union all select e.sequence, e.modified_utc from series_events m ");
    sql.push("join events e on e.id = m.event_id where m.series_id = ").value(series);
    sql.push(") latest");
    sql
}

/// Returns a series with the latest revision of all its events. This includes an event that has the
/// series UID but isn't part of the series, because a feed might have listed that event.
pub fn revised(db: &mut Db, series: &Series) -> Result<Series, DatabaseError> {
    let mut revised = series.clone();
    for Latest { sequence, modified_utc } in
        latest_statement(db, &series.uid, series.id).load(db)?
    {
        revised.sequence = revised.sequence.max(sequence);
        revised.modified_utc = revised.modified_utc.max(modified_utc);
    }
    Ok(revised)
}

/// Preserves the revision of an event that is about to leave a series.
pub fn keep(db: &mut Db, event: i64, series: i64) -> Result<(), DatabaseError> {
    let mut sql = Sql::new(db, "select sequence, modified_utc from events where id = ");
    sql.value(event);
    let found: Vec<Latest> = sql.load(db)?;
    let revision = |latest: Latest| (latest.sequence, latest.modified_utc);
    found.into_iter().try_for_each(|latest| raise(db, revision(latest), (Some(series), None)))
}

/// Preserves the revision of an event that is about to be erased, if it belongs to this series or
/// just has a series UID. Otherwise, subscribers would ignore later changes.
pub fn keep_erased(db: &mut Db, event: &Event, series: Option<i64>) -> Result<(), DatabaseError> {
    let revision = (event.sequence, event.modified_utc);
    raise(db, revision, (series, event.external_id.as_deref()))
}

fn raise(
    db: &mut Db,
    revision: (i64, i64),
    series: (Option<i64>, Option<&str>),
) -> Result<(), DatabaseError> {
    for statement in keep_statements(db, revision, series) {
        statement.execute(db)?;
    }
    Ok(())
}

/// Raises the revisions of two series: the one with this id and the one with this UID. Each
/// statement uses a single index.
pub fn keep_statements(
    db: &Db,
    (sequence, modified_utc): (i64, i64),
    (series, uid): (Option<i64>, Option<&str>),
) -> Vec<Sql> {
    let mut statements = Vec::new();
    for (column, value) in [("sequence", sequence), ("modified_utc", modified_utc)] {
        let text = format!("update series set {column} = {value} where {column} < {value} and ");
        if let Some(id) = series {
            statements.push(Sql::new(db, &format!("{text}id = {id}")));
        }
        if let Some(uid) = uid {
            let mut sql = Sql::new(db, &format!("{text}uid = "));
            sql.bind(uid);
            statements.push(sql);
        }
    }
    statements
}
