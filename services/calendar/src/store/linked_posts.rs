//! Venues and organizers. Their tables differ in only a few columns, so both are read into one
//! type.

use std::collections::{HashMap, HashSet};

use database::{DatabaseError, Db, on_backend};
use diesel::prelude::*;

use super::among_ids::among;
use super::schema::{organizers, venues};
use super::sql::{Sql, TEXTS, TextRow, head};
use super::{conditions, entities, links};
use crate::model::geo::Point;
use crate::model::html;
use crate::model::linked::{Kind, Linked, Place};
use crate::model::list::Scope;
use crate::model::search;
use crate::model::status::Status;

/// Defines the row types for both tables. Each has the shared columns followed by its own.
macro_rules! rows {
    ($($table:ident $row:ident { $($own:tt)* })*) => {$(
        #[derive(Queryable, Selectable, Insertable, AsChangeset)]
        #[diesel(table_name = $table)]
        #[diesel(treat_none_as_null = true, treat_none_as_default_value = false)]
        pub struct $row {
            id: i64,
            author_id: i64,
            status: String,
            prev_status: Option<String>,
            name: String,
            description: String,
            excerpt: String,
            slug: String,
            published_utc: i64,
            published_local: i64,
            modified_utc: i64,
            image_id: Option<i64>,
            phone: String,
            website: String,
            $($own)*
        }
    )*};
}

rows! {
    venues VenueRow {
        address: String,
        city: String,
        country: String,
        province: String,
        state: String,
        stateprovince: String,
        zip: String,
        show_map: bool,
        show_map_link: bool,
        geo_lat: Option<f64>,
        geo_lng: Option<f64>,
    }
    organizers OrganizerRow {
        email: String,
    }
}

/// Builds a [`Linked`] from the shared columns and the other fields.
macro_rules! linked {
    ($kind:expr, $row:ident, $email:expr, $place:expr) => {
        Linked {
            kind: $kind,
            id: $row.id,
            author: $row.author_id,
            status: Status::stored($row.status),
            previous: $row.prev_status.map(Status::stored),
            name: $row.name,
            description: $row.description,
            excerpt: $row.excerpt,
            slug: $row.slug,
            published_utc: $row.published_utc,
            published_local: $row.published_local,
            modified_utc: $row.modified_utc,
            image: $row.image_id,
            phone: $row.phone,
            website: $row.website,
            email: $email,
            place: $place,
        }
    };
}

/// Builds a row for either table from a [`Linked`] and the table's own columns.
macro_rules! row {
    ($type:ident, $from:ident, $($field:ident : $value:expr),* $(,)?) => {
        $type {
            id: $from.id,
            author_id: $from.author,
            status: $from.status.as_str().to_owned(),
            prev_status: $from.previous.as_ref().map(|status| status.as_str().to_owned()),
            name: $from.name.clone(),
            description: $from.description.clone(),
            excerpt: $from.excerpt.clone(),
            slug: $from.slug.clone(),
            published_utc: $from.published_utc,
            published_local: $from.published_local,
            modified_utc: $from.modified_utc,
            image_id: $from.image,
            phone: $from.phone.clone(),
            website: $from.website.clone(),
            $($field: $value),*
        }
    };
}

impl From<VenueRow> for Linked {
    fn from(row: VenueRow) -> Linked {
        let geo = row.geo_lat.zip(row.geo_lng).map(|(lat, lng)| Point { lat, lng });
        let place = Place {
            address: row.address,
            city: row.city,
            country: row.country,
            province: row.province,
            state: row.state,
            stateprovince: row.stateprovince,
            zip: row.zip,
            show_map: row.show_map,
            show_map_link: row.show_map_link,
            geo,
        };
        linked!(Kind::Venue, row, String::new(), place)
    }
}

impl From<OrganizerRow> for Linked {
    fn from(row: OrganizerRow) -> Linked {
        linked!(Kind::Organizer, row, row.email, Place::default())
    }
}

fn venue_row(linked: &Linked) -> VenueRow {
    let place = &linked.place;
    row!(VenueRow, linked,
        address: place.address.clone(),
        city: place.city.clone(),
        country: place.country.clone(),
        province: place.province.clone(),
        state: place.state.clone(),
        stateprovince: place.stateprovince.clone(),
        zip: place.zip.clone(),
        show_map: place.show_map,
        show_map_link: place.show_map_link,
        geo_lat: place.geo.map(|point| point.lat),
        geo_lng: place.geo.map(|point| point.lng),
    )
}

