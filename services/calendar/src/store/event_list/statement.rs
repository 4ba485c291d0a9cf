//! Answers list requests with SQL while the in-memory index is being built. Search words and clock
//! changes aren't supported.

use database::{Backend, DatabaseError, Db};

use crate::model::list::{EventFilter, EventOrder, Paging, Slice};
use crate::store::conditions::within;
use crate::store::event_index::columns::append_conditions;
use crate::store::event_index::links::link_filters;
use crate::store::sql::Sql;

/// Returns the ids on a page and the total number of matches. Must run in a read transaction.
pub fn page(
    db: &mut Db,
    filter: &EventFilter,
    paging: Paging,
) -> Result<(Vec<i64>, i64), DatabaseError> {
    let mut sql = Sql::new(db, "select count(*) as n from ");
    append_filter(db, &mut sql, filter)?;
    let total = sql.number(db)?;
    let Some(slice) = Slice::of(paging, total) else { return Ok((Vec::new(), total)) };
    let mut ids = page_statement(db, filter, slice)?.load_ids(db)?;
    if slice.backwards {
        ids.reverse();
    }
    Ok((ids, total))
}

/// Builds the statement that reads the ids in a slice. A test checks its query plan.
pub fn page_statement(
    db: &mut Db,
    filter: &EventFilter,
    slice: Slice,
) -> Result<Sql, DatabaseError> {
    let mut sql = Sql::new(db, "select e.id as id from ");
    append_filter(db, &mut sql, filter)?;
    append_order(&mut sql, filter, slice.backwards);
    sql.push(" limit ").value(slice.take).push(" offset ").value(slice.skip);
    Ok(sql)
}

/// Appends a `FROM` source, with the alias `e`, for the events that a list request selects.
fn append_filter(db: &mut Db, sql: &mut Sql, filter: &EventFilter) -> Result<(), DatabaseError> {
    if let Some(now) = filter.collapsed_at {
        // Each event without a series forms its own group.
        sql.push(
            "(select e.*, row_number() over (partition by coalesce((select series_id from \
             series_events where event_id = e.id), -e.id) order by case when e.end_utc < ",
        );
        sql.value(now)
            .push(" then 2 when exists (select 1 from event_statuses s where s.event_id = ");
        sql.push("e.id and s.status = 'cancelled') then 1 else 0 end, case when e.end_utc < ");
        sql.value(now);
        sql.push(" then -e.start_utc else e.start_utc end, e.published_utc, e.id) as place from ");
        append_matches(db, sql, filter)?;
        sql.push(") e where e.place = 1");
        return Ok(());
    }
    append_matches(db, sql, filter)
}

fn append_matches(db: &mut Db, sql: &mut Sql, filter: &EventFilter) -> Result<(), DatabaseError> {
    sql.push("events e where ");
    append_conditions(sql, filter);
    within(sql, &filter.window);
    for links in link_filters(db, filter)? {
        sql.push(" and e.id in (select event_id from ").push(links.table.name());
        sql.push(" where other_id ").among(&links.ids).push(")");
    }
    if let Some(ids) = &filter.include {
        sql.push(" and e.id ").among(ids);
    }
    if let Some(parent) = filter.parent {
        sql.push(" and e.parent_id = ").value(parent);
    }
    if let Some(series) = filter.series {
        sql.push(" and e.id in (select event_id from series_events where series_id = ");
        sql.value(series).push(")");
    }
    Ok(())
}

/// Appends the sort order. Ties aren't reversed in descending order.
fn append_order(sql: &mut Sql, filter: &EventFilter, backwards: bool) {
    // The search text starts with the case-folded title.
    let title = match sql.backend() {
        Backend::Sqlite => "substr(e.search_ci, 1, instr(e.search_ci || char(10), char(10)) - 1)",
        Backend::Postgres => "split_part(e.search_ci, chr(10), 1)",
    };
    let way = |turned: bool| if turned { " desc" } else { "" };
    sql.push(" order by ");
    match filter.order {
        EventOrder::Start => sql.push("e.start_local"),
        EventOrder::Date => sql.push("e.published_utc"),
        EventOrder::Title => sql.sorted(title),
        EventOrder::Id => sql.push("e.id"),
    };
    sql.push(way(filter.descending != backwards));
    if filter.order == EventOrder::Start {
        sql.push(", e.published_utc").push(way(backwards));
    }
    if filter.order != EventOrder::Id {
        sql.push(", e.id").push(way(backwards));
    }
}
