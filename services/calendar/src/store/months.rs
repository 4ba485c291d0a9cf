//! Queries for the month page: a few events per day, and the total number.

use std::collections::{HashMap, HashSet};

use database::{Backend, DatabaseError, Db};
use diesel::QueryableByName;
use diesel::sql_types::{BigInt, Bool, Text};

use super::event_index::{EventIndex, ListError};
use super::sql::Sql;
use crate::model::month::{DAY, MonthEntry};

const COLUMNS: &str = "select e.id, e.title, e.slug, e.start_local, e.end_local, e.all_day from events e where e.pub = 1 and ";

#[derive(QueryableByName)]
struct EntryRow {
    #[diesel(sql_type = BigInt)]
    id: i64,
    #[diesel(sql_type = Text)]
    title: String,
    #[diesel(sql_type = Text)]
    slug: String,
    #[diesel(sql_type = BigInt)]
    start_local: i64,
    #[diesel(sql_type = BigInt)]
    end_local: i64,
    #[diesel(sql_type = Bool)]
    all_day: bool,
}

impl From<EntryRow> for MonthEntry {
    fn from(row: EntryRow) -> MonthEntry {
        let EntryRow { id, title, slug, start_local, end_local, all_day } = row;
        MonthEntry { id, title, slug, start_local, end_local, all_day }
    }
}

#[derive(QueryableByName)]
struct DayRow {
    #[diesel(sql_type = BigInt)]
    midnight: i64,
    #[diesel(sql_type = BigInt)]
    n: i64,
}

/// Matches events that last less than a day and end after the first midnight following their start.
/// Must be the same condition as in the `events_overnight` index.
const OVERNIGHT: &str = "e.pub = 1 and e.end_local - e.start_local < 86400 and \
     (e.start_local % 86400 + 86400) % 86400 + e.end_local - e.start_local > 86400";

/// The events on each day of a month.
pub struct Days {
    /// Each day's first events that last less than a day, in list order.
    pub first: Vec<MonthEntry>,
    /// Number of events that start on each day.
    pub starts: Vec<i64>,
    /// For each day, the number of events that started the day before, last less than a day and end
    /// after midnight.
    pub overnight: Vec<i64>,
}

/// Returns up to `most` events per day. The days are given by their local midnights. Uses SQL if
/// the in-memory index isn't available.
pub fn days(
    db: &mut Db,
    index: &EventIndex,
    midnights: &[i64],
    most: usize,
) -> Result<Days, ListError> {
    let Some(days) = index.days(db, midnights, most)? else {
        return Ok(Days {
            first: first_of_days(db, midnights, most)?,
            starts: starts(db, midnights)?,
            overnight: overnight(db, midnights)?,
        });
    };
    let mut sql = Sql::new(db, COLUMNS);
    sql.push("e.id ").among(&[days.starting.as_slice(), days.continued.as_slice()].concat());
    let found = entries(db, sql)?;
    let found: HashMap<i64, MonthEntry> = found.into_iter().map(|one| (one.id, one)).collect();
    let entry = |id: &i64| found.get(id).cloned();
    let all = days.starting.iter().chain(&days.continued).filter_map(entry);
    Ok(Days { first: in_list_order(all.collect()), starts: days.starts, overnight: days.overnight })
}

/// Removes duplicates and sorts the events by start. Expects the events that start on the days,
/// followed by the events that started earlier.
fn in_list_order(mut all: Vec<MonthEntry>) -> Vec<MonthEntry> {
    // An event that runs past midnight can be among the first of two days.
    let mut known = HashSet::new();
    all.retain(|entry| known.insert(entry.id));
    // Both parts are already in list order, and only ties are reordered.
    all.sort_by_key(|entry| entry.start_local);
    all
}

/// Returns the first events on each day that last less than a day, in list order. The days are
/// given by their local midnights.
pub fn first_of_days(
    db: &mut Db,
    midnights: &[i64],
    most: usize,
) -> Result<Vec<MonthEntry>, DatabaseError> {
    let mut all = Vec::new();
    for statement in first_statements(db, midnights, most) {
        all.extend(entries(db, statement)?);
    }
    Ok(in_list_order(all))
}

