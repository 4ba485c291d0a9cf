//! The published pages of a site, by ranges of ids.

use database::{DatabaseError, Db};
use diesel::QueryableByName;
use diesel::sql_types::{BigInt, Text};

use super::sql::Sql;
use crate::model::linked::Kind;

/// A page of an event, a venue or an organizer.
#[derive(Clone, Debug, PartialEq, Eq, QueryableByName)]
pub struct PageRow {
    /// The slug.
    #[diesel(sql_type = Text)]
    pub slug: String,
    /// The last change in Unix seconds.
    #[diesel(sql_type = BigInt)]
    pub modified: i64,
}

/// The condition of events whose pages search engines may index.
const INDEXED: &str = "e.pub = 1 and e.password is null";

/// Returns the largest id of events, venues and organizers.
pub fn newest_item(db: &mut Db) -> Result<i64, DatabaseError> {
    Sql::new(db, "select coalesce(max(id), 0) as n from entities").number(db)
}

/// Returns the largest id of categories and tags.
pub fn newest_term(db: &mut Db) -> Result<i64, DatabaseError> {
    Sql::new(db, "select coalesce(max(id), 0) as n from terms").number(db)
}

/// Returns whether a range of ids has a page of an event, a venue or an organizer.
pub fn has_items(db: &mut Db, (first, last): (i64, i64)) -> Result<bool, DatabaseError> {
    let range = format!("between {first} and {last}");
    let text = format!(
        "select count(*) as n from (\
         select 1 from (select 1 from events e where {INDEXED} and e.id {range} limit 1) a \
         union all select 1 from (select 1 from venues where status = 'publish' and id {range} limit 1) b \
         union all select 1 from (select 1 from organizers where status = 'publish' and id {range} limit 1) c\
         ) x"
    );
    Ok(Sql::new(db, &text).number(db)? > 0)
}

/// Reads the pages of events in a range of ids, in the order of the ids.
pub fn events(db: &mut Db, (first, last): (i64, i64)) -> Result<Vec<PageRow>, DatabaseError> {
    let text = format!(
        "select e.slug as slug, e.modified_utc as modified from events e \
         where {INDEXED} and e.id between {first} and {last} order by e.id"
    );
    Sql::new(db, &text).load(db)
}

/// Reads the pages of venues or organizers in a range of ids, in the order of the ids.
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

/// Returns the ids of used categories and tags in a range of ids.
pub fn terms(db: &mut Db, (first, last): (i64, i64)) -> Result<Vec<i64>, DatabaseError> {
    let text = format!(
        "select id from terms where count > 0 and id between {first} and {last} order by id"
    );
    Sql::new(db, &text).load_ids(db)
}