fn organizer_row(linked: &Linked) -> OrganizerRow {
    row!(OrganizerRow, linked, email: linked.email.clone())
}

/// Loads rows of either kind that match a filter.
macro_rules! load {
    ($db:ident, $kind:expr, |$table:ident| $filter:expr) => {
        match $kind {
            Kind::Venue => {
                use super::schema::venues as $table;
                let rows: Vec<VenueRow> = on_backend!($db, conn => $table::table
                    .filter($filter)
                    .order($table::id)
                    .select(VenueRow::as_select())
                    .load(conn)?);
                rows.into_iter().map(Linked::from).collect::<Vec<_>>()
            }
            Kind::Organizer => {
                use super::schema::organizers as $table;
                let rows: Vec<OrganizerRow> = on_backend!($db, conn => $table::table
                    .filter($filter)
                    .order($table::id)
                    .select(OrganizerRow::as_select())
                    .load(conn)?);
                rows.into_iter().map(Linked::from).collect::<Vec<_>>()
            }
        }
    };
}

/// Finds a row by id.
pub fn find(db: &mut Db, kind: Kind, id: i64) -> Result<Option<Linked>, DatabaseError> {
    Ok(load!(db, kind, |table| table::id.eq(id)).pop())
}

/// Finds a row by its slug as stored.
pub fn find_by_slug(db: &mut Db, kind: Kind, slug: &str) -> Result<Option<Linked>, DatabaseError> {
    Ok(load!(db, kind, |table| table::slug.eq(slug)).pop())
}

/// Returns a row's slug and name, if it exists.
pub fn label(db: &mut Db, kind: Kind, id: i64) -> Result<Option<(String, String)>, DatabaseError> {
    Ok(match kind {
        Kind::Venue => {
            venues::table.find(id).select((venues::slug, venues::name)).first(db).optional()?
        }
        Kind::Organizer => {
            let columns = (organizers::slug, organizers::name);
            organizers::table.find(id).select(columns).first(db).optional()?
        }
    })
}

/// Maximum number of rows with the same name to examine per write request, because their text can
/// be long.
const NAMESAKES: i64 = 20;

/// Returns the ids of up to [`NAMESAKES`] rows with this case-folded name, oldest first. Only
/// includes rows that the caller can see. If `description` is given, it must match too.
pub fn named(
    db: &mut Db,
    kind: Kind,
    folded: &str,
    scope: &Scope,
    description: Option<&str>,
) -> Result<Vec<i64>, DatabaseError> {
    let table = kind.collection();
    let mut sql = Sql::prepared(db, "select v.id as id from ");
    sql.push(table).push(" v where substr(v.name_ci, 1, 200) = ").bind(head(folded));
    sql.push(" and v.name_ci = ").bind(folded).push(" and ");
    conditions::statuses(&mut sql, "v", scope);
    if let Some(text) = description {
        sql.push(" and octet_length(v.description) = ");
        sql.value(i64::try_from(text.len()).unwrap_or(i64::MAX));
    }
    sql.push(" order by v.id limit ").value(NAMESAKES);
    let ids = sql.load_ids(db)?;
    let Some(text) = description.filter(|_| !ids.is_empty()) else { return Ok(ids) };
    let mut sql = Sql::new(db, "select v.id as id from ");
    sql.push(table).push(" v where v.id in ").ids(&ids).push(" and v.description = ");
    sql.bind(text).push(" order by v.id");
    sql.load_ids(db)
}

/// Returns the ids of the first rows with these case-folded names, keyed by name. Only includes
/// rows that the caller can see.
pub fn ids_by_name(
    db: &mut Db,
    kind: Kind,
    folded: &[&str],
    scope: &Scope,
) -> Result<HashMap<String, i64>, DatabaseError> {
    let mut ids = HashMap::new();
    for names in folded.chunks(TEXTS) {
        let heads: Vec<String> = names.iter().map(|name| head(name)).collect();
        let mut sql = Sql::new(db, "select min(v.id) as id, v.name_ci as text from ");
        sql.push(kind.collection()).push(" v where substr(v.name_ci, 1, 200) in ");
        sql.texts(heads.iter().map(String::as_str)).push(" and v.name_ci in ");
        sql.texts(names.iter().copied()).push(" and ");
        conditions::statuses(&mut sql, "v", scope);
        sql.push(" group by v.name_ci");
        let rows: Vec<TextRow> = sql.load(db)?;
        ids.extend(rows.into_iter().map(|row| (row.text, row.id)));
    }
    Ok(ids)
}

