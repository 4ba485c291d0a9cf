//! Lists of events: the exact total, then the ids of a page from the nearer end of the list.

use database::{Backend, DatabaseError, Db};

use super::bundle::{self, Which};
use super::snapshot::snapshot;
use super::sql::Sql;
use super::{at_once, counts, vocabulary};
use crate::model::bundle::Bundle;
use crate::model::event::Event;
use crate::model::geo::Point;
use crate::model::list::{EventFilter, EventOrder, Geo, Others, Paging, Scope, Stretch};
use crate::model::search::Words;
use crate::model::window::Window;
use crate::model::zone::MAX_OFFSET_HOURS;

/// Words shorter than this are not in the trigram index.
const INDEXED_CHARACTERS: usize = 3;

/// How far a wall clock can lie from the instant, in seconds.
const DRIFT: i64 = MAX_OFFSET_HOURS * 3600;

/// How far into a list one statement reads without knowing the total.
const NEAR: i64 = 1000;

/// What statements of their own found before the list is read; `None` narrows nothing.
#[derive(Default)]
pub struct Found {
    /// Venues that a place filter leads to.
    pub venues: Option<Vec<i64>>,
    /// Events that may hold the wanted words, and all that do.
    pub events: Option<Vec<i64>>,
}

impl Found {
    fn of(db: &mut Db, filter: &EventFilter) -> Result<Found, DatabaseError> {
        let venues = geo_venues(db, filter)?;
        Ok(Found { venues, events: vocabulary::candidates(db, &filter.words)? })
    }
}

/// A table of links with the ids that it has to lead to.
struct LinkFilter<'a> {
    table: &'static str,
    ids: &'a [i64],
}

/// Reads the events of a page with everything that they refer to, and the number of all events that
/// match.
pub fn whole(
    db: &mut Db,
    filter: &EventFilter,
    paging: Paging,
) -> Result<(Vec<Event>, Bundle, i64), DatabaseError> {
    if is_empty(filter) {
        return Ok((Vec::new(), Bundle::default(), 0));
    }
    // Outside of the moment of the list: the events are asked for the words again.
    let mut found = Found { events: vocabulary::candidates(db, &filter.words)?, venues: None };
    if let Db::Pg(conn) = db
        && is_usual(filter, &found)
        && paging.offset() <= NEAR
    {
        let (mut page, mut total) = (Sql::steady(), Sql::steady());
        let take = paging.per_page;
        let stretch = Stretch { skip: paging.offset(), take, backwards: false };
        append_page(&mut page, filter, &found, stretch);
        if let Some(link) = lone_link(filter) {
            count_linked(&mut total, &link, &filter.window);
        } else if is_plain(filter) {
            counts::statement(&mut total, &filter.window);
        } else {
            count_events(&mut total, filter, &found);
        }
        return at_once::of_page(conn, page, total);
    }
    snapshot(db, |db| {
        found.venues = geo_venues(db, filter)?;
        let (ids, total) = page_of(db, filter, &found, paging)?;
        let (events, bundle) = bundle::of_events(db, Which::Ids(&ids))?;
        Ok((events, bundle, total))
    })
}

/// Tells whether a list is of a kind that is asked for again and again: public, in the usual window
/// and order, narrowed by one link or one wanted text at most. There are few such kinds, so a
/// connection can keep the statements of all of them.
fn is_usual(filter: &EventFilter, found: &Found) -> bool {
    let Window { start_min, start_max, end_min, end_max } = filter.window;
    let one_text = found.events.is_some()
        && filter.words.wanted.len() == 1
        && filter.words.unwanted.is_empty();
    let textless = EventFilter { words: Words::default(), ..filter.clone() };
    let narrowed_once =
        lone_link(filter).is_some() || is_plain(filter) || one_text && is_plain(&textless);
    narrowed_once
        && filter.scope.is_public()
        && filter.order == EventOrder::Start
        && (start_min.is_some(), end_max.is_some()) == (true, true)
        && (start_max, end_min) == (None, None)
}

/// Tells whether nothing can match.
fn is_empty(filter: &EventFilter) -> bool {
    filter.nothing || (!filter.scope.published && filter.scope.others == Others::None)
}

/// Reads the ids of a page and the number of all events that match.
pub fn page(
    db: &mut Db,
    filter: &EventFilter,
    paging: Paging,
) -> Result<(Vec<i64>, i64), DatabaseError> {
    if is_empty(filter) {
        return Ok((Vec::new(), 0));
    }
    snapshot(db, |db| {
        let found = Found::of(db, filter)?;
        page_of(db, filter, &found, paging)
    })
}

