//! Creates more events for series that don't end, or that end after SERIES_AHEAD.

use database::{DatabaseError, Db};
use jiff::Timestamp;

use super::import_edits::SeriesEdits;
use super::series::{self, NewEvents, expand, make_missing};
use super::subscribed_series::{FileNames, ended_at, note_new};
use crate::model::notice::series_body;
use crate::model::schedule::wall_seconds;
use crate::model::series_fields::Shared;
use crate::model::status::{Stage, Status};
use crate::state::Site;
use crate::store::series as stored;
use crate::store::series_events::{self, Dated};
use crate::store::{imported, subscribed_events, webhooks};

/// Seconds until a series that currently gets no new events is checked again.
const LATER: i64 = 24 * 3600;

/// Creates more events for a series if they are due. Returns how many.
///
/// Checks again whether they are due, because another replica might have been faster.
pub fn extend(db: &mut Db, site: &Site, id: i64, now: Timestamp) -> Result<usize, DatabaseError> {
    let seconds = now.as_second();
    let Some(mut series) = stored::find(db, id)? else { return Ok(0) };
    if series.due_utc.is_none_or(|due| due > seconds) {
        return Ok(0);
    }
    let subscription = subscribed_events::of_series(db, id)?;
    let edits = match subscription {
        Some(_) => SeriesEdits::of(db, id)?,
        None => None,
    };
    let template = match &edits {
        Some(edits) => Some(edits.template().clone()),
        None => series::template(db, id)?,
    };
    let Some(mut template) = template else {
        stored::remove(db, id)?;
        return Ok(0);
    };
    if is_withdrawn(db, id, (subscription.is_some(), seconds))? {
        series.due_utc = Some(seconds + LATER);
        stored::update(db, &series)?;
        return Ok(0);
    }
    let Some(expansion) = expand(site, &series, now) else {
        log::warn!("series {id} gets no more events, because its rule gives no dates or too many");
        series.due_utc = None;
        stored::update(db, &series)?;
        return Ok(0);
    };
    let known = &expansion.repetition;
    let names = FileNames::of(db, &series)?;
    if let Some(subscription) = subscription {
        let uid = names.as_ref().map_or(&*series.uid, FileNames::uid);
        if ended_at(db, subscription, uid)?.is_some() {
            series.due_utc = known.due_utc;
            stored::update(db, &series)?;
            return Ok(0);
        }
    }
    // Files from other imports don't contain these occurrences.
    let is_private = subscription.is_some() && hide_if_private(db, id, &mut template)?;
    if template.event.status.stage() != Stage::Future {
        template.event.published_utc = seconds;
        template.event.published_local = wall_seconds(site.settings.site_timezone.wall(now));
    }
    let messages = webhooks::last_message(db)?;
    let moved = edits.as_ref().and_then(SeriesEdits::dates);
    let new_events = NewEvents { template: &template, moved, names };
    let span = (series.made_until, seconds);
    let made = make_missing(db, &series, &new_events, &expansion, span)?;
    if let Some(edits) = &edits {
        note_new(db, &series, (&edits.parts(true, is_private), is_private))?;
    }
    series.made_until = known.made_until.max(series.made_until);
    series.due_utc = known.due_utc;
    stored::update(db, &series)?;
    let body = series_body("series.changed", id, template.event.id, seconds);
    webhooks::combine_after(db, messages, &body, seconds)?;
    Ok(made)
}

/// Returns whether a series has been withdrawn although its rule continues, i.e. all its events are
/// in the trash, or the last ones are no longer in the subscription's file. Events that users have
/// changed don't count, because they are kept even if they are missing from the file.
fn is_withdrawn(
    db: &mut Db,
    series: i64,
    (is_subscribed, now): (bool, i64),
) -> Result<bool, DatabaseError> {
    let dates = series_events::dated(db, series)?;
    let is_in_trash = dates.iter().all(Dated::is_trashed);
    if is_in_trash || !is_subscribed {
        return Ok(is_in_trash);
    }
    let ids: Vec<i64> = dates.iter().map(|date| date.id).collect();
    let changed = subscribed_events::changed_among(db, &ids)?;
    let mut unchanged = dates.iter().filter(|date| !changed.contains(&date.id));
    let has_next = unchanged.clone().any(|date| date.occurrence > now && !date.is_trashed());
    match unchanged.next_back().filter(|last| last.is_trashed() && !has_next) {
        Some(last) => Ok(imported::find(db, last.id)?.is_trashed),
        None => Ok(false),
    }
}

/// Hides new events of a series that its file marks as private, even if users have published the
/// other events. Returns whether it is private.
fn hide_if_private(db: &mut Db, series: i64, template: &mut Shared) -> Result<bool, DatabaseError> {
    let event = &mut template.event;
    let is_private = imported::is_private_series(db, series)?;
    if is_private && matches!(event.status.stage(), Stage::Publish | Stage::Future) {
        event.set_status(Status::of(Stage::Private));
    }
    Ok(is_private)
}
