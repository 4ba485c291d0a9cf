//! The event that each series started with, and the time of the series' last change. Feed readers
//! recognise a series by its first event.

use database::{DatabaseError, Db};
use diesel::QueryableByName;
use diesel::sql_types::BigInt;

use super::sql::Sql;

/// A series in the Atom feed.
#[derive(QueryableByName)]
pub struct Announced {
    #[diesel(sql_type = BigInt)]
    pub id: i64,
    /// Id of the event that the series started with. All parts of a split series share it. If the
    /// event is unknown, this is a unique negative number.
    #[diesel(sql_type = BigInt)]
    pub origin: i64,
    #[diesel(sql_type = BigInt)]
    modified_utc: i64,
    #[diesel(sql_type = BigInt)]
    ended_utc: i64,
}

impl Announced {
    /// Returns when any event of the series last changed, left the series, or ended.
    pub fn updated_utc(&self) -> i64 {
        self.modified_utc.max(self.ended_utc)
    }
}

/// Records the event that a series starts with.
pub fn begin(db: &mut Db, series: i64, event: i64) -> Result<(), DatabaseError> {
    let mut sql = Sql::new(db, "update series set origin = ");
    sql.value(event).push(" where id = ").value(series);
    sql.execute(db).map(drop)
}

/// Records that the series `to` was split off from the series `from`, and therefore has the same
/// origin.
pub fn share(db: &mut Db, (from, to): (i64, i64)) -> Result<(), DatabaseError> {
    let text = "update series set origin = (select s.origin from series s where s.id = ";
    let mut sql = Sql::new(db, text);
    sql.value(from).push(") where id = ").value(to);
    sql.execute(db).map(drop)
}

/// Returns the ids of the series with this UID and of all series that share its origin.
pub fn parts(db: &mut Db, uid: &str) -> Result<Vec<i64>, DatabaseError> {
    let text = "select s.id as id from series own join series s on s.origin = own.origin \
         where own.uid = ";
    let mut sql = Sql::new(db, text);
    sql.bind(uid).push(" order by s.id");
    sql.load_ids(db)
}

/// Returns these series. Each also covers any other parts with the same origin.
pub fn announced(db: &mut Db, ids: &[i64], now: i64) -> Result<Vec<Announced>, DatabaseError> {
    if ids.is_empty() {
        return Ok(Vec::new());
    }
    let text = "select own.id as id, own.origin as origin, max(case when e.modified_utc > s.modified_utc \
         then e.modified_utc else s.modified_utc end) as modified_utc, \
         coalesce(max(case when e.pub = 1 and e.end_utc < ";
    let mut sql = Sql::new(db, text);
    sql.value(now).push(" then e.end_utc end), 0) as ended_utc ");
    sql.push("from series own join series s on s.origin = own.origin ");
    sql.push("join series_events m on m.series_id = s.id join events e on e.id = m.event_id ");
    sql.push("where own.id ").among(ids).push(" group by own.id, own.origin");
    sql.load(db)
}

/// Returns which of these events were the first of a series.
pub fn begun_with(db: &mut Db, events: &[i64]) -> Result<Vec<i64>, DatabaseError> {
    if events.is_empty() {
        return Ok(Vec::new());
    }
    let mut sql = Sql::new(db, "select distinct origin as id from series where origin ");
    sql.among(events);
    sql.load_ids(db)
}

/// Returns when any event last changed or was withdrawn.
pub fn last_change(db: &mut Db) -> Result<i64, DatabaseError> {
    let mut latest = 0;
    for text in [
        "select coalesce(max(modified_utc), 0) as n from events",
        "select coalesce(max(withdrawn_utc), 0) as n from event_tombstones",
    ] {
        latest = Sql::new(db, text).number(db)?.max(latest);
    }
    Ok(latest)
}
