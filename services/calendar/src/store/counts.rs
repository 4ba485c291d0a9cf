//! Numbers of public events per hour, from which the total of a long window is read at once.

use ::store::{Db, StoreError};

use super::sql::Sql;
use crate::model::event::{Event, LONG};
use crate::model::window::Window;

const HOUR: i64 = 3600;

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
pub fn replace(db: &mut Db, old: Option<&Event>, new: Option<&Event>) -> Result<(), StoreError> {
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
        for (edge, hour) in [Edge::Start, Edge::End].into_iter().zip(hours) {
            let kind = edge.kind();
            let text = format!(
                "insert into hour_counts (kind, hour, n) values ({kind}, {hour}, {change}) \
                 on conflict (kind, hour) do update set n = hour_counts.n + {change}"
            );
            Sql::new(db, &text).execute(db)?;
        }
    }
    Ok(())
}

fn hour(seconds: i64) -> i64 {
    seconds.div_euclid(HOUR)
}

/// Counts the public events in a window.
pub fn public(db: &mut Db, window: &Window) -> Result<i64, StoreError> {
    match *window {
        Window { start_min: None, start_max: None, end_min: None, end_max: None } => {
            after(db, Edge::Start, None)
        }
        Window { start_min, start_max: None, end_min: None, end_max } => {
            inside(db, start_min, end_max)
        }
        Window { start_min: None, start_max, end_min, end_max: None } => {
            overlapping(db, start_max, end_min)
        }
        _ => direct(db, window),
    }
}

/// Counts those that start at or after `from` and end at or before `to`.
///
/// Of all that start late enough, those that end too late are taken away; the events that begin
/// before the window and end behind it were taken away without having been counted, so they are
/// added again. Such events are longer than the window.
fn inside(db: &mut Db, from: Option<i64>, to: Option<i64>) -> Result<i64, StoreError> {
    let (from, to) = match (from, to) {
        (Some(from), Some(to)) if from > to => return Ok(0),
        (Some(from), Some(to)) if to - from < LONG => {
            let window = Window { start_min: Some(from), end_max: Some(to), ..Window::default() };
            return direct(db, &window);
        }
        bounds => bounds,
    };
    let started = after(db, Edge::Start, from)?;
    let Some(to) = to else { return Ok(started) };
    let ended_later = after(db, Edge::End, Some(to + 1))?;
    let Some(from) = from else { return Ok(started - ended_later) };
    let text = format!(
        "select count(*) as n from events where pub = 1 and is_long = 1 \
         and end_utc > {to} and start_utc < {from}"
    );
    Ok(started - ended_later + Sql::new(db, &text).number(db)?)
}

/// Counts those that start at or before `until` and end at or after `since`.
fn overlapping(db: &mut Db, until: Option<i64>, since: Option<i64>) -> Result<i64, StoreError> {
    let all = after(db, Edge::Start, None)?;
    let too_late = match until {
        Some(until) => after(db, Edge::Start, Some(until + 1))?,
        None => 0,
    };
    let too_early = match since {
        Some(since) => all - after(db, Edge::End, Some(since))?,
        None => 0,
    };
    // Bounds that stand the wrong way round leave a gap whose events were taken away twice.
    let twice = match (until, since) {
        (Some(until), Some(since)) if until + 1 < since => {
            inside(db, Some(until + 1), Some(since - 1))?
        }
        _ => 0,
    };
    Ok(all - too_late - too_early + twice)
}

/// Counts the starts or ends at or after an instant.
fn after(db: &mut Db, edge: Edge, from: Option<i64>) -> Result<i64, StoreError> {
    let kind = edge.kind();
    let Some(from) = from else {
        let text = format!(
            "select coalesce(cast(sum(n) as bigint), 0) as n from hour_counts where kind = {kind}"
        );
        return Sql::new(db, &text).number(db);
    };
    let first = hour(from);
    let (column, next) = (edge.column(), (first + 1) * HOUR);
    let text = format!(
        "select coalesce((select cast(sum(n) as bigint) from hour_counts \
         where kind = {kind} and hour > {first}), 0) \
         + (select count(*) from events where pub = 1 \
         and {column} >= {from} and {column} < {next}) as n"
    );
    Sql::new(db, &text).number(db)
}

fn direct(db: &mut Db, window: &Window) -> Result<i64, StoreError> {
    let mut sql = Sql::new(db, "select count(*) as n from events e where e.pub = 1");
    super::event_list::within(&mut sql, window);
    sql.number(db)
}
