//! Feed queries, other than the lists themselves.

use std::ffi::CStr;

use database::{DatabaseError, Db};
use diesel::prelude::*;

use super::conditions::within;
use super::event_index::columns::append_columns;
use super::schema::content_version;
use super::sql::Sql;
use crate::model::list::EventFilter;

/// Matches formerly public events `e` that were trashed at or after a given time, based on their
/// tombstones `w`. The time must follow in the statement.
const WITHDRAWN: &str = "w.was_public and e.status = 'trash' and e.prev_status = 'publish' \
     and e.listed and w.withdrawn_utc >= ";

/// The query of [`version`].
pub const VERSION_QUERY: &CStr = c"SELECT n FROM content_version LIMIT 1";

/// Returns a number that increases whenever an event, or any resource shown with events, changes.
pub fn version(db: &mut Db) -> Result<i64, DatabaseError> {
    Ok(content_version::table.select(content_version::n).first(db)?)
}

/// Returns the ids of up to `most` formerly public events that have been trashed since `since` and
/// would otherwise be in the list. Always empty for requests with search words or a location
/// filter.
pub fn withdrawn(
    db: &mut Db,
    filter: &EventFilter,
    (since, most): (i64, i64),
) -> Result<Vec<i64>, DatabaseError> {
    let is_simple = filter.words.count() == 0 && filter.geo.is_none() && !filter.matches_nothing;
    if !is_simple || !filter.scope.published {
        return Ok(Vec::new());
    }
    let text = "select e.id from event_tombstones w join events e on e.id = w.event_id where ";
    let mut sql = Sql::new(db, text);
    sql.push(WITHDRAWN).value(since);
    within(&mut sql, &filter.window);
    let linked = [
        ("event_terms", &filter.categories),
        ("event_terms", &filter.tags),
        ("event_venues", &filter.venues),
        ("event_organizers", &filter.organizers),
    ];
    for (table, ids) in linked {
        if let Some(ids) = ids {
            sql.push(" and exists (select 1 from ").push(table);
            sql.push(" l where l.event_id = e.id and l.other_id in ").ids(ids).push(")");
        }
    }
    if let Some(ids) = &filter.include {
        sql.push(" and e.id in ").ids(ids);
    }
    if let Some(parent) = filter.parent {
        sql.push(" and e.parent_id = ").value(parent);
    }
    if let Some(series) = filter.series {
        sql.push(" and exists (select 1 from series_events m where m.event_id = e.id");
        sql.push(" and m.series_id = ").value(series).push(")");
    }
    append_columns(&mut sql, filter);
    sql.push(" order by e.start_local, e.id limit ").value(most);
    sql.load_ids(db)
}

/// Returns whether any of these events is public, or was public and has been trashed since `since`.
pub fn have_any(db: &mut Db, ids: &[i64], since: i64) -> Result<bool, DatabaseError> {
    let mut sql = Sql::new(db, "select count(*) as n from events e where e.id in ");
    sql.ids(ids).push(" and (e.pub = 1 or exists (select 1 from event_tombstones w where ");
    sql.push("w.event_id = e.id and ").push(WITHDRAWN).value(since).push("))");
    Ok(sql.number(db)? > 0)
}
