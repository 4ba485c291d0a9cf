//! Finds series by the slug in a page path.

use database::{DatabaseError, Db};

use crate::model::event::Event;
use crate::store::{series, series_events, series_names};

/// Returns whether an event has the same slug as its series, because the event existed first.
pub fn is_named_like(db: &mut Db, event: &Event) -> Result<bool, DatabaseError> {
    let place = series::of_event(db, event.id)?;
    Ok(event.listed && place.is_some_and(|place| place.series.slug == event.slug))
}

/// Finds a series with public events by its current slug or an old one. Returns its current slug
/// and the id of its next event.
pub fn find(db: &mut Db, slug: &str, now: i64) -> Result<Option<(String, i64)>, DatabaseError> {
    if let Some(next) = series_events::next_of_slug(db, slug, now)? {
        return Ok(Some((slug.to_owned(), next)));
    }
    let Some(slug) = series_names::present(db, slug)? else { return Ok(None) };
    Ok(series_events::next_of_slug(db, &slug, now)?.map(|next| (slug, next)))
}

/// Returns the ids of all events in the series with this current or old slug, even if they are in
/// the trash or the series was removed.
pub fn all_dates(db: &mut Db, slug: &str) -> Result<Vec<i64>, DatabaseError> {
    let present = series_names::present(db, slug)?;
    for name in [Some(slug), present.as_deref()].into_iter().flatten() {
        let dates = series_events::events_of_slug(db, name)?;
        if !dates.is_empty() {
            return Ok(dates);
        }
    }
    series_names::removed_dates(db, slug)
}
