//! Finds the nearest days or weeks with events.

use jiff::ToSpan as _;
use jiff::civil::Date;

use super::super::context::RequestContext;
use super::super::interrupt::ListInterrupt;
use crate::model::list::{EventFilter, Paging};
use crate::model::period::Period;
use crate::model::schedule::wall_from_seconds;
use crate::store::event_index::IndexAccess;
use crate::store::{event_list, events, terms};
use crate::wire::list_input::EventListInput;
use crate::wire::pages::query::{PageQuery, within};
use crate::wire::params::Params;

/// The nearest periods with events before and after another period.
#[derive(Clone, Copy, Debug, Default)]
pub struct Steps {
    pub previous: Option<Period>,
    pub next: Option<Period>,
}

/// Finds the nearest periods of the same kind that have events matching the page's filters.
pub fn steps(
    context: &mut RequestContext<'_>,
    access: IndexAccess<'_>,
    query: &PageQuery,
    period: Period,
) -> Result<Steps, ListInterrupt> {
    let filters = query.filters();
    let first_of = |context: &mut RequestContext<'_>, mut pairs: Vec<(&'static str, String)>| {
        pairs.extend(filters.iter().cloned());
        first(context, access, &pairs)
    };
    let is_valid = |day: &Date| Period::Day(*day).is_in_years_of_events();
    let previous = match period.first().yesterday().ok().filter(is_valid) {
        Some(before) => match first_of(context, within(before, before))? {
            Some(_) => Some(before),
            None => {
                let bound = ("starts_before", format!("{} 00:00:00", period.first()));
                let last = first_of(context, vec![bound, strict(), ("order", "desc".to_owned())])?;
                // An event that ends at midnight doesn't count for the new day.
                let last_of = |start: i64, end: i64| wall_from_seconds(start.max(end - 1)).date();
                let known = last.map(|(start, end)| last_of(start, end).min(before));
                // An event that started earlier might end later.
                known
                    .map(|known| {
                        last_day((known, before), |from| {
                            Ok::<_, ListInterrupt>(
                                first_of(context, within(from, before))?.is_some(),
                            )
                        })
                    })
                    .transpose()?
            }
        },
        None => None,
    };
    let next = match period.last().tomorrow().ok().filter(is_valid) {
        Some(after) => match first_of(context, within(after, after))? {
            Some(_) => Some(after),
            None => {
                let bound = ("starts_after", format!("{} 23:59:59", period.last()));
                let next = first_of(context, vec![bound, strict()])?;
                next.map(|(start, _)| wall_from_seconds(start).date())
            }
        },
        None => None,
    };
    let other = |day: Date| Some(period.containing(day)).filter(|other| *other != period);
    Ok(Steps { previous: previous.and_then(other), next: next.and_then(other) })
}

/// Binary search between two days for the last one with events on or after it. There must be events
/// on or after `first`.
fn last_day<E>(
    (mut first, mut last): (Date, Date),
    mut has_events_from: impl FnMut(Date) -> Result<bool, E>,
) -> Result<Date, E> {
    while first < last {
        let days = first.until(last).map_or(1, |span| span.get_days());
        let middle = first.saturating_add(((days + 1) / 2).days());
        match (has_events_from(middle)?, middle.yesterday()) {
            (false, Ok(before)) => last = before,
            _ => first = middle,
        }
    }
    Ok(first)
}

fn strict() -> (&'static str, String) {
    ("strict_dates", "true".to_owned())
}

/// Returns the local start and end of the first event in a list.
fn first(
    context: &mut RequestContext<'_>,
    access: IndexAccess<'_>,
    pairs: &[(&'static str, String)],
) -> Result<Option<(i64, i64)>, ListInterrupt> {
    let params = Params::from_pairs(pairs.iter().map(|(name, text)| (*name, text.as_str())));
    let list = context.decode_list(EventListInput::read(&params), EventListInput::decode)?;
    let mut filter: EventFilter = list.filter;
    if let Some(named) = &mut filter.categories {
        *named = terms::with_descendants(context.db, named)?;
    }
    let (ids, _) = event_list::page(context.db, access, &filter, Paging { page: 1, per_page: 1 })?;
    let Some(id) = ids.first() else { return Ok(None) };
    Ok(events::local_times(context.db, *id)?)
}
