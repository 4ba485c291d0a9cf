//! Numbers of public events per local hour and per block of hours, from which one statement
//! computes the total of a long window.
//!
//! The functions below append scalar expressions that are added and subtracted.

use database::{DatabaseError, Db};

use super::conditions::{DRIFT, TURNED_BACK};
use super::sql::Sql;
use crate::model::event::{Event, LONG};
use crate::model::window::{Bound, Limits, Window};

const HOUR: i64 = 3600;

/// Hours per block.
const BLOCK: i64 = 256;

#[derive(Clone, Copy, PartialEq, Eq)]
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

    /// Returns the column that a bound on this edge is compared with.
    fn column(self, bound: Bound) -> &'static str {
        match (self, bound) {
            (Edge::Start, Bound::Wall(_)) => "start_local",
            (Edge::Start, Bound::Instant(_)) => "start_utc",
            (Edge::End, Bound::Wall(_)) => "end_local",
            (Edge::End, Bound::Instant(_)) => "end_utc",
        }
    }
}

/// Moves an event from one place in the counts to another. `None` is not counted.
pub fn replace(db: &mut Db, old: Option<&Event>, new: Option<&Event>) -> Result<(), DatabaseError> {
    let hours = |event: Option<&Event>| {
        event
            .filter(|event| event.is_public())
            .map(|event| [event.schedule.start_local, event.schedule.end_local].map(hour))
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

/// Adds to the number at the start and the number at the end of an event.
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

/// The bounds of a window by side. `None` if a side has bounds both in local time and in UTC.
struct Sides {
    start_min: Option<Bound>,
    start_max: Option<Bound>,
    end_min: Option<Bound>,
    end_max: Option<Bound>,
}

impl Sides {
    fn of(window: &Window) -> Option<Sides> {
        let side = |side: fn(&Limits) -> Option<i64>| match (side(&window.wall), side(&window.utc))
        {
            (Some(_), Some(_)) => None,
            (wall, utc) => Some(wall.map(Bound::Wall).or(utc.map(Bound::Instant))),
        };
        Some(Sides {
            start_min: side(|limits| limits.start_min)?,
            start_max: side(|limits| limits.start_max)?,
            end_min: side(|limits| limits.end_min)?,
            end_max: side(|limits| limits.end_max)?,
        })
    }
}

/// Appends the statement that counts the public events in a window.
pub fn statement(sql: &mut Sql, window: &Window) {
    sql.push("select ");
    match Sides::of(window) {
        Some(Sides { start_min, start_max: None, end_min: None, end_max })
            if window.wall.touching.is_none() && window.utc.touching.is_none() =>
        {
            inside(sql, start_min, end_max);
        }
        Some(Sides { start_min: None, start_max, end_min, end_max: None }) => {
            overlapping(sql, start_max, end_min);
            for touching in touching(window).iter().flatten() {
                sql.push(" - ");
                direct(sql, touching);
            }
        }
        _ => direct(sql, window),
    }
    sql.push(" as n");
}

/// Returns the windows of the events that [`overlapping`] counts although they only touch a window.
/// No event is in both.
fn touching(window: &Window) -> [Option<Window>; 2] {
    let only = |limits: Limits| {
        let at = limits.touching?;
        Some(Limits {
            end_min: Some(limits.end_min.map_or(at, |bound| bound.max(at))),
            end_max: Some(at),
            start_max: Some(limits.start_max.map_or(at - 1, |bound| bound.min(at - 1))),
            touching: None,
            ..limits
        })
    };
    let Window { wall, utc } = *window;
    let anywhere = Limits { touching: None, ..utc };
    [
        only(wall).map(|wall| Window { wall, utc: anywhere }),
        only(utc).map(|utc| Window { wall, utc }),
    ]
}

/// Returns the window of the events that start at or after one bound and end at or before another.
fn window_inside(from: Option<Bound>, to: Option<Bound>) -> Window {
    let mut window = Window::default();
    match from {
        Some(Bound::Wall(at)) => window.wall.start_min = Some(at),
        Some(Bound::Instant(at)) => window.utc.start_min = Some(at),
        None => {}
    }
    match to {
        Some(Bound::Wall(at)) => window.wall.end_max = Some(at),
        Some(Bound::Instant(at)) => window.utc.end_max = Some(at),
        None => {}
    }
    window
}

/// Appends the number of events that start at or after `from` and end at or before `to`.
///
/// Takes those that start late enough and subtracts those that end too late. This also subtracts
/// events that span the window, which were never counted, so they are added again. They are longer
/// than the window.
fn inside(sql: &mut Sql, from: Option<Bound>, to: Option<Bound>) {
    if let (Some(from), Some(to)) = (from, to) {
        // If one bound is local and the other is not, an event may seem longer than it is.
        let least = if from.same_clock(to) { LONG } else { LONG + DRIFT };
        if to.seconds().saturating_sub(from.seconds()) < least {
            direct(sql, &window_inside(Some(from), Some(to)));
            return;
        }
    }
    after(sql, Edge::Start, from);
    let Some(to) = to else { return };
    sql.push(" - ");
    after(sql, Edge::End, Some(to.plus(1)));
    let Some(from) = from else { return };
    sql.push(" + (select count(*) from events where pub = 1 and is_long = 1 and ");
    sql.push(Edge::End.column(to)).push(" > ").value(to.seconds()).push(" and ");
    sql.push(Edge::Start.column(from)).push(" < ").value(from.seconds()).push(")");
}

/// Appends the number of events that start at or before `until` and end at or after `since`.
///
/// Takes those that end late enough and subtracts those that start too late.
fn overlapping(sql: &mut Sql, until: Option<Bound>, since: Option<Bound>) {
    after(sql, Edge::End, since);
    let Some(until) = until else { return };
    sql.push(" - ");
    after(sql, Edge::Start, Some(until.plus(1)));
    // Events that start after `until` and end before `since` were subtracted without having been
    // counted. They exist only if the bounds are reversed, the clock was set back during the event,
    // or one bound is local and the other is not.
    let Some(since) = since else { return };
    let margin = if matches!(since, Bound::Wall(_)) { TURNED_BACK } else { 0 };
    let reach = since.seconds().saturating_add(margin);
    if !until.same_clock(since) || until.seconds().saturating_add(1) < reach {
        sql.push(" + ");
        inside(sql, Some(until.plus(1)), Some(since.plus(-1)));
    }
}

/// Appends the number of starts or ends at or after a bound, in parentheses.
fn after(sql: &mut Sql, edge: Edge, from: Option<Bound>) {
    sql.push("(");
    match from {
        None => {
            sum(sql, "block_counts", edge);
            sql.push(")");
        }
        Some(Bound::Wall(from)) => after_wall(sql, edge, from),
        Some(Bound::Instant(from)) => {
            // The counts are of local times. Events that are later in every zone come from the
            // counts; those that are later only in some zones are counted one by one.
            after_wall(sql, edge, from.saturating_add(DRIFT));
            let (wall, utc) = (edge.column(Bound::Wall(0)), edge.column(Bound::Instant(0)));
            sql.push(" + (select count(*) from events where pub = 1 and ").push(wall).push(" >= ");
            sql.value(from.saturating_sub(DRIFT)).push(" and ").push(wall).push(" < ");
            sql.value(from.saturating_add(DRIFT)).push(" and ").push(utc).push(" >= ");
            sql.value(from).push(")");
        }
    }
    sql.push(")");
}

/// Appends the number of starts or ends at or after a local time: later blocks, later hours of its
/// block, and the events in the rest of its hour.
fn after_wall(sql: &mut Sql, edge: Edge, from: i64) {
    let hour = hour(from);
    let block = block(hour);
    sum(sql, "block_counts", edge);
    sql.push(" and block > ").value(block).push(") + ");
    sum(sql, "hour_counts", edge);
    sql.push(" and hour > ").value(hour).push(" and hour < ").value((block + 1) * BLOCK);
    let column = edge.column(Bound::Wall(from));
    sql.push(") + (select count(*) from events where pub = 1 and ").push(column).push(" >= ");
    sql.value(from).push(" and ").push(column).push(" < ").value((hour + 1) * HOUR).push(")");
}

/// Appends the sum of the numbers in a table. Conditions and the closing parenthesis follow.
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
