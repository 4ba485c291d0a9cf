//! Counts inconsistent rows.

use std::collections::HashSet;

use database::{DatabaseError, Db};
use diesel::prelude::*;
use diesel::sql_types::Text;

use super::sql::Sql;
use super::{events, schema};

/// Number of events to read per query.
const ROWS: i64 = 50;

/// Foreign keys, as (table, column, referenced table).
const REFERENCES: [(&str, &str, &str); 31] = [
    ("images", "id", "entities"),
    ("events", "id", "entities"),
    ("venues", "id", "entities"),
    ("organizers", "id", "entities"),
    ("images", "author_id", "users"),
    ("events", "author_id", "users"),
    ("venues", "author_id", "users"),
    ("organizers", "author_id", "users"),
    ("events", "image_id", "images"),
    ("venues", "image_id", "images"),
    ("organizers", "image_id", "images"),
    ("events", "parent_id", "events"),
    ("event_statuses", "event_id", "events"),
    ("event_moves", "event_id", "events"),
    ("imported_events", "event_id", "events"),
    ("series_events", "event_id", "events"),
    ("series_events", "series_id", "series"),
    ("event_terms", "event_id", "events"),
    ("event_venues", "event_id", "events"),
    ("event_organizers", "event_id", "events"),
    ("event_terms", "other_id", "terms"),
    ("event_venues", "other_id", "venues"),
    ("event_organizers", "other_id", "organizers"),
    ("terms", "nullif(parent_id, 0)", "terms"),
    ("webhook_outbox", "webhook_id", "webhooks"),
    ("event_tombstones", "author_id", "users"),
    ("subscriptions", "author_id", "users"),
    ("subscriptions", "category_id", "terms"),
    ("subscriptions", "venue_id", "venues"),
    ("subscribed_events", "subscription_id", "subscriptions"),
    ("subscribed_events", "event_id", "events"),
];

pub fn rows(db: &mut Db, table: &str) -> Result<i64, DatabaseError> {
    Sql::new(db, &format!("select count(*) as n from {table}")).number(db)
}

/// Counts references to missing rows.
pub fn dangling(db: &mut Db) -> Result<i64, DatabaseError> {
    let mut count = 0;
    for (table, column, other) in REFERENCES {
        let text = format!(
            "select count(*) as n from (select {column} as id from {table}) r where r.id is not null and \
             not exists (select 1 from {other} o where o.id = r.id)"
        );
        count += Sql::new(db, &text).number(db)?;
    }
    Ok(count)
}

/// Counts SQLite integrity errors that are also reported as dangling references, once per pair of
/// tables.
pub fn dangling_structure(db: &mut Db) -> Result<i64, DatabaseError> {
    if !matches!(db, Db::Sqlite(_)) {
        return Ok(0);
    }
    let tables: HashSet<&str> = REFERENCES.iter().map(|(table, ..)| *table).collect();
    let mut sql = Sql::new(
        db,
        "select count(*) as n from (select 1 from pragma_foreign_key_check where \"table\" in ",
    );
    sql.texts(tables).push(" group by \"table\", parent)");
    sql.number(db)
}

/// Counts terms with a wrong number of published events.
pub fn wrong_counts(db: &mut Db) -> Result<i64, DatabaseError> {
    let text = "select count(*) as n from terms t left join (select l.other_id, count(*) as c from \
        event_terms l join events e on e.id = l.event_id where e.status = 'publish' group by l.other_id) \
        found on found.other_id = t.id where t.count <> coalesce(found.c, 0)";
    Sql::new(db, text).number(db)
}

/// Counts links with an outdated copy of the event's start.
pub fn wrong_starts(db: &mut Db) -> Result<i64, DatabaseError> {
    let mut count = 0;
    for table in ["event_terms", "event_venues", "event_organizers"] {
        let text = format!(
            "select count(*) as n from {table} l join events e on e.id = l.event_id where \
             l.start_utc <> e.start_utc"
        );
        count += Sql::new(db, &text).number(db)?;
    }
    Ok(count)
}

/// Counts events whose derived columns don't match their fields.
pub fn wrong_index(db: &mut Db) -> Result<i64, DatabaseError> {
    let (mut last, mut wrong) = (i64::MIN, 0);
    loop {
        let stored: Vec<(i64, String, i32, i32)> = schema::events::table
            .filter(schema::events::id.gt(last))
            .order(schema::events::id)
            .limit(ROWS)
            .select((
                schema::events::id,
                schema::events::search_ci,
                schema::events::is_public,
                schema::events::is_long,
            ))
            .load(db)?;
        let Some((end, ..)) = stored.last() else { return Ok(wrong) };
        last = *end;
        let ids: Vec<i64> = stored.iter().map(|row| row.0).collect();
        for (event, (_, searched, is_public, is_long)) in
            events::by_ids(db, &ids)?.iter().zip(&stored)
        {
            let agrees = event.searched() == *searched
                && i32::from(event.is_public()) == *is_public
                && i32::from(event.is_long()) == *is_long;
            wrong += i64::from(!agrees);
        }
    }
}

/// Counts former slugs that refer to missing rows.
pub fn dead_redirects(db: &mut Db) -> Result<i64, DatabaseError> {
    let text = "select count(*) as n from former_slugs f where not exists (select 1 from (\
        select 'events' as kind, id from events union all select 'venues', id from venues \
        union all select 'organizers', id from organizers \
        union all select 'series', id from series union all select 'series_dates', id from events \
        union all select case taxonomy when 1 then 'categories' else 'tags' end, id from terms) r \
        where r.kind = f.collection and r.id = f.item_id)";
    Sql::new(db, text).number(db)
}

/// Returns the names of files that were queued for removal after `since`.
pub fn erased_files(db: &mut Db, since: i64) -> Result<Vec<String>, DatabaseError> {
    #[derive(QueryableByName)]
    struct File {
        #[diesel(sql_type = Text)]
        file: String,
    }
    let text = format!("select file from erased_files where erased_utc > {since}");
    let rows: Vec<File> = Sql::new(db, &text).load(db)?;
    Ok(rows.into_iter().map(|row| row.file).collect())
}

/// Returns the ids of the images that share this file.
pub fn images_of_file(db: &mut Db, file: &str) -> Result<Vec<i64>, DatabaseError> {
    let mut sql = Sql::new(db, "select id from images where file = ");
    sql.bind(file).push(" order by id");
    sql.load_ids(db)
}