/// Returns the statements for [`first_of_days`]: one for events that start on the days, and one for
/// events that started the day before. For each day, they read rows in index order and stop early.
pub fn first_statements(db: &Db, midnights: &[i64], most: usize) -> [Sql; 2] {
    let starting = |midnight: &str| {
        format!(
            "({COLUMNS}e.start_local >= {midnight} and e.start_local < {midnight} + {DAY} and \
             e.end_local - e.start_local < {DAY} \
             order by e.start_local, e.published_utc, e.id limit {most})"
        )
    };
    let columns = overnight_source(db, COLUMNS);
    let continued = |midnight: &str| {
        format!(
            "({columns}{OVERNIGHT} and e.start_local > {midnight} - {DAY} and \
             e.start_local < {midnight} \
             order by e.start_local, e.published_utc, e.id limit {most})"
        )
    };
    [of_each_day(db, midnights, starting), of_each_day(db, midnights, continued)]
}

/// For each day, counts the events that started the day before, last less than a day and end after
/// midnight.
pub fn overnight(db: &mut Db, midnights: &[i64]) -> Result<Vec<i64>, DatabaseError> {
    let statement = overnight_statement(db, midnights);
    counts_of_days(db, midnights, statement)
}

/// Returns the statement for [`overnight`], which only reads the events it counts.
pub fn overnight_statement(db: &Db, midnights: &[i64]) -> Sql {
    let source = overnight_source(db, "from events e where ");
    let of_day = |midnight: &str| {
        format!(
            "(select {midnight} as midnight, count(*) as n {source}{OVERNIGHT} and \
             e.start_local > {midnight} - {DAY} and e.start_local < {midnight})"
        )
    };
    of_each_day(db, midnights, of_day)
}

/// Forces SQLite to use the index of overnight events, because it can't know that there are only a
/// few of them.
fn overnight_source(db: &Db, text: &str) -> String {
    match db.backend() {
        Backend::Sqlite => text.replace("events e", "events e indexed by events_overnight"),
        Backend::Postgres => text.to_owned(),
    }
}

/// Combines one query per day into a single statement.
fn of_each_day(db: &Db, midnights: &[i64], of_day: impl Fn(&str) -> String) -> Sql {
    let days: Vec<String> = midnights.iter().map(i64::to_string).collect();
    let text = match db.backend() {
        // PostgreSQL would plan each part of a union separately.
        Backend::Postgres => format!(
            "select x.* from unnest(array[{}]::bigint[]) as d (midnight) \
             cross join lateral {} x",
            days.join(","),
            of_day("d.midnight")
        ),
        Backend::Sqlite => {
            let parts = days.iter().map(|day| format!("select x.* from {} x", of_day(day)));
            parts.collect::<Vec<_>>().join(" union all ")
        }
    };
    Sql::new(db, &text)
}

/// Returns events that last at least a day and overlap a range of local times, ordered by end.
pub fn lasting(
    db: &mut Db,
    (from, to): (i64, i64),
    most: usize,
) -> Result<Vec<MonthEntry>, DatabaseError> {
    let overlapping = format!(
        "e.end_local - e.start_local >= {DAY} and e.end_local > {from} and e.start_local <= {to}"
    );
    // Neither planner knows that there are only a few of these events. Without these hints, both
    // would scan all the others for the earliest ends.
    let source = match db.backend() {
        Backend::Sqlite => {
            let named = COLUMNS.replace("events e", "events e indexed by events_lasting");
            format!("{named}{overlapping}")
        }
        Backend::Postgres => format!("select * from ({COLUMNS}{overlapping} offset 0) e"),
    };
    let text = format!("{source} order by e.end_local, e.start_local, e.id limit {most}");
    let sql = Sql::new(db, &text);
    entries(db, sql)
}

fn entries(db: &mut Db, sql: Sql) -> Result<Vec<MonthEntry>, DatabaseError> {
    let rows: Vec<EntryRow> = sql.load(db)?;
    Ok(rows.into_iter().map(MonthEntry::from).collect())
}

/// Counts the events that start on each day.
fn starts(db: &mut Db, midnights: &[i64]) -> Result<Vec<i64>, DatabaseError> {
    let of_day = |midnight: &str| {
        format!(
            "(select {midnight} as midnight, count(*) as n from events e where e.pub = 1 and \
             e.start_local >= {midnight} and e.start_local < {midnight} + {DAY})"
        )
    };
    let statement = of_each_day(db, midnights, of_day);
    counts_of_days(db, midnights, statement)
}

fn counts_of_days(
    db: &mut Db,
    midnights: &[i64],
    statement: Sql,
) -> Result<Vec<i64>, DatabaseError> {
    let rows: Vec<DayRow> = statement.load(db)?;
    let count = |day: &i64| rows.iter().find(|row| row.midnight == *day).map_or(0, |row| row.n);
    Ok(midnights.iter().map(count).collect())
}
