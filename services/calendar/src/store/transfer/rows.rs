//! Row types for all exported tables.

use database::{DatabaseError, Db, on_backend};
use diesel::prelude::*;
use diesel::sql_types::{BigInt, Text};
use outbound::WebhookSecret;
use serde::{Deserialize, Serialize};

use super::carried::{Carried, ROWS, carried};
use crate::store::schema::{
    entities, event_moves, event_organizers, event_statuses, event_terms, event_tombstones,
    event_venues, events, former_slugs, images, imported_edits, imported_events,
    imported_overrides, imported_revisions, organizers, series, series_events, site_items,
    subscribed_events, subscriptions, terms, users, venues,
};
use crate::store::sql::Sql;

carried!(UserRow in users by (id) {
    id: i64, login: String, display_name: String, role: String,
});

carried!(EntityRow in entities by (id) { id: i64, kind: i32 });

carried!(ImageRow in images by (id) {
    id: i64, url: String, file: Option<String>, mime: Option<String>, extension: String,
    width: Option<i64>, height: Option<i64>, filesize: Option<i64>, author_id: i64,
    created_utc: i64,
});

carried!(VenueRow in venues by (id) {
    id: i64, author_id: i64, status: String, prev_status: Option<String>, name: String,
    name_ci: String, search_ci: String, description: String, excerpt: String, slug: String,
    published_utc: i64, published_local: i64, modified_utc: i64, image_id: Option<i64>,
    phone: String, website: String, address: String, city: String, country: String,
    province: String, state: String, stateprovince: String, zip: String, show_map: bool,
    show_map_link: bool,
    #[serde(with = "exact")] geo_lat: Option<f64>,
    #[serde(with = "exact")] geo_lng: Option<f64>,
});

carried!(OrganizerRow in organizers by (id) {
    id: i64, author_id: i64, status: String, prev_status: Option<String>, name: String,
    name_ci: String, search_ci: String, description: String, excerpt: String, slug: String,
    published_utc: i64, published_local: i64, modified_utc: i64, image_id: Option<i64>,
    phone: String, website: String, email: String,
});

carried!(TermRow in terms by (id) {
    id: i64, taxonomy: i32, name: String, name_ci: String, search_ci: String, slug: String,
    description: String, parent_id: i64, count: i64,
});

carried!(EventRow in events by (id) {
    id: i64, author_id: i64, status: String, prev_status: Option<String>, title: String,
    description: String, excerpt: String, slug: String, published_utc: i64, published_local: i64,
    modified_utc: i64, start_local: i64, end_local: i64, start_utc: i64, end_utc: i64,
    timezone: String, all_day: bool, cost: String, website: String, show_map: bool,
    show_map_link: bool, listed: bool, sticky: bool, featured: bool, image_id: Option<i64>,
    // A parent can have a higher id than its children, so it is set once all events exist.
    #[serde(skip)] parent_id: Option<i64>,
    password: Option<String>, external_id: Option<String>, sequence: i64, search_ci: String,
    is_public: i32, is_long: i32,
});

carried!(StatusRow in event_statuses by (event_id) {
    event_id: i64, status: String, reason: String,
});

carried!(MoveRow in event_moves by (event_id) { event_id: i64, previous_start: i64 });

carried!(SeriesRow in series by (id) {
    id: i64, uid: String, slug: String, timezone: String, all_day: bool, start_local: i64,
    end_local: i64, duration: String, rule: String, rdates: String, exdates: String, most: i64,
    made_until: i64, due_utc: Option<i64>, sequence: i64, modified_utc: i64, origin: i64,
});

carried!(SeriesEventRow in series_events by (event_id) {
    event_id: i64, series_id: i64, occurrence: i64, changed: String,
});

carried!(ImportedRow in imported_events by (event_id) {
    event_id: i64, moment: Option<String>, is_private: bool, is_trashed: bool, is_cancelled: bool,
    is_postponed: bool, is_created: bool,
});

carried!(RevisionRow in imported_revisions by (name) {
    name: String, sequence: Option<i64>, modified: Option<i64>, stamped: Option<i64>,
});

carried!(OverrideRow in imported_overrides by (event_id) {
    event_id: i64, sequence: i64, modified: i64,
});

carried!(EditRow in imported_edits by (event_id) {
    event_id: i64, sequence: i64, modified: i64, original: Option<i64>,
    file_sequence: Option<i64>, file_modified: Option<i64>, file_stamped: Option<i64>,
});

carried!(SlugRow in former_slugs by (collection, slug) {
    collection: String, slug: String, item_id: i64,
});

