//! Finds the events on each day of a month.

use super::chunk::Wanted;
use super::columns::Key;
use super::index::Index;
use crate::model::list::Scope;
use crate::model::month::DAY;
use crate::model::window::{Limits, Window};

/// Events on a range of days.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct MonthDays {
    /// For each day, the ids of the first events that start on it and last less than a day.
    pub starting: Vec<i64>,
    /// For each day, the ids of the first events that started the day before, last less than a day
    /// and end after midnight.
    pub continued: Vec<i64>,
    /// Number of events that start on each day.
    pub starts: Vec<i64>,
    /// For each day, the number of events that started the day before, last less than a day and end
    /// after midnight.
    pub overnight: Vec<i64>,
}

/// Finds up to `most` events per day. The days must be consecutive and are given by their local
/// midnights.
pub fn days(index: &Index, midnights: &[i64], most: usize) -> MonthDays {
    let mut found = MonthDays::default();
    let Some(first) = midnights.first() else { return found };
    let table = &index.table;
    let public = Scope::public();
    let traits: Vec<bool> = table.traits().iter().map(|one| one.is_visible(&public)).collect();
    let ids =
        |events: &[u32]| -> Vec<i64> { events.iter().take(most).map(|at| table.id(*at)).collect() };
    for midnight in [&(first - DAY)].into_iter().chain(midnights) {
        let next = midnight + DAY;
        let limits =
            Limits { start_min: Some(*midnight), start_max: Some(next - 1), ..Limits::default() };
        let wanted = Wanted::new(table, traits.clone(), Window::on_wall(limits));
        let mut events = index.order(Key::Start).all(&wanted);
        let starts = count(&events);
        events.retain(|at| {
            let times = table.times(*at);
            times.end_local - times.start_local < DAY
        });
        if midnight >= first {
            found.starts.push(starts);
            found.starting.extend(ids(&events));
        }
        if midnights.contains(&next) {
            events.retain(|at| table.times(*at).end_local > next);
            found.overnight.push(count(&events));
            found.continued.extend(ids(&events));
        }
    }
    found
}

fn count(events: &[u32]) -> i64 {
    i64::try_from(events.len()).unwrap_or(i64::MAX)
}
