//! Links from events to terms, venues and organizers. Each link includes a copy of the event's
//! start.

use std::collections::HashMap;

use database::{DatabaseError, Db, on_backend};
use diesel::backend::Backend;
use diesel::pg::Pg;
use diesel::prelude::*;
use diesel::query_builder::{AstPass, Query, QueryFragment, QueryId};
use diesel::sql_types::{BigInt, Integer};

use super::among_ids::AmongIds;
use super::event_index::{LINKS_REMOVED, log_change};
use super::sql::Sql;
use crate::model::event::{Event, Links};
use crate::model::linked::Kind;
use crate::model::term::Taxonomy;

/// Up to this number of links, inserts use a prepared statement. There is one statement for each
/// number of links.
const FEW: usize = 8;

/// Maximum number of links to insert per statement.
const ROWS: usize = 1000;

const TABLES: [&str; 3] = ["event_terms", "event_venues", "event_organizers"];

/// Selects event links. `IDS` is a placeholder for the condition on event ids.
const LINKS: &str = "(\
     select event_id, other_id, (select taxonomy from terms where id = other_id) as what, position \
     from event_terms where event_id IDS \
     union all select event_id, other_id, 3 as what, position from event_venues \
     where event_id IDS \
     union all select event_id, other_id, 4 as what, position from event_organizers \
     where event_id IDS)";

const BEGIN: &str = "select event_id, other_id, what from ";
const END: &str = " links order by position, other_id";

/// [`LINKS`] for the event ids in `wanted`, as part of a larger statement.
pub struct OfWanted;

impl QueryFragment<Pg> for OfWanted {
    fn walk_ast<'b>(&'b self, mut out: AstPass<'_, 'b, Pg>) -> QueryResult<()> {
        out.push_sql(&LINKS.replace("IDS", "= any(array(select id from wanted))"));
        Ok(())
    }
}

/// Selects the links of several events. The SQL text is constant, so a connection parses and plans
/// it only a few times.
struct OfEvents<'a>(AmongIds<'a>);

impl QueryId for OfEvents<'_> {
    type QueryId = OfEvents<'static>;
    const HAS_STATIC_QUERY_ID: bool = true;
}

impl Query for OfEvents<'_> {
    type SqlType = (BigInt, BigInt, Integer);
}

impl<'a, B: Backend> QueryFragment<B> for OfEvents<'a>
where
    AmongIds<'a>: QueryFragment<B>,
{
    fn walk_ast<'b>(&'b self, mut out: AstPass<'_, 'b, B>) -> QueryResult<()> {
        out.push_sql(BEGIN);
        for (at, piece) in LINKS.split("IDS").enumerate() {
            if at > 0 {
                self.0.walk_ast(out.reborrow())?;
            }
            out.push_sql(piece);
        }
        out.push_sql(END);
        Ok(())
    }
}

impl RunQueryDsl<PgConnection> for OfEvents<'_> {}
impl RunQueryDsl<SqliteConnection> for OfEvents<'_> {}

#[derive(Queryable, QueryableByName)]
pub struct Row {
    #[diesel(sql_type = BigInt)]
    event_id: i64,
    #[diesel(sql_type = BigInt)]
    other_id: i64,
    /// 1 for categories, 2 for tags, 3 for venues, and 4 for organizers.
    #[diesel(sql_type = Integer)]
    what: i32,
}

/// Returns the link table for a kind.
pub fn table(kind: Kind) -> &'static str {
    match kind {
        Kind::Venue => "event_venues",
        Kind::Organizer => "event_organizers",
    }
}

/// Returns the ids of events linked to a venue or organizer that also have at least `others` other
/// venues and organizers.
pub fn crowded_events(
    db: &mut Db,
    kind: Kind,
    id: i64,
    others: usize,
) -> Result<Vec<i64>, DatabaseError> {
    let text = "select e.event_id as id from ";
    let mut sql = Sql::new(db, text);
    sql.push(table(kind)).push(" e where e.other_id = ").value(id);
    sql.push(
        " and (select count(*) from event_venues v where v.event_id = e.event_id) \
         + (select count(*) from event_organizers o where o.event_id = e.event_id) > ",
    );
    sql.push(&others.to_string());
    sql.load_ids(db)
}

/// Returns the links of several events.
pub fn of_events(db: &mut Db, ids: &[i64]) -> Result<HashMap<i64, Links>, DatabaseError> {
    if ids.is_empty() {
        return Ok(HashMap::new());
    }
    let rows: Vec<Row> = on_backend!(db, conn => OfEvents(AmongIds::of(ids)).load(conn)?);
    Ok(by_event(rows.into_iter()))
}

