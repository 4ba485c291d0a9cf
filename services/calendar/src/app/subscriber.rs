//! Extra rules for imports that belong to a subscription. Such an import only writes the
//! subscription's events, adds a category and a venue, and preserves user edits.

use std::collections::HashSet;

use database::Db;
use jiff::Timestamp;

use super::own_events::OwnEvents;
use crate::error::Error;
use crate::ical::{Entry, Moment, Occurrence};
use crate::model::html;
use crate::model::linked::Kind;
use crate::model::role::{Role, User};
use crate::model::schedule::day_end;
use crate::model::series_ids::occurrence_of;
use crate::model::subscription::Subscription;
use crate::model::subscription_parts::Parts;
use crate::model::term::{Taxonomy, TermRef};
use crate::model::zone::Zone;
use crate::store::{events, external_ids, imported, linked_posts, subscribed_events, terms, users};

/// The reason for skipping an entry whose UID belongs to an event outside the subscription.
const FOREIGN: &str = "an event outside this subscription has its UID; it was skipped";

/// The reason for skipping an entry whose UID our feeds give to one of our own events, or will give
/// to a later one.
const OWN: &str = "its UID is one that this calendar gives to its own events; it was skipped";

/// The reason for skipping an entry whose event an earlier subscription might have imported.
const TRASHED: &str = "an event in the trash that is not of this subscription has its UID; it was \
    skipped. To restore it, set adopt and run the subscription; to get a new event, erase it";

/// The reason for skipping a late entry. Some sites give all events new UIDs in each response.
const LATE: &str = "it is new but ended before the last import; it was skipped";

/// The subscription that an import belongs to.
#[derive(Clone, Debug)]
pub struct Subscriber {
    id: i64,
    /// The status of new events.
    status: String,
    /// Whether the subscription adopts events created by an earlier import.
    adopts: bool,
    /// Id and name of the category to add to all of its events. Another category might have the
    /// same name.
    category: Option<(i64, String)>,
    /// Id of the venue for events without a location.
    venue: Option<i64>,
    /// The external ids of the subscription's events.
    names: HashSet<String>,
    /// When a file was last imported, or 0 if never.
    imported_utc: i64,
    /// The time zone of all-day events.
    zone: Zone,
    /// Whether users had already trashed or erased any of the subscription's events when the import
    /// started.
    has_removed: bool,
}

impl Subscriber {
    /// Reads the facts about a subscription that its import needs.
    pub fn of(db: &mut Db, subscription: &Subscription, zone: &Zone) -> Result<Subscriber, Error> {
        let plan = &subscription.plan;
        let category = match plan.category {
            Some(id) => terms::find(db, Taxonomy::Category, id)?,
            None => None,
        };
        let venue = match plan.venue {
            Some(id) => untrashed_venue(db, id)?,
            None => None,
        };
        let names = subscribed_events::names(db, subscription.id)?;
        Ok(Subscriber {
            id: subscription.id,
            status: plan.status.clone(),
            adopts: plan.adopts,
            category: category.map(|term| (term.id, term.line())),
            venue,
            names,
            imported_utc: subscription.imported_utc,
            zone: zone.clone(),
            has_removed: subscribed_events::has_removed(db, subscription.id)?,
        })
    }

    /// Reads the external ids again after some of them have changed.
    pub fn read_names(&mut self, db: &mut Db) -> Result<(), Error> {
        self.names = subscribed_events::names(db, self.id)?;
        Ok(())
    }

    pub fn id(&self) -> i64 {
        self.id
    }

    /// Returns whether users had already trashed or erased any of the subscription's events when
    /// the import started.
    pub fn has_removed(&self) -> bool {
        self.has_removed
    }

    /// Returns whether the subscription adopts events created by an earlier import.
    pub fn adopts(&self) -> bool {
        self.adopts
    }

    /// Returns whether the external id `name` belonged to one of the subscription's events when the
    /// import started.
    pub fn has(&self, name: &str) -> bool {
        self.names.contains(name)
    }

    pub fn status(&self) -> &str {
        &self.status
    }

