//! Dates that someone removed from a series in a file written by this calendar.

use database::Db;

use super::import_overview::Overview;
use super::import_writes::trash;
use super::own_revisions::OwnRevision;
use crate::error::Error;
use crate::ical::{Entry, Repetition};
use crate::store::events;
use crate::store::series as stored;
use crate::store::series_events::{self, Dated};

/// The warning for a date that isn't removed, because its event has changed since the export.
pub const CHANGED: &str =
    "a date that the file excludes has changed in this calendar since, so it stays";

/// Outcome for dates that a file excludes but that the stored series still has.
#[derive(Default)]
pub struct Excluded {
    /// Number of dates that were trashed.
    pub trashed: usize,
    /// Whether any date was kept because its event has changed since.
    pub has_changed: bool,
}

/// Trashes the future dates that were removed from a series in our own file. Feeds exclude dates
/// that aren't public and, if they are filtered, dates that differ from the others, so these stay.
pub fn remove(
    db: &mut Db,
    (entry, revision): (&Entry, Option<OwnRevision>),
    overview: &Overview,
    now: i64,
) -> Result<Excluded, Error> {
    let mut excluded = Excluded::default();
    let (Some(Repetition { plan: sent, .. }), Some(revision)) = (&entry.repetition, revision)
    else {
        return Ok(excluded);
    };
    if entry.is_cancelled || sent.exdates.is_empty() {
        return Ok(excluded);
    }
    let Some(known) = stored::find_by_uid(db, &entry.uid)? else { return Ok(excluded) };
    let is_removed = |one: &Dated| {
        let key = known.plan.key(one.occurrence);
        one.is_public == 1
            && sent.exdates.contains(&key)
            && !known.plan.exdates.contains(&key)
            && !overview.replaced.contains(&Entry::occurrence_id(&entry.uid, &key))
    };
    let mut dates = series_events::dated(db, known.id)?;
    dates.retain(is_removed);
    for date in dates {
        let Some(event) = events::find(db, date.id)? else { continue };
        if event.schedule.start_utc <= now {
            continue;
        }
        if !revision.is_current(db, &event)? {
            excluded.has_changed = true;
        } else if date.changed.is_empty() && date.has_status == 0 {
            trash(db, &event, now)?;
            excluded.trashed += 1;
        }
    }
    Ok(excluded)
}