fn page_of(
    db: &mut Db,
    filter: &EventFilter,
    found: &Found,
    paging: Paging,
) -> Result<(Vec<i64>, i64), DatabaseError> {
    let total = total(db, filter, found)?;
    let Some(stretch) = Stretch::of(paging, total) else { return Ok((Vec::new(), total)) };
    let mut ids = page_statement(db, filter, found, stretch).load_ids(db)?;
    if stretch.backwards {
        ids.reverse();
    }
    Ok((ids, total))
}

/// Builds the statement that reads the ids of a page; a test asks for its plan.
pub fn page_statement(db: &Db, filter: &EventFilter, found: &Found, stretch: Stretch) -> Sql {
    let mut sql = Sql::new(db, "");
    append_page(&mut sql, filter, found, stretch);
    sql
}

fn append_page(sql: &mut Sql, filter: &EventFilter, found: &Found, stretch: Stretch) {
    if let Some(link) = lone_link(filter) {
        from_link(sql, &link, &filter.window);
    } else if is_overlap_page(filter) {
        from_overlap(sql, &filter.window);
    } else {
        sql.push("select e.id as id ");
        from_events(sql, filter, found);
    }
    order_by(sql, filter.order, filter.descending != stretch.backwards);
    sql.push(" limit ").value(stretch.take).push(" offset ").value(stretch.skip);
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

fn total(db: &mut Db, filter: &EventFilter, found: &Found) -> Result<i64, DatabaseError> {
    if let Some(link) = lone_link(filter) {
        let mut sql = Sql::new(db, "");
        count_linked(&mut sql, &link, &filter.window);
        return sql.number(db);
    }
    if is_plain(filter) {
        let public = if filter.scope.published { counts::public(db, &filter.window)? } else { 0 };
        if filter.scope.is_public() {
            return Ok(public);
        }
        let mut sql = Sql::new(db, "select count(*) as n from events e where e.pub = 0");
        sql.push(" and ");
        visible(&mut sql, &filter.scope);
        within(&mut sql, &filter.window);
        return Ok(public + sql.number(db)?);
    }
    let mut sql = Sql::new(db, "");
    count_events(&mut sql, filter, found);
    sql.number(db)
}

fn count_events(sql: &mut Sql, filter: &EventFilter, found: &Found) {
    sql.push("select count(*) as n ");
    from_events(sql, filter, found);
}

/// Tells whether nothing but window and statuses narrows the list.
fn is_plain(filter: &EventFilter) -> bool {
    links(filter).is_empty()
        && filter.geo.is_none()
        && filter.words == Words::default()
        && filter.featured.is_none()
        && filter.include.is_none()
        && filter.parent.is_none()
}

/// Returns the only link filter of a public list that asks for nothing else.
fn lone_link(filter: &EventFilter) -> Option<LinkFilter<'_>> {
    let bare = EventFilter {
        categories: None,
        tags: None,
        venues: None,
        organizers: None,
        ..filter.clone()
    };
    let simple = is_plain(&bare) && filter.scope.is_public() && filter.order == EventOrder::Start;
    let mut links = links(filter);
    (simple && links.len() == 1).then(|| links.remove(0))
}

fn links(filter: &EventFilter) -> Vec<LinkFilter<'_>> {
    [
        ("event_venues", &filter.venues),
        ("event_organizers", &filter.organizers),
        ("event_terms", &filter.categories),
        ("event_terms", &filter.tags),
    ]
    .into_iter()
    .filter_map(|(table, ids)| ids.as_deref().map(|ids| LinkFilter { table, ids }))
    .collect()
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

fn count_linked(sql: &mut Sql, link: &LinkFilter<'_>, window: &Window) {
    sql.push("select count(*) as n from (");
    from_link(sql, link, window);
    sql.push(") x");
}

