//! Numbers of public events per hour and per block of hours, from which the total of a long window
//! is read by one statement.
//!
//! A total is one statement: the functions below append scalar expressions that are added and
//! subtracted.

use database::{DatabaseError, Db};

use super::sql::Sql;
use crate::model::event::{Event, LONG};
use crate::model::window::Window;

const HOUR: i64 = 3600;

/// Hours in a block.
const BLOCK: i64 = 256;

#[derive(Clone, Copy)]
enum Edge {
    Start,
    End,
}

impl Edge {
    fn kind(self) -> i64 {
        match self {
            Edge::Start => 0,
            Edge::End => 1,
        }
    }

    fn column(self) -> &'static str {
        match self {
            Edge::Start => "start_utc",
            Edge::End => "end_utc",
        }
    }
}

/// Moves an event from one place in the counts to another; `None` is not counted at all.
pub fn replace(db: &mut Db, old: Option<&Event>, new: Option<&Event>) -> Result<(), DatabaseError> {
    let hours = |event: Option<&Event>| {
        event
            .filter(|event| event.is_public())
            .map(|event| [event.schedule.start_utc, event.schedule.end_utc].map(hour))
    };
    let (old, new) = (hours(old), hours(new));
    if old == new {
        return Ok(());
    }
    for (hours, change) in [(old, -1), (new, 1)] {
        let Some(hours) = hours else { continue };
        add(db, "hour_counts", "hour", hours, change)?;
        add(db, "block_counts", "block", hours.map(block), change)?;
    }
    Ok(())
}

/// Changes the number at the start and the number at the end of an event.
fn add(
    db: &mut Db,
    table: &str,
    key: &str,
    [start, end]: [i64; 2],
    change: i64,
) -> Result<(), DatabaseError> {
    let (first, second) = (Edge::Start.kind(), Edge::End.kind());
    let text = format!(
        "insert into {table} (kind, {key}, n) \
         values ({first}, {start}, {change}), ({second}, {end}, {change}) \
         on conflict (kind, {key}) do update set n = {table}.n + {change}"
    );
    Sql::new(db, &text).execute(db).map(drop)
}

fn hour(seconds: i64) -> i64 {
    seconds.div_euclid(HOUR)
}

fn block(hour: i64) -> i64 {
    hour.div_euclid(BLOCK)
}

/// Counts the public events in a window.
pub fn public(db: &mut Db, window: &Window) -> Result<i64, DatabaseError> {
    let mut sql = Sql::new(db, "");
    statement(&mut sql, window);
    sql.number(db)
}

/// Appends the statement that counts the public events in a window.
pub fn statement(sql: &mut Sql, window: &Window) {
    sql.push("select ");
    match *window {
        Window { start_min: None, start_max: None, end_min: None, end_max: None } => {
            after(sql, Edge::Start, None);
        }
        Window { start_min, start_max: None, end_min: None, end_max } => {
            inside(sql, start_min, end_max);
        }
        Window { start_min: None, start_max, end_min, end_max: None } => {
            overlapping(sql, start_max, end_min);
        }
        _ => direct(sql, window),
    }
    sql.push(" as n");
}

/// Appends the number of those that start at or after `from` and end at or before `to`.
///
/// Of all that start late enough, those that end too late are taken away; the events that begin
/// before the window and end behind it were taken away without having been counted, so they are
/// added again. Such events are longer than the window.
fn inside(sql: &mut Sql, from: Option<i64>, to: Option<i64>) {
    match (from, to) {
        (Some(from), Some(to)) if from > to => {
            sql.push("cast(0 as bigint)");
            return;
        }
        (Some(from), Some(to)) if to - from < LONG => {
            let window = Window { start_min: Some(from), end_max: Some(to), ..Window::default() };
            direct(sql, &window);
            return;
        }
        _ => after(sql, Edge::Start, from),
    }
    let Some(to) = to else { return };
    sql.push(" - ");
    after(sql, Edge::End, Some(to + 1));
    let Some(from) = from else { return };
    sql.push(" + (select count(*) from events where pub = 1 and is_long = 1 and end_utc > ");
    sql.value(to).push(" and start_utc < ").value(from).push(")");
}

/// Appends the number of those that start at or before `until` and end at or after `since`.
///
/// Of all that end late enough, those that start too late are taken away.
fn overlapping(sql: &mut Sql, until: Option<i64>, since: Option<i64>) {
    after(sql, Edge::End, since);
    let Some(until) = until else { return };
    sql.push(" - ");
    after(sql, Edge::Start, Some(until + 1));
    // Bounds that stand the wrong way round leave a gap: what lies in it was taken away without
    // having been counted.
    if let Some(since) = since.filter(|since| until + 1 < *since) {
        sql.push(" + ");
        inside(sql, Some(until + 1), Some(since - 1));
    }
}

/// Appends the number of starts or ends at or after an instant, in brackets: the blocks behind its
/// block, the hours behind its hour in the block, and the events in the rest of its hour.
fn after(sql: &mut Sql, edge: Edge, from: Option<i64>) {
    let Some(from) = from else {
        sql.push("(");
        sum(sql, "block_counts", edge);
        sql.push("))");
        return;
    };
    let hour = hour(from);
    let block = block(hour);
    sql.push("(");
    sum(sql, "block_counts", edge);
    sql.push(" and block > ").value(block).push(") + ");
    sum(sql, "hour_counts", edge);
    sql.push(" and hour > ").value(hour).push(" and hour < ").value((block + 1) * BLOCK);
    let column = edge.column();
    sql.push(") + (select count(*) from events where pub = 1 and ").push(column).push(" >= ");
    sql.value(from).push(" and ").push(column).push(" < ").value((hour + 1) * HOUR).push("))");
}

/// Appends the sum of the numbers in a table; its conditions and the bracket at its end follow.
fn sum(sql: &mut Sql, table: &str, edge: Edge) {
    let kind = edge.kind();
    sql.push(&format!(
        "(select coalesce(cast(sum(n) as bigint), 0) from {table} where kind = {kind}"
    ));
}

/// Appends the number of events in a window, counted one by one.
fn direct(sql: &mut Sql, window: &Window) {
    sql.push("(select count(*) from events e where e.pub = 1");
    super::conditions::within(sql, window);
    sql.push(")");
}
