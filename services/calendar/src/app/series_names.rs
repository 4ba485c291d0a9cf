//! Renames series. The slugs of their events start with the name.

use database::{DatabaseError, Db};

use super::series_plans::invalid;
use super::slugs::remember;
use crate::error::Error;
use crate::model::change::EventChange;
use crate::model::event::Event;
use crate::model::series::{Membership, Series};
use crate::model::slug::{self, SEPARATOR, TRASHED};
use crate::store::series as stored;
use crate::store::{events, links, series_names, slugs};

/// Removes the slug from a change to several events in a series, and ignores any date in it.
/// Returns the new series name, or `None` if it stays the same.
///
/// # Errors
///
/// Returns an error if the slug has no letters or digits.
pub fn taken_from(
    change: &mut EventChange,
    (old, series): (&Event, &Series),
) -> Result<Option<String>, Error> {
    let Some(sent) = change.post.slug.take().filter(|sent| !sent.eq_ignore_ascii_case(&old.slug))
    else {
        return Ok(None);
    };
    let sent = sent.trim();
    let name = slug::name_of_series(slug::dated(sent).map_or(sent, |(name, _)| name));
    if name.is_empty() {
        return Err(invalid("slug", "must have letters or digits"));
    }
    Ok(Some(name).filter(|name| *name != series.slug))
}

/// Returns a series name that isn't used by any other series. It isn't the slug of an event other
/// than `event` either, because that event's page would hide the series page.
pub fn free_name(
    db: &mut Db,
    name: &str,
    (series, event): (i64, i64),
) -> Result<String, DatabaseError> {
    slug::free(name, |name| {
        Ok(slugs::is_taken(db, "series", name, series)?
            || slugs::is_taken(db, "events", name, event)?)
    })
}

/// Renames a series. If `name` is taken, uses a similar name. Slugs of events that start with the
/// old name get the new name and keep their dates, and the old paths redirect. Returns the renamed
/// series.
pub fn rename(
    db: &mut Db,
    series: &Series,
    (members, name): (&[Membership], &str),
    now: i64,
) -> Result<Series, DatabaseError> {
    let name = free_name(db, name, (series.id, 0))?;
    slugs::forget_former(db, "events", &name)?;
    let new = Series { slug: name, ..series.clone() };
    stored::update(db, &new)?;
    series_names::note_renamed(db, series.id, &series.slug)?;
    for member in members {
        let Some(old) = events::find(db, member.event)? else { continue };
        let stem = old.slug.strip_suffix(TRASHED).unwrap_or(&old.slug);
        // In older databases, the first event of a series can have the same slug as the series.
        let shares_name = stem == series.slug;
        let wanted = match slug::dated(stem).filter(|(name, _)| *name == series.slug) {
            Some((_, date)) => format!("{}{SEPARATOR}{date}", new.slug),
            None if shares_name => new.slug_of(member.occurrence),
            None => continue,
        };
        give_slug(db, &old, (&wanted, !shares_name), now)?;
    }
    Ok(new)
}

/// Gives an event in a series the slug `wanted`, or a similar one if that is taken. If
/// `is_remembered` is set, the old URL redirects to the event. Don't set it if the old URL now
/// belongs to the series.
pub fn give_slug(
    db: &mut Db,
    old: &Event,
    (wanted, is_remembered): (&str, bool),
    now: i64,
) -> Result<(), DatabaseError> {
    let suffix = if old.status.is_trashed() { TRASHED } else { "" };
    let mut event = old.clone();
    event.slug = slugs::free(db, "events", wanted, suffix, old.id)?;
    if is_remembered {
        remember(db, "events", old.id, (&old.slug, &old.status), &event.slug)?;
    }
    slugs::forget_former(db, "events", &event.slug)?;
    // For events in the trash, this is the deletion date.
    if !event.status.is_trashed() {
        event.modified_utc = now;
    }
    let links = links::of_event(db, old.id)?;
    events::update(db, (old, &links), (&event, &links))
}
