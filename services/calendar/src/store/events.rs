//! Event rows. Whenever a row changes, the data derived from it is updated in the same transaction.

use std::collections::{BTreeMap, HashMap};

use database::{Backend, DatabaseError, Db, on_backend};
use diesel::prelude::*;

use super::among_ids::among;
use super::event_index::{log_change, log_new};
use super::schema::events;
use super::sql::{Sql, TextRow};
use super::{changes, entities, event_moves, imported, links, series, terms, webhooks};
use crate::model::event::{Event, Links};
use crate::model::html;
use crate::model::schedule::Schedule;
use crate::model::search;
use crate::model::status::{Stage, Status};
use crate::model::zone::Zone;

#[derive(Queryable, Selectable, Insertable, AsChangeset)]
#[diesel(table_name = events)]
#[diesel(treat_none_as_null = true)]
#[diesel(treat_none_as_default_value = false)]
pub struct Row {
    id: i64,
    author_id: i64,
    status: String,
    prev_status: Option<String>,
    title: String,
    description: String,
    excerpt: String,
    slug: String,
    published_utc: i64,
    published_local: i64,
    modified_utc: i64,
    start_local: i64,
    end_local: i64,
    start_utc: i64,
    end_utc: i64,
    timezone: String,
    all_day: bool,
    cost: String,
    website: String,
    show_map: bool,
    show_map_link: bool,
    listed: bool,
    sticky: bool,
    featured: bool,
    image_id: Option<i64>,
    parent_id: Option<i64>,
    password: Option<String>,
    external_id: Option<String>,
    sequence: i64,
    is_public: i32,
    is_long: i32,
}

impl From<Row> for Event {
    fn from(row: Row) -> Event {
        let schedule = Schedule {
            zone: Zone::parse(&row.timezone).unwrap_or_else(Zone::utc),
            all_day: row.all_day,
            start_local: row.start_local,
            end_local: row.end_local,
            start_utc: row.start_utc,
            end_utc: row.end_utc,
        };
        Event {
            id: row.id,
            author: row.author_id,
            status: Status::stored(row.status),
            previous: row.prev_status.map(Status::stored),
            title: row.title,
            description: row.description,
            excerpt: row.excerpt,
            slug: row.slug,
            published_utc: row.published_utc,
            published_local: row.published_local,
            modified_utc: row.modified_utc,
            schedule,
            cost: serde_json::from_str(&row.cost).unwrap_or_default(),
            website: row.website,
            show_map: row.show_map,
            show_map_link: row.show_map_link,
            listed: row.listed,
            sticky: row.sticky,
            featured: row.featured,
            image: row.image_id,
            parent: row.parent_id,
            password: row.password,
            external_id: row.external_id,
            sequence: row.sequence,
        }
    }
}

fn row(event: &Event) -> Row {
    let schedule = &event.schedule;
    Row {
        id: event.id,
        author_id: event.author,
        status: event.status.as_str().to_owned(),
        prev_status: event.previous.as_ref().map(|status| status.as_str().to_owned()),
        title: event.title.clone(),
        description: event.description.clone(),
        excerpt: event.excerpt.clone(),
        slug: event.slug.clone(),
        published_utc: event.published_utc,
        published_local: event.published_local,
        modified_utc: event.modified_utc,
        start_local: schedule.start_local,
        end_local: schedule.end_local,
        start_utc: schedule.start_utc,
        end_utc: schedule.end_utc,
        timezone: schedule.zone.name().to_owned(),
        all_day: schedule.all_day,
        cost: serde_json::Value::from(event.cost.clone()).to_string(),
        website: event.website.clone(),
        show_map: event.show_map,
        show_map_link: event.show_map_link,
        listed: event.listed,
        sticky: event.sticky,
        featured: event.featured,
        image_id: event.image,
        parent_id: event.parent,
        password: event.password.clone(),
        external_id: event.external_id.clone(),
        sequence: event.sequence,
        is_public: i32::from(event.is_public()),
        is_long: i32::from(event.is_long()),
    }
}

pub fn find(db: &mut Db, id: i64) -> Result<Option<Event>, DatabaseError> {
    let row = events::table.find(id).select(Row::as_select()).first(db).optional()?;
    Ok(row.map(Event::from))
}

/// Returns an event's local start and end.
pub fn local_times(db: &mut Db, id: i64) -> Result<Option<(i64, i64)>, DatabaseError> {
    let found = events::table.find(id).select((events::start_local, events::end_local));
    Ok(found.first(db).optional()?)
}

