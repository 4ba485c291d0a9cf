//! SQL conditions shared between statements.

use super::sql::Sql;
use crate::model::list::{Scope, Unpublished};
use crate::model::window::Window;
use crate::model::zone::MAX_OFFSET_HOURS;

/// Maximum difference between local time and UTC, in seconds.
pub const DRIFT: i64 = MAX_OFFSET_HOURS * 3600;

/// The maximum time by which an event's local end can precede its local start because clocks are
/// set back, in seconds.
pub const TURNED_BACK: i64 = 2 * DRIFT;

/// Appends a condition that the caller can see the event in lists.
pub fn visible(sql: &mut Sql, scope: &Scope) {
    if scope.is_public() {
        sql.push("e.pub = 1");
        return;
    }
    sql.push("e.listed and ");
    statuses(sql, "e", scope);
}

/// Appends a condition on the status and author of an event, venue or organizer.
pub fn statuses(sql: &mut Sql, alias: &str, scope: &Scope) {
    let published = format!("{alias}.status = 'publish'");
    let Unpublished::Of { author, statuses } = &scope.unpublished else {
        sql.push(&published);
        return;
    };
    sql.push("(").push(if scope.published { &published } else { "1 = 0" }).push(" or (");
    match statuses {
        Some(statuses) => {
            sql.push(alias).push(".status in ").texts(statuses.iter().map(|s| s.as_str()));
        }
        None => {
            sql.push(alias).push(".status not in ('trash', 'publish')");
        }
    }
    if let Some(author) = author {
        sql.push(" and ").push(alias).push(".author_id = ").value(*author);
    }
    sql.push("))");
}

/// Returns the earliest and latest possible local start of an event in a window. `None` means
/// unbounded.
pub fn start_range(window: &Window) -> (Option<i64>, Option<i64>) {
    let Window { wall, utc } = window;
    let earliest = [wall.start_min, utc.start_min.map(|from| from.saturating_sub(DRIFT))];
    let latest = [
        wall.start_max,
        wall.end_max.map(|to| to.saturating_add(TURNED_BACK)),
        // In UTC, events never end before they start.
        utc.start_max.map(|to| to.saturating_add(DRIFT)),
        utc.end_max.map(|to| to.saturating_add(DRIFT)),
    ];
    (earliest.into_iter().flatten().max(), latest.into_iter().flatten().min())
}

/// Appends a condition that event `e` is in the window. It includes a range of local times so that
/// an index can be used.
pub fn within(sql: &mut Sql, window: &Window) {
    let Window { wall, utc } = window;
    let (earliest, latest) = start_range(window);
    let mut bound = |text: &str, value: Option<i64>| {
        if let Some(value) = value {
            sql.push(" and e.").push(text).push(" ").value(value);
        }
    };
    bound("start_local >=", earliest);
    bound("start_local <=", latest);
    bound("end_local >=", wall.end_min);
    bound("end_local <=", wall.end_max);
    bound("start_utc >=", utc.start_min);
    bound("start_utc <=", utc.start_max);
    bound("end_utc >=", utc.end_min);
    bound("end_utc <=", utc.end_max);
    for (limits, clock) in [(wall, "local"), (utc, "utc")] {
        if let Some(at) = limits.touching {
            sql.push(&format!(" and not (e.end_{clock} = ")).value(at);
            sql.push(&format!(" and e.start_{clock} < ")).value(at).push(")");
        }
    }
}
