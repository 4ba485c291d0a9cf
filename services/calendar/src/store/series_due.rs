//! Keeps track of when more events have to be created for a series.

use database::{DatabaseError, Db};
use diesel::prelude::*;

use super::schema::series;
use super::series::Row;
use super::sql::Sql;
use crate::model::series::Series;

/// Returns the ids of up to `most` series that need more events.
pub fn due(db: &mut Db, now: i64, most: i64) -> Result<Vec<i64>, DatabaseError> {
    let mut sql = Sql::new(db, "select id from series where due_utc <= ");
    sql.value(now).push(" order by due_utc, id limit ").value(most);
    sql.load_ids(db)
}

/// Returns up to `most` series with events due later than `now`, ordered by id and starting after
/// `last`.
pub fn due_later(
    db: &mut Db,
    now: i64,
    (last, most): (i64, i64),
) -> Result<Vec<Series>, DatabaseError> {
    let later = series::table.filter(series::due_utc.gt(now).and(series::id.gt(last)));
    let rows: Vec<Row> = later.select(Row::as_select()).order(series::id).limit(most).load(db)?;
    Ok(rows.into_iter().map(Series::from).collect())
}

/// Makes a series due now, unless it already is.
pub fn make_due(db: &mut Db, id: i64, now: i64) -> Result<(), DatabaseError> {
    let later = series::table.filter(series::id.eq(id).and(series::due_utc.gt(now)));
    diesel::update(later).set(series::due_utc.eq(now)).execute(db)?;
    Ok(())
}

/// Records up to when a series' events have been created, and when the next ones are due.
pub fn note_made(
    db: &mut Db,
    id: i64,
    (made_until, due_utc): (i64, Option<i64>),
) -> Result<(), DatabaseError> {
    diesel::update(series::table.find(id))
        .set((series::made_until.eq(made_until), series::due_utc.eq(due_utc)))
        .execute(db)?;
    Ok(())
}
