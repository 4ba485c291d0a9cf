//! Measures the text on a page without reading it.

use std::collections::HashMap;

use database::{DatabaseError, Db, on_backend};
use diesel::backend::Backend;
use diesel::prelude::*;
use diesel::query_builder::{AstPass, Query, QueryFragment, QueryId};
use diesel::sql_types::BigInt;

use super::among_ids::AmongIds;
use super::event_index::ListError;
use super::sql::Sql;
use crate::model::linked::Kind;

/// Sums up the text in a response with these events, in bytes. If several events share a venue or
/// organizer, its text counts once per event. `IDS` is a placeholder for the condition on event
/// ids. Venues and organizers are looked up by key.
pub const OF_EVENTS: &str = "\
    coalesce((select sum(octet_length(description) + octet_length(excerpt)) \
        from events where id IDS), 0) + \
    coalesce((select sum((select octet_length(description) + octet_length(excerpt) \
        from venues where id = other_id)) from event_venues where event_id IDS), 0) + \
    coalesce((select sum((select octet_length(description) + octet_length(excerpt) \
        from organizers where id = other_id)) from event_organizers where event_id IDS), 0)";

const OF_VENUES: &str = "coalesce((select sum(octet_length(description) + octet_length(excerpt)) \
    from venues where id IDS), 0)";
const OF_ORGANIZERS: &str = "coalesce((select sum(octet_length(description) + \
    octet_length(excerpt)) from organizers where id IDS), 0)";

/// One of the sums above. Its SQL text is constant, so a connection prepares it only once.
struct Lengths<'a> {
    sum: &'static str,
    ids: AmongIds<'a>,
}

impl QueryId for Lengths<'_> {
    type QueryId = ();
    const HAS_STATIC_QUERY_ID: bool = false;
}

impl Query for Lengths<'_> {
    type SqlType = BigInt;
}

impl<'a, B: Backend> QueryFragment<B> for Lengths<'a>
where
    AmongIds<'a>: QueryFragment<B>,
{
    fn walk_ast<'b>(&'b self, mut out: AstPass<'_, 'b, B>) -> QueryResult<()> {
        out.push_sql("select cast(");
        for (at, piece) in self.sum.split("IDS").enumerate() {
            if at > 0 {
                self.ids.walk_ast(out.reborrow())?;
            }
            out.push_sql(piece);
        }
        out.push_sql(" as bigint)");
        Ok(())
    }
}

impl RunQueryDsl<PgConnection> for Lengths<'_> {}
impl RunQueryDsl<SqliteConnection> for Lengths<'_> {}

fn sum(db: &mut Db, sum: &'static str, ids: &[i64]) -> Result<usize, DatabaseError> {
    if ids.is_empty() {
        return Ok(0);
    }
    let lengths = Lengths { sum, ids: AmongIds::of(ids) };
    let bytes: i64 = on_backend!(db, conn => lengths.get_result(conn)?);
    Ok(usize::try_from(bytes).unwrap_or_default())
}

/// Returns an error if `bytes` is more than `room`.
pub fn check(bytes: usize, room: usize) -> Result<(), ListError> {
    if bytes <= room { Ok(()) } else { Err(ListError::Long(bytes)) }
}

/// Returns the total text size of these events in bytes. Included resources count each time they
/// are included.
pub fn of_events(db: &mut Db, ids: &[i64]) -> Result<usize, DatabaseError> {
    sum(db, OF_EVENTS, ids)
}

/// Returns the total text size of these venues or organizers in bytes.
pub fn of_linked(db: &mut Db, kind: Kind, ids: &[i64]) -> Result<usize, DatabaseError> {
    let text = match kind {
        Kind::Venue => OF_VENUES,
        Kind::Organizer => OF_ORGANIZERS,
    };
    sum(db, text, ids)
}

#[derive(QueryableByName)]
struct Length {
    #[diesel(sql_type = BigInt)]
    id: i64,
    #[diesel(sql_type = BigInt)]
    bytes: i64,
}

/// Returns the text size in bytes of each of these venues or organizers, keyed by id.
pub fn by_id(db: &mut Db, kind: Kind, ids: &[i64]) -> Result<HashMap<i64, usize>, DatabaseError> {
    if ids.is_empty() {
        return Ok(HashMap::new());
    }
    let mut sql = Sql::new(db, "select id, cast(octet_length(description) + ");
    sql.push("octet_length(excerpt) as bigint) as bytes from ").push(kind.collection());
    sql.push(" where id ").among(ids);
    let lengths: Vec<Length> = sql.load(db)?;
    let bytes = |length: Length| (length.id, usize::try_from(length.bytes).unwrap_or_default());
    Ok(lengths.into_iter().map(bytes).collect())
}