/// Groups sorted links by event.
pub fn by_event(rows: impl Iterator<Item = Row>) -> HashMap<i64, Links> {
    let mut links: HashMap<i64, Links> = HashMap::new();
    for row in rows {
        let links = links.entry(row.event_id).or_default();
        let list = match row.what {
            1 => &mut links.categories,
            2 => &mut links.tags,
            3 => &mut links.venues,
            _ => &mut links.organizers,
        };
        list.push(row.other_id);
    }
    links
}

pub fn of_event(db: &mut Db, id: i64) -> Result<Links, DatabaseError> {
    Ok(of_events(db, &[id])?.remove(&id).unwrap_or_default())
}

/// Replaces an event's links. Only writes to tables where something has changed.
pub fn replace(db: &mut Db, event: &Event, old: &Links, new: &Links) -> Result<(), DatabaseError> {
    let terms = |links: &Links| [links.categories.clone(), links.tags.clone()].concat();
    write(db, TABLES[0], event, &terms(old), &terms(new))?;
    write(db, TABLES[1], event, &old.venues, &new.venues)?;
    write(db, TABLES[2], event, &old.organizers, &new.organizers)
}

fn write(
    db: &mut Db,
    table: &str,
    event: &Event,
    old: &[i64],
    new: &[i64],
) -> Result<(), DatabaseError> {
    if old == new {
        return Ok(());
    }
    if !old.is_empty() {
        let text = format!("delete from {table} where event_id = {}", event.id);
        Sql::new(db, &text).execute(db)?;
    }
    if new.is_empty() {
        return Ok(());
    }
    let text = format!("insert into {table} (event_id, other_id, position, start_utc) values ");
    let mut sql = if new.len() <= FEW { Sql::prepared(db, &text) } else { Sql::new(db, &text) };
    for (position, other) in (0_i64..).zip(new) {
        sql.push(if position == 0 { "(" } else { ", (" }).value(event.id).push(", ");
        sql.value(*other).push(", ").value(position).push(", ");
        sql.value(event.schedule.start_utc).push(")");
    }
    sql.execute(db).map(drop)
}

/// Inserts the links of new events.
pub fn insert_all(db: &mut Db, new: &[(Event, Links)]) -> Result<(), DatabaseError> {
    let lists: [fn(&Links) -> Vec<i64>; 3] = [
        |links| [links.categories.as_slice(), &links.tags].concat(),
        |links| links.venues.clone(),
        |links| links.organizers.clone(),
    ];
    for (table, list) in TABLES.into_iter().zip(lists) {
        let rows = new.iter().flat_map(|(event, links)| {
            let numbered = (0_i64..).zip(list(links));
            numbered.map(|(position, other)| [event.id, other, position, event.schedule.start_utc])
        });
        let rows: Vec<[i64; 4]> = rows.collect();
        for rows in rows.chunks(ROWS) {
            let mut sql = Sql::new(db, "insert into ");
            sql.push(table).push(" (event_id, other_id, position, start_utc) values ");
            sql.rows(rows).execute(db)?;
        }
    }
    Ok(())
}

/// Updates the copies of an event's start in its links if it has changed.
pub fn refresh_copies(db: &mut Db, old: &Event, new: &Event) -> Result<(), DatabaseError> {
    let start = new.schedule.start_utc;
    if old.schedule.start_utc == start {
        return Ok(());
    }
    for table in TABLES {
        let text = format!("update {table} set start_utc = {start} where event_id = {}", new.id);
        Sql::new(db, &text).execute(db)?;
    }
    Ok(())
}

/// Removes all links to a venue or organizer.
pub fn remove_linked(db: &mut Db, kind: Kind, id: i64) -> Result<(), DatabaseError> {
    remove(db, table(kind), id)
}

/// Removes all links to a term.
pub fn remove_term(db: &mut Db, id: i64) -> Result<(), DatabaseError> {
    remove(db, "event_terms", id)
}

fn remove(db: &mut Db, table: &str, id: i64) -> Result<(), DatabaseError> {
    let text = format!("delete from {table} where other_id = {id}");
    match Sql::new(db, &text).execute(db)? {
        0 => Ok(()),
        _ => log_change(db, LINKS_REMOVED, None),
    }
}

/// Returns the ids of an event's terms in a taxonomy.
pub fn terms_of(db: &mut Db, event: i64, taxonomy: Taxonomy) -> Result<Vec<i64>, DatabaseError> {
    let links = of_event(db, event)?;
    Ok(match taxonomy {
        Taxonomy::Category => links.categories,
        Taxonomy::Tag => links.tags,
    })
}