carried!(EventTermRow in event_terms by (event_id, other_id) {
    event_id: i64, other_id: i64, position: i32, start_utc: i64,
});

carried!(EventVenueRow in event_venues by (event_id, other_id) {
    event_id: i64, other_id: i64, position: i32, start_utc: i64,
});

carried!(EventOrganizerRow in event_organizers by (event_id, other_id) {
    event_id: i64, other_id: i64, position: i32, start_utc: i64,
});

carried!(TombstoneRow in event_tombstones by (event_id) {
    event_id: i64, withdrawn_utc: i64, was_public: bool, author_id: i64,
});

carried!(SiteItemRow in site_items by (source, their_id) {
    source: String, their_id: i64, our_id: i64, digest: String,
});

carried!(SubscriptionRow in subscriptions by (id) {
    id: i64, url: String, interval_minutes: i64, author_id: i64, status: String,
    category_id: Option<i64>, venue_id: Option<i64>, adopts: bool, state: String,
    created_utc: i64, next_utc: i64, failures: i64,
    // The lease isn't exported, because a run in progress ends with its server.
    #[serde(skip)] lease: Option<String>,
    #[serde(skip)] lease_until: i64,
    #[serde(skip)] requests: i64,
    etag: Option<String>, last_modified: Option<String>, imported_utc: i64, accepted_loss: i64,
    counted_event: i64,
    last_run: Option<String>,
});

carried!(SubscribedEventRow in subscribed_events by (subscription_id, name) {
    subscription_id: i64, name: String, event_id: Option<i64>, is_vanished: bool, changed: String,
    removed_utc: i64,
});

/// An event's parent.
#[derive(Debug, Serialize, Deserialize, QueryableByName)]
#[serde(deny_unknown_fields)]
pub struct ParentRow {
    #[diesel(sql_type = BigInt)]
    id: i64,
    #[diesel(sql_type = BigInt)]
    parent_id: i64,
}

impl Carried for ParentRow {
    fn page(db: &mut Db, after: Option<&Self>) -> Result<Vec<Self>, DatabaseError> {
        let mut sql = Sql::new(db, "select id, parent_id from events where parent_id is not null");
        sql.push(" and id > ").value(after.map_or(i64::MIN, |row| row.id));
        sql.push(" order by id limit ").value(ROWS);
        sql.load(db)
    }

    fn insert(db: &mut Db, rows: &[&Self]) -> Result<(), DatabaseError> {
        for row in rows {
            let mut sql = Sql::new(db, "update events set parent_id = ");
            sql.value(row.parent_id).push(" where id = ").value(row.id);
            sql.execute(db)?;
        }
        Ok(())
    }
}

/// A webhook without its secret. A new secret is generated on insert.
#[derive(Debug, Serialize, Deserialize, QueryableByName)]
#[serde(deny_unknown_fields)]
pub struct WebhookRow {
    #[diesel(sql_type = BigInt)]
    id: i64,
    #[diesel(sql_type = Text)]
    url: String,
    #[diesel(sql_type = BigInt)]
    created_utc: i64,
}

impl Carried for WebhookRow {
    fn page(db: &mut Db, after: Option<&Self>) -> Result<Vec<Self>, DatabaseError> {
        let mut sql = Sql::new(db, "select id, url, created_utc from webhooks where id > ");
        sql.value(after.map_or(i64::MIN, |row| row.id)).push(" order by id limit ").value(ROWS);
        sql.load(db)
    }

    fn insert(db: &mut Db, rows: &[&Self]) -> Result<(), DatabaseError> {
        for row in rows {
            let secret = WebhookSecret::generate()
                .map_err(|error| DatabaseError::broken(error.to_string()))?;
            let mut sql = Sql::new(db, "insert into webhooks (id, url, secret, created_utc)");
            if matches!(db, Db::Pg(_)) {
                sql.push(" overriding system value");
            }
            sql.push(" values (").value(row.id).push(", ").bind(row.url.clone()).push(", ");
            sql.bind(secret.text()).push(", ").value(row.created_utc).push(")");
            sql.execute(db)?;
        }
        Ok(())
    }
}

/// Serializes floats as strings, to preserve every bit.
mod exact {
    use serde::{Deserialize, Deserializer, Serialize, Serializer, de};

    pub fn serialize<S: Serializer>(number: &Option<f64>, to: S) -> Result<S::Ok, S::Error> {
        number.map(|number| number.to_string()).serialize(to)
    }

    pub fn deserialize<'de, D: Deserializer<'de>>(from: D) -> Result<Option<f64>, D::Error> {
        let text = Option::<String>::deserialize(from)?;
        text.map(|text| text.parse()).transpose().map_err(de::Error::custom)
    }
}