/// Finds an event by its slug as stored.
pub fn find_by_slug(db: &mut Db, slug: &str) -> Result<Option<Event>, DatabaseError> {
    let found = events::table.filter(events::slug.eq(slug));
    let row = found.select(Row::as_select()).first(db).optional()?;
    Ok(row.map(Event::from))
}

/// Finds an event by its external id. For an event imported from a calendar file, this is the UID.
/// For a loaded event, it is the line's `external_id`.
pub fn find_by_external_id(db: &mut Db, id: &str) -> Result<Option<Event>, DatabaseError> {
    let found = events::table.filter(events::external_id.eq(id));
    let row = found.select(Row::as_select()).first(db).optional()?;
    Ok(row.map(Event::from))
}

/// Bumps the event's revision to at least `least`.
pub fn raise_revisions(db: &mut Db, id: i64, least: i64) -> Result<(), DatabaseError> {
    let found = events::table.find(id).filter(events::sequence.lt(least));
    diesel::update(found).set(events::sequence.eq(least)).execute(db)?;
    Ok(())
}

/// Maximum number of events to insert per statement. PostgreSQL allows 65,535 bound values.
const ROWS: usize = 500;

/// Length of the indexed prefix of case-folded titles in characters. See the `title_heads`
/// migration.
const TITLE_HEAD: usize = 200;

/// Finds an event by title, ignoring case, and local start. Trashed events come last.
pub fn find_by_title_and_start(
    db: &mut Db,
    title: &str,
    start_local: i64,
) -> Result<Option<Event>, DatabaseError> {
    let plain = html::plain(title);
    let head: String =
        search::fold(&plain).chars().take_while(|c| *c != '\n').take(TITLE_HEAD).collect();
    // Must match the index expression.
    let heads = match db.backend() {
        Backend::Sqlite => {
            "substr(search_ci, 1, min(200, instr(search_ci || char(10), char(10)) - 1))"
        }
        Backend::Postgres => "substr(split_part(search_ci, chr(10), 1), 1, 200)",
    };
    let mut sql = Sql::prepared(db, "select id, title as text from events where");
    sql.push(" start_local = ").value(start_local).push(" and ").push(heads);
    sql.push(" = ").bind(head);
    sql.push(" order by case when status = 'trash' then 1 else 0 end, id");
    let rows: Vec<TextRow> = sql.load(db)?;
    let wanted = search::fold_name(&plain);
    match rows.iter().find(|row| search::fold_name(&html::plain(&row.text)) == wanted) {
        Some(row) => find(db, row.id),
        None => Ok(None),
    }
}

/// Returns events by id, in the order of `ids`.
pub fn by_ids(db: &mut Db, ids: &[i64]) -> Result<Vec<Event>, DatabaseError> {
    if ids.is_empty() {
        return Ok(Vec::new());
    }
    let rows: Vec<Row> = on_backend!(db, conn => events::table
        .filter(among(events::id, ids))
        .select(Row::as_select())
        .load(conn)?);
    Ok(in_order(ids, rows.into_iter().map(Event::from)))
}

/// Returns the ids of the next untrashed events after `id`.
pub fn untrashed_after(db: &mut Db, id: i64, most: i64) -> Result<Vec<i64>, DatabaseError> {
    let mut sql = Sql::new(db, "select id from events where status <> 'trash' and id > ");
    sql.value(id).push(" order by id limit ").value(most);
    sql.load_ids(db)
}

/// Sorts events in the order of `ids`.
pub fn in_order(ids: &[i64], events: impl Iterator<Item = Event>) -> Vec<Event> {
    let mut found: HashMap<i64, Event> = events.map(|event| (event.id, event)).collect();
    ids.iter().filter_map(|id| found.remove(id)).collect()
}

/// Inserts a new event. Its id must already be allocated, because the slug might contain it.
pub fn insert(db: &mut Db, event: &Event, with: &Links) -> Result<(), DatabaseError> {
    let searched = event.searched();
    diesel::insert_into(events::table)
        .values((row(event), events::search_ci.eq(&searched)))
        .execute(db)?;
    log_change(db, event.id, None)?;
    webhooks::post(db, None, event)?;
    links::replace(db, event, &Links::default(), with)?;
    terms::recount(db, None, Some((event, with)))
}

/// Inserts new events with fewer statements than inserting them one by one. Their ids must already
/// be allocated.
pub fn insert_all(db: &mut Db, new: &[(Event, Links)]) -> Result<(), DatabaseError> {
    let rows = new.iter().map(|(event, _)| (row(event), events::search_ci.eq(event.searched())));
    match db {
        // SQLite is fastest with a short statement that is prepared only once.
        Db::Sqlite(conn) => {
            for row in rows {
                diesel::insert_into(events::table).values(row).execute(conn)?;
            }
        }
        Db::Pg(conn) => {
            let rows: Vec<_> = rows.collect();
            for rows in rows.chunks(ROWS) {
                diesel::insert_into(events::table).values(rows).execute(conn)?;
            }
        }
    }
    let ids: Vec<i64> = new.iter().map(|(event, _)| event.id).collect();
    log_new(db, &ids)?;
    webhooks::post_new(db, new.iter().map(|(event, _)| event))?;
    links::insert_all(db, new)?;
    terms::count_new(db, new)
}

