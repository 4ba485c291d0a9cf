//! The rows from which the index is built.

use database::{DatabaseError, Db, on_backend};
use diesel::backend::Backend;
use diesel::connection::DefaultLoadingMode;
use diesel::pg::PgRowByRowLoadingMode;
use diesel::prelude::*;
use diesel::query_builder::{AstPass, Query, QueryFragment, QueryId};
use diesel::sql_types::{BigInt, Nullable, Text};

use super::columns::{TIMES, TRAITS, TimeTypes, Times, TraitTypes, Traits};
use crate::model::schedule::{instant_from_seconds, wall_seconds};
use crate::model::window::SetBack;
use crate::model::zone::Zone;
use crate::store::among_ids::AmongIds;
use crate::store::sql::Sql;

/// Number of ids per query.
const CHUNK: usize = 5000;

/// The columns that the index needs.
#[derive(Queryable)]
pub struct Entry {
    pub id: i64,
    pub traits: Traits,
    pub times: Times,
    pub search_ci: String,
    /// The zone, if clocks might be set back during the event.
    pub set_back_zone: Option<String>,
    /// Id of the series. Negative if the event is cancelled.
    pub series: Option<i64>,
}

impl Entry {
    /// Returns the local times that are repeated during the event, if any.
    pub fn set_back(&self) -> Option<SetBack> {
        let zone = Zone::parse(self.set_back_zone.as_deref()?)?;
        let Times { start_utc, end_utc, start_local, end_local, .. } = self.times;
        let (start, end) = (instant_from_seconds(start_utc), instant_from_seconds(end_utc));
        let (from, to) = zone.last_set_back(start, end)?;
        let set_back = SetBack { from: wall_seconds(from), to: wall_seconds(to) };
        (end_local < set_back.from || start_local >= set_back.to).then_some(set_back)
    }
}

/// Selects the zone only if the event's UTC offset is smaller at its end than at its start, or if
/// the event lasts at least a month.
const SET_BACK_ZONE: &str =
    "case when start_local - start_utc > end_local - end_utc or is_long = 1 then timezone end";

/// Selects the event's series, as in [`Entry::series`]. Statuses are only looked up for events in a
/// series.
const SERIES: &str = "(select case when exists (select 1 from event_statuses s where s.event_id = \
     m.event_id and s.status = 'cancelled') then -m.series_id else m.series_id end \
     from series_events m where m.event_id = events.id)";

/// Selects all events, or only events with certain ids, ordered by id. The SQL text is constant, so
/// each connection prepares it only once.
struct Entries<'a>(Option<AmongIds<'a>>);

impl QueryId for Entries<'_> {
    type QueryId = ();
    const HAS_STATIC_QUERY_ID: bool = false;
}

impl Query for Entries<'_> {
    type SqlType = (BigInt, TraitTypes, TimeTypes, Text, Nullable<Text>, Nullable<BigInt>);
}

impl<'a, B: Backend> QueryFragment<B> for Entries<'a>
where
    AmongIds<'a>: QueryFragment<B>,
{
    fn walk_ast<'b>(&'b self, mut out: AstPass<'_, 'b, B>) -> QueryResult<()> {
        out.push_sql("select id, ");
        for columns in [TRAITS, TIMES, "search_ci"] {
            out.push_sql(columns);
            out.push_sql(", ");
        }
        out.push_sql(SET_BACK_ZONE);
        out.push_sql(", ");
        out.push_sql(SERIES);
        out.push_sql(" from events");
        if let Some(ids) = &self.0 {
            out.push_sql(" where id ");
            ids.walk_ast(out.reborrow())?;
        }
        out.push_sql(" order by id");
        Ok(())
    }
}

impl RunQueryDsl<PgConnection> for Entries<'_> {}
impl RunQueryDsl<SqliteConnection> for Entries<'_> {}

/// Passes all events to `take` in batches of `number`, ordered by id.
pub fn each(
    db: &mut Db,
    number: usize,
    mut take: impl FnMut(Vec<Entry>),
) -> Result<(), DatabaseError> {
    let mut batch = Vec::with_capacity(number);
    let mut add = |entry: Entry| {
        batch.push(entry);
        if batch.len() == number {
            take(std::mem::replace(&mut batch, Vec::with_capacity(number)));
        }
    };
    match db {
        Db::Sqlite(conn) => {
            for entry in Entries(None).load_iter::<Entry, DefaultLoadingMode>(conn)? {
                add(entry?);
            }
        }
        Db::Pg(conn) => {
            for entry in Entries(None).load_iter::<Entry, PgRowByRowLoadingMode>(conn)? {
                add(entry?);
            }
        }
    }
    take(batch);
    Ok(())
}

/// Returns the total size of the events' search text in bytes.
pub fn text_bytes(db: &mut Db, ids: &[i64]) -> Result<i64, DatabaseError> {
    let mut bytes = 0;
    for ids in ids.chunks(CHUNK) {
        let text = "select coalesce(cast(sum(octet_length(search_ci)) as bigint), 0) as n \
             from events where id ";
        let mut sql = Sql::new(db, text);
        sql.among(ids);
        bytes += sql.number(db)?;
    }
    Ok(bytes)
}

/// Reads events by id. The result is in ascending order if the ids are.
pub fn by_ids(db: &mut Db, ids: &[i64]) -> Result<Vec<Entry>, DatabaseError> {
    let mut all = Vec::new();
    for ids in ids.chunks(CHUNK) {
        let statement = Entries(Some(AmongIds::of(ids)));
        let read: Vec<Entry> = on_backend!(db, conn => statement.load(conn)?);
        all.extend(read);
    }
    Ok(all)
}