impl Record {
    /// Returns an image's file name. Returns `None` for other rows, and for images that are only
    /// linked.
    pub fn file(&self) -> Option<&str> {
        match self {
            Record::Image(row) => row.file.as_deref(),
            _ => None,
        }
    }
}

/// Defines [`Record`] and the export operations that involve all tables.
macro_rules! records {
    ($($variant:ident($row:ident) is $name:literal, $count:literal;)+) => {
        /// A row, tagged with its table name.
        #[derive(Debug, Serialize, Deserialize)]
        pub enum Record {
            $(#[serde(rename = $name)] $variant($row)),+
        }

        /// Table names, each with the `from` clause that counts its rows.
        pub const TABLES: &[(&str, &str)] = &[$(($name, $count)),+];

        impl Record {
            /// Returns the table name.
            pub fn table(&self) -> &'static str {
                match self {
                    $(Record::$variant(_) => $name),+
                }
            }

            /// Inserts rows. Referenced rows must be inserted before the rows that refer to them.
            pub fn insert(db: &mut Db, records: &[Record]) -> Result<(), DatabaseError> {
                $(
                    let rows: Vec<&$row> = records
                        .iter()
                        .filter_map(|record| match record {
                            Record::$variant(row) => Some(row),
                            #[allow(unreachable_patterns)]
                            _ => None,
                        })
                        .collect();
                    if !rows.is_empty() {
                        $row::insert(db, &rows)?;
                    }
                )+
                Ok(())
            }
        }

        /// Passes all rows to `sink`. Must run in a read transaction.
        ///
        /// # Errors
        /// Returns an error if `sink` fails, or the database fails.
        pub fn each<E: From<DatabaseError>>(
            db: &mut Db,
            mut sink: impl FnMut(&Record) -> Result<(), E>,
        ) -> Result<(), E> {
            $(
                let mut last: Option<$row> = None;
                loop {
                    let rows = $row::page(db, last.as_ref())?;
                    if rows.is_empty() {
                        break;
                    }
                    for row in rows {
                        let record = Record::$variant(row);
                        sink(&record)?;
                        let Record::$variant(row) = record else { break };
                        last = Some(row);
                    }
                }
            )+
            Ok(())
        }
    };
}

records! {
    User(UserRow) is "users", "users";
    Entity(EntityRow) is "entities", "entities";
    Image(ImageRow) is "images", "images";
    Venue(VenueRow) is "venues", "venues";
    Organizer(OrganizerRow) is "organizers", "organizers";
    Term(TermRow) is "terms", "terms";
    Event(EventRow) is "events", "events";
    Parent(ParentRow) is "event_parents", "events where parent_id is not null";
    Status(StatusRow) is "event_statuses", "event_statuses";
    Move(MoveRow) is "event_moves", "event_moves";
    Series(SeriesRow) is "series", "series";
    SeriesEvent(SeriesEventRow) is "series_events", "series_events";
    Imported(ImportedRow) is "imported_events", "imported_events";
    Revision(RevisionRow) is "imported_revisions", "imported_revisions";
    Override(OverrideRow) is "imported_overrides", "imported_overrides";
    Edit(EditRow) is "imported_edits", "imported_edits";
    Slug(SlugRow) is "former_slugs", "former_slugs";
    EventTerm(EventTermRow) is "event_terms", "event_terms";
    EventVenue(EventVenueRow) is "event_venues", "event_venues";
    EventOrganizer(EventOrganizerRow) is "event_organizers", "event_organizers";
    Tombstone(TombstoneRow) is "event_tombstones", "event_tombstones";
    SiteItem(SiteItemRow) is "site_items", "site_items";
    Webhook(WebhookRow) is "webhooks", "webhooks";
    Subscription(SubscriptionRow) is "subscriptions", "subscriptions";
    SubscribedEvent(SubscribedEventRow) is "subscribed_events", "subscribed_events";
}

#[derive(QueryableByName)]
struct FileRow {
    #[diesel(sql_type = Text)]
    file: String,
}

/// Returns the next image file names after `after`, in order.
pub fn files(db: &mut Db, after: &str) -> Result<Vec<String>, DatabaseError> {
    let mut sql = Sql::new(db, "select distinct ");
    sql.sorted("file").push(" as file from images where ").sorted("file").push(" > ");
    sql.bind(after).push(" order by 1 limit 1000");
    let rows: Vec<FileRow> = sql.load(db)?;
    Ok(rows.into_iter().map(|row| row.file).collect())
}
