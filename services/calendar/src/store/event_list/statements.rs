//! The statements of lists of events.

use database::{Backend, Db};

use super::candidates::Candidates;
use super::fast_paths::{LinkFilter, is_overlap_page, is_plain, links, single_link};
use crate::model::list::{EventFilter, EventOrder, Slice};
use crate::model::search::Words;
use crate::model::window::Window;
use crate::store::conditions::{visible, within};
use crate::store::counts;
use crate::store::sql::Sql;

/// Words shorter than this are not in the trigram index.
const INDEXED_CHARACTERS: usize = 3;

/// Builds the statement that reads the ids of a page; a test asks for its plan.
pub fn page_statement(db: &Db, filter: &EventFilter, candidates: &Candidates, slice: Slice) -> Sql {
    let mut sql = Sql::new(db, "");
    append_page(&mut sql, filter, candidates, slice);
    sql
}

/// Appends the statement that reads the ids of a page.
pub fn append_page(sql: &mut Sql, filter: &EventFilter, candidates: &Candidates, slice: Slice) {
    if let Some(link) = single_link(filter) {
        from_link(sql, &link, &filter.window);
    } else if is_overlap_page(filter) {
        from_overlap(sql, &filter.window);
    } else {
        sql.push("select e.id as id ");
        from_events(sql, filter, candidates);
    }
    order_by(sql, filter.order, filter.descending != slice.backwards);
    sql.push(" limit ").value(slice.take).push(" offset ").value(slice.skip);
}

/// Appends the statement that counts a public list.
pub fn append_public_total(sql: &mut Sql, filter: &EventFilter, candidates: &Candidates) {
    if let Some(link) = single_link(filter) {
        count_linked(sql, &link, &filter.window);
    } else if is_plain(filter) {
        counts::statement(sql, &filter.window);
    } else {
        append_count(sql, filter, candidates);
    }
}

/// Appends the statement that counts what any filter matches.
pub fn append_count(sql: &mut Sql, filter: &EventFilter, candidates: &Candidates) {
    sql.push("select count(*) as n ");
    from_events(sql, filter, candidates);
}

/// Appends the statement that counts what a plain list shows beside the public events.
pub fn append_unpublished_count(sql: &mut Sql, filter: &EventFilter) {
    sql.push("select count(*) as n from events e where e.pub = 0 and ");
    visible(sql, &filter.scope);
    within(sql, &filter.window);
}

fn order_by(sql: &mut Sql, order: EventOrder, descending: bool) {
    let way = if descending { " desc" } else { "" };
    let keys: &[&str] = match order {
        EventOrder::Start => &["start_local", "published_utc", "id"],
        EventOrder::Date => &["published_utc", "id"],
        EventOrder::Title => &["search_ci", "id"],
        EventOrder::Id => &["id"],
    };
    for (at, key) in keys.iter().enumerate() {
        sql.push(if at == 0 { " order by " } else { ", " });
        match *key {
            // Ids are selected under the name `id`.
            "id" => sql.push("id"),
            "search_ci" => sql.sorted("e.search_ci"),
            key => sql.push("e.").push(key),
        };
        sql.push(way);
    }
}

/// Reads everything from the copies in a link table, without touching the events.
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

/// Reads the short events from a range of their starts, the long ones from their own index.
fn from_overlap(sql: &mut Sql, window: &Window) {
    let columns = "select e.id, e.start_local, e.published_utc from events e where e.pub = 1";
    sql.push("select e.id as id from (").push(columns).push(" and e.is_long = 0");
    let earliest = window.end_min.unwrap_or(0) - crate::model::event::LONG;
    within(sql, &Window { start_min: Some(earliest), ..*window });
    sql.push(" union all ").push(columns).push(" and e.is_long = 1");
    within(sql, window);
    sql.push(") e");
}

/// Appends `from … where …` for any combination of filters; rows carry the alias `e`.
fn from_events(sql: &mut Sql, filter: &EventFilter, candidates: &Candidates) {
    let EventFilter {
        scope,
        window,
        words,
        featured,
        include,
        parent,
        // Taken by `links`.
        categories: _,
        tags: _,
        venues: _,
        organizers: _,
        // Looked up before, as venues of the candidates.
        geo: _,
        venue_scope: _,
        // Answered before any statement, by `is_empty`.
        matches_nothing: _,
        // Appended behind the conditions.
        order: _,
        descending: _,
    } = filter;
    let mut links = links(filter);
    let has_links = !links.is_empty();
    let geo_link =
        candidates.venues.as_deref().map(|ids| LinkFilter { table: "event_venues", ids });
    let (indexed, rest) = split_words(sql.backend(), words);
    // The most selective source leads; the events are joined to it by their key.
    let leader = if has_links {
        let link = links.remove(0);
        sql.push("from (select distinct event_id from ").push(link.table);
        sql.push(" where other_id ").among(link.ids).push(") x cross join events e");
        true
    } else if let Some(query) = &indexed {
        sql.push("from (select rowid as event_id from events_fts where events_fts match ");
        sql.bind(query.clone()).push(") x cross join events e");
        true
    } else {
        sql.push("from events e");
        false
    };
    sql.push(" where ").push(if leader { "e.id = x.event_id and " } else { "" });
    visible(sql, scope);
    within(sql, window);
    for link in links.iter().chain(&geo_link) {
        sql.push(" and e.id in (select event_id from ").push(link.table);
        sql.push(" where other_id ").among(link.ids).push(")");
    }
    let led_by_words = leader && !has_links;
    if let Some(query) = indexed.filter(|_| !led_by_words) {
        sql.push(" and e.id in (select rowid from events_fts where events_fts match ");
        sql.bind(query).push(")");
    }
    if let Some(ids) = &candidates.events {
        sql.push(" and e.id = ").any(ids);
    }
    for word in rest {
        sql.push(" and ").contains("e.search_ci", word);
    }
    for word in &words.unwanted {
        sql.push(" and not (").contains("e.search_ci", word).push(")");
    }
    if let Some(featured) = featured {
        sql.push(if *featured { " and e.featured" } else { " and not e.featured" });
    }
    if let Some(ids) = include {
        sql.push(" and e.id ").among(ids);
    }
    if let Some(parent) = parent {
        sql.push(&format!(" and e.parent_id = {parent}"));
    }
}

/// Splits the wanted words into a query for the trigram index and those that LIKE has to find.
fn split_words(backend: Backend, words: &Words) -> (Option<String>, Vec<&str>) {
    let wanted = words.wanted.iter().map(String::as_str);
    if backend == Backend::Postgres {
        return (None, wanted.collect());
    }
    let (long, short): (Vec<&str>, Vec<&str>) =
        wanted.partition(|word| word.chars().count() >= INDEXED_CHARACTERS);
    let quoted: Vec<String> =
        long.iter().map(|word| format!("\"{}\"", word.replace('"', "\"\""))).collect();
    ((!quoted.is_empty()).then(|| quoted.join(" ")), short)
}
