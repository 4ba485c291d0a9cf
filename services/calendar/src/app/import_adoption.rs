//! Events that a subscription adopts from an earlier import or a removed subscription. We don't
//! know whether users had changed them before, so editors get a message about each replaced field.

use database::Db;

use super::own_events::{OwnEvents, find};
use super::series;
use super::subscriber::Subscriber;
use crate::error::Error;
use crate::model::html;
use crate::model::series_fields::Shared;
use crate::model::subscription_parts::Parts;
use crate::store::subscribed_events;

/// An event without a subscription, before a subscription's file is applied to it.
pub struct Adopted(Shared);

impl Adopted {
    /// Reads the event with the external id `name`. `None` unless the subscription is about to
    /// adopt it.
    pub fn find(
        db: &mut Db,
        subscriber: Option<&Subscriber>,
        own: OwnEvents<'_>,
        name: &str,
    ) -> Result<Option<Adopted>, Error> {
        if !subscriber.is_some_and(|one| one.adopts() && !one.has(name)) {
            return Ok(None);
        }
        let Some(event) = find(db, own, name)? else { return Ok(None) };
        if subscribed_events::of_event(db, event.id)?.is_some() {
            return Ok(None);
        }
        Ok(series::shared(db, event.id)?.map(Adopted))
    }

    /// Returns a message listing the fields that the file replaced, or `None` if it replaced none.
    pub fn replaced(self, db: &mut Db) -> Result<Option<String>, Error> {
        let Adopted(old) = self;
        let Some(new) = series::shared(db, old.event.id)? else { return Ok(None) };
        let changed = Parts::changed(
            (&old.event, &old.links, &old.status),
            (&new.event, &new.links, &new.status),
        );
        let (id, title) = (old.event.id, html::plain(&old.event.title));
        let names = changed.names().join(", ");
        let message =
            format!("event {id} \"{title}\" was taken over; the file replaced its {names}");
        Ok(Some(message).filter(|_| !changed.is_empty()))
    }
}
