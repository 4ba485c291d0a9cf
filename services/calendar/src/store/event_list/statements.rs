//! SQL of the lists that database indexes answer.

use database::{Backend, Db};

use super::fast_paths::{LinkFilter, is_overlap_page, single_link};
use crate::model::event::LONG;
use crate::model::list::{EventFilter, Slice};
use crate::model::window::{Limits, Window};
use crate::store::conditions::{DRIFT, visible, within};
use crate::store::counts;
use crate::store::sql::Sql;

/// Builds the statement that reads the ids of a page. A test checks its plan.
pub fn page_statement(db: &Db, filter: &EventFilter, slice: Slice) -> Sql {
    let mut sql = Sql::new(db, "");
    append_page(&mut sql, filter, slice);
    sql
}

/// Appends the statement that reads the ids of a page.
pub fn append_page(sql: &mut Sql, filter: &EventFilter, slice: Slice) {
    if let Some(link) = single_link(filter) {
        from_link(sql, &link, &filter.window);
    } else if is_overlap_page(filter) {
        from_overlap(sql, filter, slice);
    } else {
        sql.push("select e.id as id from events e where ");
        visible(sql, &filter.scope);
        within(sql, &filter.window);
    }
    order_by(sql, filter, slice.backwards);
    sql.push(" limit ").value(slice.take).push(" offset ").value(slice.skip);
}

/// Appends the statement that counts a public list.
pub fn append_public_total(sql: &mut Sql, filter: &EventFilter) {
    match single_link(filter) {
        Some(link) => count_linked(sql, &link, &filter.window),
        None => counts::statement(sql, &filter.window),
    }
}

/// Appends the statement that counts the unpublished events of a plain list.
pub fn append_unpublished_count(sql: &mut Sql, filter: &EventFilter) {
    sql.push("select count(*) as n from events e where e.pub = 0 and ");
    visible(sql, &filter.scope);
    within(sql, &filter.window);
}

/// Appends the order by start. A descending order keeps the order of ties.
fn order_by(sql: &mut Sql, filter: &EventFilter, backwards: bool) {
    let way = |turned: bool| if turned { " desc" } else { "" };
    sql.push(" order by e.start_local").push(way(filter.descending != backwards));
    sql.push(", e.published_utc").push(way(backwards));
    // Ids are selected under the name `id`.
    sql.push(", id").push(way(backwards));
}

/// Reads everything from the copied columns of a link table, without the events table.
fn from_link(sql: &mut Sql, link: &LinkFilter<'_>, window: &Window) {
    sql.push("select e.event_id as id from ").push(link.table);
    sql.push(" e where e.pub = 1 and e.other_id ").among(link.ids);
    within(sql, window);
    if link.ids.len() > 1 {
        sql.push(" group by e.event_id, e.start_local, e.published_utc");
    }
}

/// Appends the statement that counts the events of a link filter.
pub fn count_linked(sql: &mut Sql, link: &LinkFilter<'_>, window: &Window) {
    sql.push("select count(*) as n from (");
    from_link(sql, link, window);
    sql.push(") x");
}

/// Reads short events from a range of their starts and long ones from their own index, each limited
/// to what the page can need.
fn from_overlap(sql: &mut Sql, filter: &EventFilter, slice: Slice) {
    // In local time or UTC, short events start at most this long before they end.
    let short = |limits: Limits| {
        let start_min = limits.end_min.map(|end| end.saturating_sub(LONG));
        Limits { start_min, ..limits }
    };
    let Window { wall, utc } = filter.window;
    let columns = "select e.id, e.start_local, e.published_utc from events e where e.pub = 1";
    sql.push("select e.id as id from (select * from (").push(columns).push(" and e.is_long = 0");
    within(sql, &Window { wall: short(wall), utc: short(utc) });
    first(sql, filter, slice);
    sql.push(") s union all select * from (").push(columns).push(" and e.is_long = 1");
    within(sql, &filter.window);
    if let Some(end) = utc.end_min {
        sql.push(" and e.end_local >= ").value(end.saturating_sub(DRIFT));
    }
    match sql.backend() {
        Backend::Sqlite => first(sql, filter, slice),
        // With a limit, PostgreSQL would search all events for the first ones.
        Backend::Postgres => {
            sql.push(" offset 0");
        }
    }
    sql.push(") l) e");
}

/// Appends the order of the list, limited to what the page can need.
fn first(sql: &mut Sql, filter: &EventFilter, slice: Slice) {
    order_by(sql, filter, slice.backwards);
    sql.push(" limit ").value(slice.skip.saturating_add(slice.take));
}