    /// Returns the reason for skipping an entry, or `None` to import it. A subscription only owns
    /// the events that it created or adopted. Otherwise, a remote site could change any other event
    /// by using its UID, or add an entry with that UID to our feeds.
    pub fn refusal(
        &self,
        db: &mut Db,
        entry: &Entry,
        own: OwnEvents<'_>,
    ) -> Result<Option<&'static str>, Error> {
        if own.is_author {
            return Ok(Some("it comes from this calendar; it was skipped"));
        }
        if own.identity.is_own(&entry.uid) {
            return Ok(Some(OWN));
        }
        let mut named = named_by(db, &entry.uid)?;
        if named.is_empty() && self.is_late(entry) {
            return Ok(Some(LATE));
        }
        if named.is_empty()
            && let Some((series, _)) = occurrence_of(&entry.uid)
        {
            // The UID looks like an occurrence that the series might add later.
            named = named_by(db, series)?;
        }
        for event in named {
            if !self.owns(db, event)? {
                let found = events::find(db, event)?;
                let is_trashed = found.is_some_and(|event| event.status.is_trashed());
                let may_adopt = is_trashed && imported::is_from_file(db, event)?;
                return Ok(Some(if may_adopt { TRASHED } else { FOREIGN }));
            }
        }
        Ok(None)
    }

    /// Returns whether an entry is late: all of its occurrences ended before the last import, but
    /// none of them are known.
    fn is_late(&self, entry: &Entry) -> bool {
        let is_over = |one: &Occurrence| {
            let end = match &one.end {
                Moment::Day(day) => self.zone.instant(day_end(*day)).map(Timestamp::as_second),
                end => Some(end.seconds()),
            };
            end.is_some_and(|end| end < self.imported_utc)
        };
        // Users might have erased its events.
        let is_unknown = |one: &Occurrence| !self.has(&one.external_id);
        self.imported_utc > 0
            && entry.is_complete
            && !entry.occurrences.is_empty()
            && entry.occurrences.iter().all(|one| is_over(one) && is_unknown(one))
    }

    /// Returns whether the subscription owns or can adopt an event. It can only adopt events that
    /// came from files, because our feeds publish the UIDs of our own events.
    pub fn owns(&self, db: &mut Db, event: i64) -> Result<bool, Error> {
        Ok(match subscribed_events::of_event(db, event)? {
            Some(known) => known.subscription == self.id,
            None => self.adopts && imported::is_from_file(db, event)?,
        })
    }

    /// Returns whether a user erased the event, in which case it isn't created again.
    pub fn was_erased(&self, db: &mut Db, name: &str) -> Result<bool, Error> {
        let known = subscribed_events::find(db, self.id, name)?;
        Ok(known.is_some_and(|known| known.event.is_none() && !known.is_vanished))
    }

    /// Adds the subscription's category to an event's categories from the file. If the file
    /// contains a category of the same name, the two are considered the same.
    pub fn add_category(&self, db: &mut Db, categories: &mut Vec<TermRef>) -> Result<(), Error> {
        let Some((id, name)) = &self.category else { return Ok(()) };
        // The category might have been deleted since the import started.
        if terms::find(db, Taxonomy::Category, *id)?.is_some() {
            let name = html::escape(name);
            categories.retain(|one| !matches!(one, TermRef::Text(text) if *text == name));
            categories.push(TermRef::Id(*id));
        }
        Ok(())
    }

    /// Returns the id and name of the category to add to all events.
    pub fn category(&self) -> Option<(i64, &str)> {
        self.category.as_ref().map(|(id, name)| (*id, name.as_str()))
    }

    /// Returns the id of the venue for events without a location.
    pub fn venue(&self) -> Option<i64> {
        self.venue
    }

    /// Returns the fields of an event that users have changed, which the import must not overwrite.
    pub fn changed_parts(&self, db: &mut Db, event: i64) -> Result<Parts, Error> {
        let known = subscribed_events::of_event(db, event)?;
        Ok(known.map(|known| known.changed).unwrap_or_default())
    }

    /// Records that the event is in the file.
    pub fn note(&self, db: &mut Db, name: &str, event: i64) -> Result<(), Error> {
        Ok(subscribed_events::note(db, self.id, name, event)?)
    }
}

/// Returns the event with the external id `uid`, or else the occurrences of the series with this
/// UID.
fn named_by(db: &mut Db, uid: &str) -> Result<Vec<i64>, Error> {
    Ok(match events::find_by_external_id(db, uid)? {
        Some(event) => vec![event.id],
        None => external_ids::of_uid(db, uid)?.into_iter().map(|(id, ..)| id).collect(),
    })
}

/// Returns the id of a venue, unless it was deleted.
pub fn untrashed_venue(db: &mut Db, id: i64) -> Result<Option<i64>, Error> {
    let venue = linked_posts::find(db, Kind::Venue, id)?;
    Ok(venue.filter(|venue| !venue.status.is_trashed()).map(|venue| venue.id))
}

/// Returns the user that a subscription writes as. This is its author, but always with the author
/// role. That way, HTML from a remote site is always sanitized, even if the author is an editor
/// whose own HTML isn't.
///
/// # Errors
/// Returns an error if the author does not exist.
pub fn acting_user(db: &mut Db, subscription: &Subscription) -> Result<User, Error> {
    let author = subscription.plan.author;
    let all = users::list(db)?;
    let user = all.into_iter().find(|user| user.id == author);
    let user = user.map(|user| User { role: Role::Author, ..user });
    user.ok_or_else(|| Error::Internal("the author of a subscription is missing".to_owned()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ical::{EntryContext, ForeignZones, Reader};
    use crate::model::series::SeriesLimits;

    #[test]
    fn new_entry_is_late_if_it_has_dates_and_all_of_them_are_over() {
        let subscriber = Subscriber {
            id: 1,
            status: "publish".to_owned(),
            adopts: false,
            category: None,
            venue: None,
            names: HashSet::new(),
            has_removed: false,
            imported_utc: "2027-03-10T12:00:00Z".parse::<Timestamp>().unwrap().as_second(),
            zone: Zone::utc(),
        };
        let text = "BEGIN:VCALENDAR\r\nBEGIN:VEVENT\r\nUID:a\r\nDTSTART:20270309T100000Z\r\n\
            RRULE:FREQ=DAILY;COUNT=2\r\nSUMMARY:A\r\nEND:VEVENT\r\nEND:VCALENDAR\r\n";
        let component = Reader::new(text.as_bytes()).next_component().unwrap().unwrap();
        let (zones, site) = (ForeignZones::default(), Zone::utc());
        let now = "2027-03-10T12:00:00Z".parse().unwrap();
        let limits = SeriesLimits::IMPORTED;
        let (calendar_number, calendar, site) = (0, None, &site);
        let context = EntryContext { zones: &zones, calendar_number, calendar, site, now, limits };
        let mut entry = Entry::read(&component, context).unwrap();
        assert!(subscriber.is_late(&entry));
        let fresh = Subscriber { imported_utc: 0, ..subscriber.clone() };
        assert!(!fresh.is_late(&entry));
        entry.occurrences.clear();
        assert!(!subscriber.is_late(&entry));
    }
}
