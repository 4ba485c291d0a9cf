//! Date parameters of event lists, and how pagination links repeat them.

use super::query::ListOptions;
use crate::model::absolute_dates::{DayEdge, absolute};
use crate::model::schedule::wall_seconds;
use crate::model::when::When;
use crate::model::window::{Bounds, Defaults, Window};
use crate::wire::dates::written;
use crate::wire::parameters::EventListParameters;
use crate::wire::reading::Errors;
use crate::wire::values::Date;

/// The requested time window, and the dates to repeat in pagination links.
pub struct Dates {
    pub window: Window,
    defaults: Defaults,
    /// The absolute values of relative dates (e.g. `tomorrow`), by parameter.
    absolute: Vec<(&'static str, String)>,
}

impl Dates {
    /// Writes the resolved dates to the query of a pagination link.
    pub fn repeat(&self, query: &mut Vec<(String, String)>, ignored: bool) {
        for (name, value) in query.iter_mut() {
            if let Some((_, meant)) = self.absolute.iter().find(|(other, _)| other == name) {
                value.clone_from(meant);
            }
        }
        if ignored {
            return;
        }
        let Defaults { start_date, end_date } = self.defaults;
        for (name, wall) in [("start_date", start_date), ("end_date", end_date)] {
            query.extend(wall.map(|wall| (name.to_owned(), written(wall_seconds(wall)))));
        }
    }
}

/// Decodes a list request's date parameters.
pub fn dates(
    errors: &mut Errors,
    given: &mut EventListParameters,
    options: ListOptions<'_>,
) -> Dates {
    let strict = given.strict_dates.as_ref().is_some_and(|flag| flag.0);
    let (zone, now) = (options.zone, options.now);
    let mut meant = Vec::new();
    for upper in [&mut given.end_date, &mut given.starts_before, &mut given.ends_before] {
        *upper = upper.take().map(|Date(when)| Date(when.in_years_of_events()));
    }
    let mut when = |name: &'static str, date: &mut Option<Date>, edge: DayEdge| -> Option<When> {
        let Date(when) = date.take()?;
        // With or without `strict_dates`, the date must resolve to an instant in the site's zone.
        let point = when.resolve(zone, now);
        let instant = point.and_then(|point| point.instant(zone));
        let written = instant.and_then(|_| absolute(&when, edge, strict, zone, now));
        match written {
            Ok(written) => meant.extend(written.map(|written| (name, written))),
            Err(_) => {
                errors.fail(name, "must be a date");
                return None;
            }
        }
        Some(when)
    };
    let bounds = Bounds {
        start_date: when("start_date", &mut given.start_date, DayEdge::Start),
        end_date: when("end_date", &mut given.end_date, DayEdge::End),
        starts_before: when("starts_before", &mut given.starts_before, DayEdge::End),
        starts_after: when("starts_after", &mut given.starts_after, DayEdge::End),
        ends_before: when("ends_before", &mut given.ends_before, DayEdge::Start),
        ends_after: when("ends_after", &mut given.ends_after, DayEdge::End),
        strict,
        overlaps: given.overlaps.is_some_and(|flag| flag.0),
    };
    let (window, defaults) = bounds.window(zone, now).unwrap_or_else(|_| {
        errors.fail("start_date", "must be a date");
        (Window::default(), Defaults::default())
    });
    Dates { window, defaults, absolute: meant }
}
