//! The site's published pages, queried by id range.

use database::{DatabaseError, Db};
use diesel::QueryableByName;
use diesel::sql_types::{BigInt, Text};

use super::sql::Sql;
use crate::model::linked::Kind;

/// An event, venue or organizer page.
#[derive(Clone, Debug, PartialEq, Eq, QueryableByName)]
pub struct PageRow {
    #[diesel(sql_type = Text)]
    pub slug: String,
    /// Time of the last change in Unix seconds.
    #[diesel(sql_type = BigInt)]
    pub modified: i64,
}

/// Matches events with pages that search engines can index.
const INDEXED: &str = "e.pub = 1 and e.password is null";

/// Returns the next id after `last` that belongs to an event, venue or organizer page.
pub fn next_item(db: &mut Db, last: i64) -> Result<Option<i64>, DatabaseError> {
    let first = |table: &str, condition: &str| {
        format!(
            "select id from (select e.id as id from {table} e where {condition} and e.id > {last} \
             order by e.id limit 1) {table}_after"
        )
    };
    let published = "e.status = 'publish'";
    let text = format!(
        "select id from ({} union all {} union all {}) x order by id limit 1",
        first("events", INDEXED),
        first("venues", published),
        first("organizers", published)
    );
    Ok(Sql::new(db, &text).load_ids(db)?.pop())
}

/// Returns the next id after `last` that belongs to a category or tag in use.
pub fn next_term(db: &mut Db, last: i64) -> Result<Option<i64>, DatabaseError> {
    let text = format!("select id from terms where count > 0 and id > {last} order by id limit 1");
    Ok(Sql::new(db, &text).load_ids(db)?.pop())
}

/// Returns the event pages in an id range, ordered by id.
pub fn events(db: &mut Db, (first, last): (i64, i64)) -> Result<Vec<PageRow>, DatabaseError> {
    let text = format!(
        "select e.slug as slug, e.modified_utc as modified from events e \
         where {INDEXED} and e.id between {first} and {last} order by e.id"
    );
    Sql::new(db, &text).load(db)
}

/// Returns the venue or organizer pages in an id range, ordered by id.
pub fn linked(
    db: &mut Db,
    kind: Kind,
    (first, last): (i64, i64),
) -> Result<Vec<PageRow>, DatabaseError> {
    let table = kind.collection();
    let text = format!(
        "select slug, modified_utc as modified from {table} \
         where status = 'publish' and id between {first} and {last} order by id"
    );
    Sql::new(db, &text).load(db)
}

/// Returns the ids of categories and tags in use in an id range.
pub fn terms(db: &mut Db, (first, last): (i64, i64)) -> Result<Vec<i64>, DatabaseError> {
    let text = format!(
        "select id from terms where count > 0 and id between {first} and {last} order by id"
    );
    Sql::new(db, &text).load_ids(db)
}