pub fn update(
    db: &mut Db,
    (old, old_links): (&Event, &Links),
    (new, new_links): (&Event, &Links),
) -> Result<(), DatabaseError> {
    let (before, after) = (old.searched(), new.searched());
    diesel::update(events::table.find(new.id))
        .set((row(new), events::search_ci.eq(&after)))
        .execute(db)?;
    log_change(db, new.id, (before != after).then_some(before.as_str()))?;
    if old.status.is_trashed() != new.status.is_trashed() {
        imported::forget_trash(db, new.id)?;
        series::note_trash(db, new)?;
    }
    event_moves::note(db, old, new)?;
    changes::note(db, old, new)?;
    webhooks::post(db, Some(old), new)?;
    links::refresh_copies(db, old, new)?;
    links::replace(db, new, old_links, new_links)?;
    terms::recount(db, Some((old, old_links)), Some((new, new_links)))
}

/// Changes an event's parent.
pub fn set_parent(db: &mut Db, id: i64, parent: Option<i64>) -> Result<(), DatabaseError> {
    diesel::update(events::table.find(id)).set(events::parent_id.eq(parent)).execute(db)?;
    Ok(())
}

/// Sets when an event was last modified.
pub fn set_modified(db: &mut Db, id: i64, modified_utc: i64) -> Result<(), DatabaseError> {
    let found = diesel::update(events::table.find(id));
    found.set(events::modified_utc.eq(modified_utc)).execute(db)?;
    Ok(())
}

/// A time zone, and the period during which events use it.
pub struct ZoneSpan {
    pub zone: Zone,
    /// Earliest start in Unix seconds.
    pub first: i64,
    /// Latest end in Unix seconds.
    pub last: i64,
}

/// Returns the time zones of these events, sorted by name. All-day events don't count.
pub fn zones_of(db: &mut Db, ids: &[i64]) -> Result<Vec<ZoneSpan>, DatabaseError> {
    let mut spans: BTreeMap<String, (i64, i64)> = BTreeMap::new();
    for ids in ids.chunks(1000) {
        let rows: Vec<(String, i64, i64)> = on_backend!(db, conn => events::table
            .filter(events::id.eq_any(ids).and(events::all_day.eq(false)))
            .select((events::timezone, events::start_utc, events::end_utc))
            .load(conn)?);
        for (zone, start, end) in rows {
            let span = spans.entry(zone).or_insert((start, end));
            *span = (span.0.min(start), span.1.max(end));
        }
    }
    let known = spans.into_iter().filter_map(|(name, (first, last))| {
        Some(ZoneSpan { zone: Zone::parse(&name)?, first, last })
    });
    Ok(known.collect())
}

pub fn allocate(db: &mut Db) -> Result<i64, DatabaseError> {
    entities::allocate(db, entities::EVENT)
}

/// Allocates ids for several new events, in ascending order.
pub fn allocate_all(db: &mut Db, count: usize) -> Result<Vec<i64>, DatabaseError> {
    entities::allocate_all(db, entities::EVENT, count)
}

/// Allocates an id for a new event, preferring the id it has on another site.
pub fn allocate_as(db: &mut Db, wanted: Option<i64>) -> Result<i64, DatabaseError> {
    entities::allocate_as(db, entities::EVENT, wanted)
}

/// Maximum number of events to publish per transaction.
const DUE_AT_ONCE: i64 = 1000;

/// Publishes up to [`DUE_AT_ONCE`] scheduled events that are due. Returns how many were published.
pub fn publish_due(db: &mut Db, now: i64) -> Result<usize, DatabaseError> {
    let due: Vec<Row> = events::table
        .filter(events::status.eq("future").and(events::published_utc.le(now)))
        .order(events::id)
        .limit(DUE_AT_ONCE)
        .select(Row::as_select())
        .load(db)?;
    let count = due.len();
    for old in due.into_iter().map(Event::from) {
        let with = links::of_event(db, old.id)?;
        let mut new = old.clone();
        new.set_status(Status::of(Stage::Publish));
        // This makes the event show up in lists of changes.
        new.modified_utc = now;
        update(db, (&old, &with), (&new, &with))?;
    }
    Ok(count)
}
