//! Decides the statuses of imported events, which both files and users can change.

use database::Db;

use crate::error::Error;
use crate::ical::Details;
use crate::model::event::Event;
use crate::model::event_status::Occurring;
use crate::model::status::{Stage, Status};
use crate::model::subscription_parts::{Part, Parts};
use crate::store::{event_statuses, imported, subscribed_events};

/// Returns whether `event` is marked as cancelled.
pub fn is_cancelled(db: &mut Db, event: i64) -> Result<bool, Error> {
    Ok(occurring(db, event)? == Occurring::Cancelled)
}

fn occurring(db: &mut Db, event: i64) -> Result<Occurring, Error> {
    Ok(event_statuses::of_event(db, event)?.occurring)
}

/// Decides an event's publication status after an import. Returns `None` if it doesn't change.
/// Events trashed by an import are restored, and an event becomes private or public when it does in
/// the file.
///
/// A user's decision is kept until the file changes. `held` contains the fields of a subscribed
/// event that users changed. If they include the status, the event can only become private.
pub fn status_after(
    db: &mut Db,
    event: &Event,
    (is_private, held): (bool, &Parts),
) -> Result<Option<Status>, Error> {
    let is_chosen = held.has(Part::Status);
    let is_hidden = matches!(event.status.stage(), Stage::Private | Stage::Trash);
    if !is_private && !is_hidden {
        imported::note(db, event.id, |noted| noted.is_private = false)?;
        return Ok(None);
    }
    let was_private = imported::find(db, event.id)?.is_private;
    let before = status_outside_trash(event);
    let after = match (was_private, is_private, before.stage()) {
        (false, true, Stage::Publish | Stage::Future) => {
            if is_chosen {
                // From now on, the status follows the file again.
                let others = held.without(&Parts::of([Part::Status]));
                subscribed_events::set_changed(db, event.id, &others)?;
            }
            Status::of(Stage::Private)
        }
        (true, false, Stage::Private) if !is_chosen => Status::of(Stage::Publish),
        _ => before,
    };
    imported::note(db, event.id, |noted| noted.is_private = is_private)?;
    Ok((after != event.status).then_some(after))
}

/// Returns an event's publication status or, if the event is in the trash, its former one.
pub fn status_outside_trash(event: &Event) -> Status {
    match event.status.is_trashed() {
        true => event.previous.clone().unwrap_or_else(|| Status::of(Stage::Publish)),
        false => event.status.clone(),
    }
}

/// Decides the event status after an import that doesn't cancel the event. `None` if it doesn't
/// change. A status set by a user is kept until the file changes. `is_author` is whether this
/// calendar wrote the file.
pub fn occurring_after(
    db: &mut Db,
    is_author: bool,
    (event, details): (i64, &Details),
) -> Result<Option<Occurring>, Error> {
    let noted = imported::find(db, event)?;
    if !noted.is_cancelled && !noted.is_postponed && !details.is_postponed {
        return Ok(None);
    }
    let shown = occurring(db, event)?;
    if details.is_postponed {
        let is_shown = shown == Occurring::Postponed;
        if noted.is_postponed || (is_author && is_shown) {
            return Ok(None);
        }
        imported::note(db, event, |noted| {
            (noted.is_cancelled, noted.is_postponed) = (false, true);
        })?;
        return Ok(Some(Occurring::Postponed).filter(|_| !is_shown));
    }
    let is_cleared = (noted.is_cancelled && shown == Occurring::Cancelled)
        || (noted.is_postponed && shown == Occurring::Postponed);
    if is_cleared || !is_author {
        imported::note(db, event, |noted| {
            (noted.is_cancelled, noted.is_postponed) = (false, false);
        })?;
    }
    Ok(is_cleared.then_some(Occurring::Scheduled))
}