/// Tells whether a page of the overlap form can be read from two ranges of indexes.
fn is_overlap_page(filter: &EventFilter) -> bool {
    is_plain(filter)
        && filter.scope.is_public()
        && filter.order == EventOrder::Start
        && filter.window.end_min.is_some()
        && filter.window.start_min.is_none()
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
fn from_events(sql: &mut Sql, filter: &EventFilter, found: &Found) {
    let mut links = links(filter);
    let geo_link = found.venues.as_deref().map(|ids| LinkFilter { table: "event_venues", ids });
    let (indexed, rest) = split_words(sql.backend(), &filter.words);
    // The most selective source leads; the events are joined to it by their key.
    let leader = if !links.is_empty() {
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
    visible(sql, &filter.scope);
    within(sql, &filter.window);
    for link in links.iter().chain(&geo_link) {
        sql.push(" and e.id in (select event_id from ").push(link.table);
        sql.push(" where other_id ").among(link.ids).push(")");
    }
    let led_by_words = leader && filter_has_no_link(filter);
    if let Some(query) = indexed.filter(|_| !led_by_words) {
        sql.push(" and e.id in (select rowid from events_fts where events_fts match ");
        sql.bind(query).push(")");
    }
    if let Some(ids) = &found.events {
        sql.push(" and e.id = ").any(ids);
    }
    for word in rest {
        sql.push(" and ").contains("e.search_ci", word);
    }
    for word in &filter.words.unwanted {
        sql.push(" and not (").contains("e.search_ci", word).push(")");
    }
    if let Some(featured) = filter.featured {
        sql.push(if featured { " and e.featured" } else { " and not e.featured" });
    }
    if let Some(ids) = &filter.include {
        sql.push(" and e.id ").among(ids);
    }
    if let Some(parent) = filter.parent {
        sql.push(&format!(" and e.parent_id = {parent}"));
    }
}

fn filter_has_no_link(filter: &EventFilter) -> bool {
    links(filter).is_empty()
}

/// Parts the wanted words into a query for the trigram index and those that LIKE has to find.
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

/// Appends the condition that the caller may see the event in a list.
fn visible(sql: &mut Sql, scope: &Scope) {
    if scope.is_public() {
        sql.push("e.pub = 1");
        return;
    }
    sql.push("e.listed and ");
    statuses(sql, "e", scope);
}

/// Appends the condition on status and author, for events, venues and organizers alike.
pub fn statuses(sql: &mut Sql, alias: &str, scope: &Scope) {
    let published = format!("{alias}.status = 'publish'");
    let Others::Of { author, statuses } = &scope.others else {
        sql.push(&published);
        return;
    };
    sql.push("(").push(if scope.published { &published } else { "1 = 0" }).push(" or (");
    match statuses {
        Some(statuses) => {
            sql.push(alias).push(".status in ").texts(statuses.iter().map(|s| s.as_str()));
        }
        None => {
            sql.push(alias).push(".status not in ('trash', 'publish')");
        }
    }
    if let Some(author) = author {
        sql.push(&format!(" and {alias}.author_id = {author}"));
    }
    sql.push("))");
}

/// Appends the window on the alias `e`, with a range of wall clocks that an index can follow.
pub fn within(sql: &mut Sql, window: &Window) {
    let mut bound = |text: &str, value: Option<i64>| {
        if let Some(value) = value {
            sql.push(" and e.").push(text).push(" ").value(value);
        }
    };
    bound("start_utc >=", window.start_min);
    bound("start_utc <=", window.start_max);
    bound("end_utc >=", window.end_min);
    bound("end_utc <=", window.end_max);
    bound("start_local >=", window.start_min.map(|from| from.saturating_sub(DRIFT)));
    let latest = [window.start_max, window.end_max].into_iter().flatten().min();
    bound("start_local <=", latest.map(|to| to.saturating_add(DRIFT)));
}

/// Finds the venues that a place filter leads to: a rectangle by index, then the exact distance.
fn geo_venues(db: &mut Db, filter: &EventFilter) -> Result<Option<Vec<i64>>, DatabaseError> {
    match filter.geo {
        None => Ok(None),
        Some(Geo::Known) => {
            let text = "select v.id as id from venues v where v.geo_lat is not null and ";
            let mut sql = Sql::new(db, text);
            statuses(&mut sql, "v", &filter.places);
            sql.load_ids(db).map(Some)
        }
        Some(Geo::Near { point, km }) => near(db, &filter.places, point, km).map(Some),
    }
}

#[derive(diesel::QueryableByName)]
struct PlaceRow {
    #[diesel(sql_type = diesel::sql_types::BigInt)]
    id: i64,
    #[diesel(sql_type = diesel::sql_types::Double)]
    geo_lat: f64,
    #[diesel(sql_type = diesel::sql_types::Double)]
    geo_lng: f64,
}

fn near(db: &mut Db, places: &Scope, point: Point, km: f64) -> Result<Vec<i64>, DatabaseError> {
    let reach = point.around(km);
    let text = format!(
        "select v.id, v.geo_lat, v.geo_lng from venues v where v.geo_lat between {} and {} \
         and v.geo_lng between {} and {} and ",
        reach.south, reach.north, reach.west, reach.east
    );
    let mut sql = Sql::new(db, &text);
    statuses(&mut sql, "v", places);
    let rows: Vec<PlaceRow> = sql.load(db)?;
    let within =
        |row: &PlaceRow| point.distance_km(Point { lat: row.geo_lat, lng: row.geo_lng }) <= km;
    Ok(rows.iter().filter(|row| within(row)).map(|row| row.id).collect())
}
