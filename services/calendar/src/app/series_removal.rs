//! Removes several events in a series at once.

use database::Db;

use super::series_parts::ended_before;
use super::subscribed_series::is_named_by_file;
use super::{erasure, event_writes};
use crate::error::Error;
use crate::model::event::Event;
use crate::model::included::InSeries;
use crate::model::notice::series_body;
use crate::model::role::{self, User};
use crate::model::series::{Membership, Reach, Series};
use crate::store::series as stored;
use crate::store::{events, external_ids, series_events, webhooks};

/// Returns the events that a request applies to. Fails unless the caller is allowed to change all
/// of them.
pub fn reached(
    db: &mut Db,
    user: &User,
    (place, reach): (&InSeries, Reach),
) -> Result<Vec<Membership>, Error> {
    let mut members = series_events::members(db, place.series.id)?;
    if reach == Reach::Following {
        members.retain(|member| member.occurrence >= place.membership.occurrence);
    }
    let ids: Vec<i64> = members.iter().map(|member| member.event).collect();
    for ids in ids.chunks(500) {
        let all = events::by_ids(db, ids)?;
        let may_edit = |event: &Event| {
            role::may_edit(user, &event.status, event.previous.as_ref(), event.author)
        };
        if !all.iter().all(may_edit) {
            return Err(Error::Forbidden);
        }
    }
    Ok(members)
}

/// Trashes or erases several events in a series. If any events are left, the series now ends before
/// the removed ones.
pub fn remove(
    db: &mut Db,
    user: &User,
    (place, reach, is_forced): (&InSeries, Reach, bool),
    now: i64,
) -> Result<(), Error> {
    let members = reached(db, user, (place, reach))?;
    let messages = webhooks::last_message(db)?;
    let mut series = Series::clone(&place.series);
    let moment = place.membership.occurrence;
    // The first events might already have been erased.
    let is_all = moment <= series.plan.first()
        || members.len() == series_events::members(db, series.id)?.len();
    if is_all {
        hand_on_uid(db, &series, &members)?;
        stored::remove(db, series.id)?;
    } else {
        (series.plan, series.due_utc) = (ended_before(&series.plan, moment), None);
        series.sequence = stored::sequence(db, &series)? + 1;
        stored::update(db, &series)?;
        for member in &members {
            series_events::leave(db, member.event)?;
        }
    }
    for member in &members {
        let Some(event) = events::find(db, member.event)? else { continue };
        if is_forced {
            erasure::event(db, event, now)?;
        } else if !event.status.is_trashed() {
            event_writes::trash(db, &event, now)?;
        }
    }
    let kind = if is_all { "series.deleted" } else { "series.changed" };
    let body = series_body(kind, series.id, place.membership.event, now);
    Ok(webhooks::combine_after(db, messages, &body, now)?)
}

/// If the erased event had the series UID, passes the UID on to the first remaining event.
/// Otherwise, feeds couldn't cancel the series under the UID that its subscribers know. Ids that
/// came from a file stay the same, because imports of that file need them.
fn hand_on_uid(db: &mut Db, series: &Series, members: &[Membership]) -> Result<(), Error> {
    let Some(first) = members.first() else { return Ok(()) };
    if events::find_by_external_id(db, &series.uid)?.is_some() || is_named_by_file(db, series)? {
        return Ok(());
    }
    Ok(external_ids::rename(db, first.event, &series.uid)?)
}
