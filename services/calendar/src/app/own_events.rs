//! Recognises this calendar's own events in imported files.

use database::Db;

use crate::error::Error;
use crate::model::event::Event;
use crate::model::series_ids::{event_of_single, occurrence_of};
use crate::model::urls::Urls;
use crate::state::Site;
use crate::store::{events, imported};

/// The suffixes that identify our own events' UIDs.
#[derive(Clone, Debug, Default)]
pub struct Identity {
    /// This calendar's own id. UIDs of single occurrences end with it.
    pub calendar: String,
    /// The hosts under which clients read our feeds. All other UIDs end with one of them.
    hosts: Vec<String>,
}

impl Identity {
    /// Reads the calendar's id. The hosts come from the settings and, if a request provides it,
    /// from `urls`.
    pub fn read(db: &mut Db, site: &Site, urls: &Urls) -> Result<Identity, Error> {
        let public = Urls { base: site.public_url.clone().unwrap_or_default(), ..Urls::default() };
        let mut hosts = site.hosts.clone();
        for host in [public.host(), urls.host()] {
            if !host.is_empty() && !hosts.iter().any(|known| known == host) {
                hosts.push(host.to_owned());
            }
        }
        Ok(Identity { calendar: imported::calendar_id(db)?, hosts })
    }

    /// Returns whether our feeds use, have used or might later use `uid` for one of our own events.
    /// This includes occurrences.
    pub fn is_own(&self, uid: &str) -> bool {
        let uid = occurrence_of(uid).map_or(uid, |(uid, _)| uid);
        self.event_of(uid).is_some() || event_of_single(uid, &self.calendar).is_some()
    }

    /// Returns the event id in the UID of an event without an external id. Returns `None` if `uid`
    /// has a different form or host.
    fn event_of(&self, uid: &str) -> Option<i64> {
        let (id, host) = uid.split_once('@')?;
        id.parse().ok().filter(|_| self.hosts.iter().any(|own| own == host))
    }
}

/// Recognises our own events in a file.
#[derive(Clone, Copy)]
pub struct OwnEvents<'a> {
    pub urls: &'a Urls,
    pub identity: &'a Identity,
    /// Whether the entry was written by this calendar or a copy of it, regardless of the host.
    pub is_author: bool,
    /// The entry's CREATED property. If the host differs, this must match the stored event's
    /// creation time, because a copy of this calendar might use the same ids for different events.
    pub created: Option<i64>,
}

/// Finds an event by UID, which is either from an earlier import or one of our own. Our feeds
/// publish the UIDs of single occurrences, so these are only accepted in this calendar's own files.
/// Otherwise, another site could change any event.
pub fn find(db: &mut Db, own: OwnEvents<'_>, uid: &str) -> Result<Option<Event>, Error> {
    if let Some(event) = events::find_by_external_id(db, uid)? {
        return Ok(Some(event));
    }
    if let Some(id) = event_of_single(uid, &own.identity.calendar).filter(|_| own.is_author) {
        let is_same = |event: &Event| own.created == Some(event.created_utc());
        return Ok(events::find(db, id)?.filter(is_same));
    }
    let is_host = own.identity.event_of(uid).is_some();
    let Some((id, _)) = uid.split_once('@') else { return Ok(None) };
    let Some(id) = id.parse().ok().filter(|_| is_host || own.is_author) else { return Ok(None) };
    let is_own = |event: &Event| is_host || own.created == Some(event.created_utc());
    Ok(events::find(db, id)?.filter(|event| event.external_id.is_none() && is_own(event)))
}
