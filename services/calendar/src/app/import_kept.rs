//! Overrides that came from earlier files and are kept when the series itself is imported.

use database::Db;

use super::import_memberships::{join_own, slug_on_joining};
use super::import_overrides::note_first;
use super::import_progress::EntryProgress;
use super::series_names::give_slug;
use super::subscriber::Subscriber;
use crate::error::Error;
use crate::ical::Entry;
use crate::store::events;
use crate::store::series as stored;

/// Adds the events of kept overrides to the entry's series, because an earlier file might have
/// created them before the series was known. Otherwise, feeds would show their original dates as
/// part of the rule.
pub fn join(
    db: &mut Db,
    (entry, so_far): (&Entry, &EntryProgress),
    subscriber: Option<&Subscriber>,
    now: i64,
) -> Result<(), Error> {
    let Some(series) = so_far.series.filter(|_| !so_far.overridden.is_empty()) else {
        return Ok(());
    };
    let Some(known) = stored::find(db, series.id)? else { return Ok(()) };
    for occurrence in &entry.occurrences {
        if entry.overridden_as(occurrence, &so_far.overridden).is_none() {
            continue;
        }
        let Some(event) = events::find_by_external_id(db, &occurrence.external_id)? else {
            continue;
        };
        let is_other = match subscriber {
            Some(subscriber) => !subscriber.owns(db, event.id)?,
            None => false,
        };
        if is_other || stored::of_event(db, event.id)?.is_some() {
            continue;
        }
        if let Some(slug) = slug_on_joining(db, (known.id, entry), &event, occurrence)? {
            give_slug(db, &event, (&slug, true), now)?;
        }
        join_own(db, &known, (occurrence.original.seconds(), event.id))?;
        let parent = so_far.parent.filter(|parent| *parent != event.id);
        events::set_parent(db, event.id, parent)?;
        note_first(db, false, entry, occurrence, event.id)?;
    }
    Ok(())
}
