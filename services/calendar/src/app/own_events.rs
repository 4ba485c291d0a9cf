//! This calendar's own events in imported files.

use database::Db;

use crate::error::Error;
use crate::model::event::Event;
use crate::model::series_ids::event_of_single;
use crate::model::urls::Urls;
use crate::store::events;

/// Recognises our own events in a file.
#[derive(Clone, Copy)]
pub struct OwnEvents<'a> {
    /// The UIDs that we generate end with this site's host.
    pub urls: &'a Urls,
    /// This calendar's own id. The UIDs of single occurrences of series end with it.
    pub calendar: &'a str,
    /// Whether the entry was written by this calendar or a copy of it, regardless of the host.
    pub is_author: bool,
    /// The entry's CREATED property. If the host differs, it must match that of the stored event,
    /// because a copy of this calendar may use the same ids for other events.
    pub created: Option<i64>,
}

/// Finds an event by UID. The UID may come from an earlier import or be one of our own. Our feeds
/// publish the UIDs of single occurrences, so these are only accepted in this calendar's own files.
/// Otherwise another site could change any event.
pub fn find(db: &mut Db, own: OwnEvents<'_>, uid: &str) -> Result<Option<Event>, Error> {
    if let Some(event) = events::find_by_external_id(db, uid)? {
        return Ok(Some(event));
    }
    if let Some(id) = event_of_single(uid, own.calendar).filter(|_| own.is_author) {
        let is_same = |event: &Event| own.created == Some(event.created_utc());
        return Ok(events::find(db, id)?.filter(is_same));
    }
    let Some((id, host)) = uid.split_once('@') else { return Ok(None) };
    let is_host = !host.is_empty() && host == own.urls.host();
    let Some(id) = id.parse().ok().filter(|_| is_host || own.is_author) else { return Ok(None) };
    let is_own = |event: &Event| is_host || own.created == Some(event.created_utc());
    Ok(events::find(db, id)?.filter(|event| event.external_id.is_none() && is_own(event)))
}