/// Returns which of the ids exist as rows of this kind.
pub fn existing(db: &mut Db, kind: Kind, ids: &[i64]) -> Result<HashSet<i64>, DatabaseError> {
    if ids.is_empty() {
        return Ok(HashSet::new());
    }
    let found: Vec<i64> = match kind {
        Kind::Venue => on_backend!(db, conn => venues::table
            .filter(venues::id.eq_any(ids))
            .select(venues::id)
            .load(conn)?),
        Kind::Organizer => on_backend!(db, conn => organizers::table
            .filter(organizers::id.eq_any(ids))
            .select(organizers::id)
            .load(conn)?),
    };
    Ok(found.into_iter().collect())
}

/// Returns rows by id.
pub fn by_ids(db: &mut Db, kind: Kind, ids: &[i64]) -> Result<HashMap<i64, Linked>, DatabaseError> {
    if ids.is_empty() {
        return Ok(HashMap::new());
    }
    let rows = load!(db, kind, |table| among(table::id, ids));
    Ok(rows.into_iter().map(|row| (row.id, row)).collect())
}

/// Allocates an id for a new row, preferring the row's id on another site.
pub fn allocate_as(db: &mut Db, kind: Kind, wanted: Option<i64>) -> Result<i64, DatabaseError> {
    entities::allocate_as(db, kind.entity(), wanted)
}

fn folded(linked: &Linked) -> (String, String) {
    (search::fold_name(&html::plain(&linked.name)), search::fold(&linked.searched()))
}

/// Inserts a new row. The id must already be allocated.
pub fn insert(db: &mut Db, linked: &Linked) -> Result<(), DatabaseError> {
    let (name_ci, search_ci) = folded(linked);
    match linked.kind {
        Kind::Venue => diesel::insert_into(venues::table)
            .values((
                venue_row(linked),
                venues::name_ci.eq(name_ci),
                venues::search_ci.eq(search_ci),
            ))
            .execute(db)?,
        Kind::Organizer => diesel::insert_into(organizers::table)
            .values((
                organizer_row(linked),
                organizers::name_ci.eq(name_ci),
                organizers::search_ci.eq(search_ci),
            ))
            .execute(db)?,
    };
    Ok(())
}

/// Updates a row. If it is trashed, its links are removed.
pub fn update(db: &mut Db, linked: &Linked) -> Result<(), DatabaseError> {
    let (name_ci, search_ci) = folded(linked);
    match linked.kind {
        Kind::Venue => diesel::update(venues::table.find(linked.id))
            .set((venue_row(linked), venues::name_ci.eq(name_ci), venues::search_ci.eq(search_ci)))
            .execute(db)?,
        Kind::Organizer => diesel::update(organizers::table.find(linked.id))
            .set((
                organizer_row(linked),
                organizers::name_ci.eq(name_ci),
                organizers::search_ci.eq(search_ci),
            ))
            .execute(db)?,
    };
    if linked.status.is_trashed() {
        links::remove_linked(db, linked.kind, linked.id)?;
    }
    Ok(())
}

/// Maximum number of rows to publish per transaction.
const DUE_AT_ONCE: i64 = 1000;

/// Publishes up to [`DUE_AT_ONCE`] scheduled rows that are due. Returns how many were published.
pub fn publish_due(db: &mut Db, kind: Kind, now: i64) -> Result<usize, DatabaseError> {
    let table = kind.collection();
    let mut sql = Sql::new(db, "select id from ");
    sql.push(table).push(" where status = 'future' and published_utc <= ").value(now);
    sql.push(" order by id limit ").value(DUE_AT_ONCE);
    let due = sql.load_ids(db)?;
    // Most of the time, nothing is due, so avoid the write.
    if due.is_empty() {
        return Ok(0);
    }
    let mut sql = Sql::new(db, "update ");
    sql.push(table).push(" set status = 'publish', modified_utc = ").value(now);
    sql.push(" where id ").among(&due);
    sql.execute(db)
}
