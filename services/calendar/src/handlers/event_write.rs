//! Creating, changing and trashing events.

use database::Db;

use super::linked_write::{self, Moment};
use super::naming::{settle_image, settle_slug};
use super::term_write;
use crate::error::Error;
use crate::model::change::{EventChange, LinkRef};
use crate::model::event::{Event, Links};
use crate::model::linked::Kind;
use crate::model::role::{self, Person};
use crate::model::schedule::Schedule;
use crate::model::status::{Stage, Status};
use crate::model::term::{Taxonomy, TermRef};
use crate::model::when::NotADate;
use crate::model::zone::Zone;
use crate::store::{events, links, terms as stored};
use crate::wire::decode::Problems;

fn unplaced(_: NotADate) -> Error {
    Problems::one("start_date", "must be a date").into()
}

/// Creates an event with everything that it is linked to.
pub fn create(
    db: &mut Db,
    site: &Zone,
    change: &EventChange,
    at: Moment<'_>,
) -> Result<Event, Error> {
    check_author(change, at.person, None)?;
    let missing = || Error::from(Problems::one("start_date", "must be a date"));
    let dates = &change.schedule;
    let schedule = Schedule::new(
        dates.zone.clone().unwrap_or_else(|| site.clone()),
        dates.all_day.unwrap_or(false),
        dates.start.ok_or_else(missing)?,
        dates.end.ok_or_else(missing)?,
    );
    let schedule = schedule.map_err(unplaced)?;
    let mut event = Event::draft(at.person.id, schedule, at.now, at.now_local);
    event.apply(change, at.person, true, at.now).map_err(unplaced)?;
    event.id = events::allocate(db)?;
    settle(db, &mut event, change, false, at)?;
    let with = resolve(db, change, &Links::default(), at)?;
    events::insert(db, &event, &with)?;
    Ok(event)
}

/// Changes an event; the caller has been found to be allowed to.
pub fn update(
    db: &mut Db,
    old: &Event,
    change: &EventChange,
    at: Moment<'_>,
) -> Result<Event, Error> {
    check_author(change, at.person, Some(old.author))?;
    let mut event = old.clone();
    event.apply(change, at.person, false, at.now).map_err(unplaced)?;
    settle(db, &mut event, change, old.status.is_trashed(), at)?;
    let before = links::of_event(db, old.id)?;
    let after = resolve(db, change, &before, at)?;
    events::update(db, (old, &before), (&event, &after))?;
    Ok(event)
}

/// Moves an event to the trash; its links stay for a restore.
pub fn trash(db: &mut Db, old: &Event, now: i64) -> Result<Event, Error> {
    let mut event = old.clone();
    event.set_status(Status::of(Stage::Trash));
    let naming = (None, old.slug.as_str(), old.title.as_str());
    event.slug = settle_slug(db, "events", event.id, naming, (false, true))?;
    event.modified_utc = now;
    let with = links::of_event(db, old.id)?;
    events::update(db, (old, &with), (&event, &with))?;
    Ok(event)
}

/// Sending back the author that the event has is no change.
fn check_author(change: &EventChange, person: &Person, current: Option<i64>) -> Result<(), Error> {
    match change.author {
        Some(author) if current == Some(author) || role::may_set_author(person, author) => Ok(()),
        Some(_) => Err(Error::CannotEditOthers),
        None => Ok(()),
    }
}

fn settle(
    db: &mut Db,
    event: &mut Event,
    change: &EventChange,
    was_trashed: bool,
    at: Moment<'_>,
) -> Result<(), Error> {
    let naming = (change.slug.as_deref(), event.slug.as_str(), event.title.as_str());
    let trash = (was_trashed, event.status.is_trashed());
    event.slug = settle_slug(db, "events", event.id, naming, trash)?;
    event.image = settle_image(db, change.image.as_ref(), event.image, at)?;
    Ok(())
}

/// Turns what a write names into links; what it does not name stays.
fn resolve(db: &mut Db, change: &EventChange, old: &Links, at: Moment<'_>) -> Result<Links, Error> {
    let mut links = old.clone();
    if let Some(refs) = &change.categories {
        links.categories = terms(db, Taxonomy::Category, refs, at.person)?;
    }
    if let Some(refs) = &change.tags {
        links.tags = terms(db, Taxonomy::Tag, refs, at.person)?;
    }
    if let Some(refs) = &change.venues {
        links.venues = linked(db, Kind::Venue, refs, at)?;
    }
    if let Some(refs) = &change.organizers {
        links.organizers = linked(db, Kind::Organizer, refs, at)?;
    }
    Ok(links)
}

fn push_new(ids: &mut Vec<i64>, id: i64) {
    if !ids.contains(&id) {
        ids.push(id);
    }
}

fn terms(
    db: &mut Db,
    taxonomy: Taxonomy,
    refs: &[TermRef],
    person: &Person,
) -> Result<Vec<i64>, Error> {
    let texts = refs.iter().filter_map(|one| match one {
        TermRef::Id(_) => None,
        TermRef::Text(text) => Some(text.to_lowercase()),
    });
    let known = stored::ids_by_slug(db, taxonomy, &texts.collect::<Vec<_>>())?;
    let mut ids = Vec::new();
    for one in refs {
        let id = match one {
            TermRef::Id(id) => Some(*id),
            TermRef::Text(text) => match known.get(&text.to_lowercase()) {
                Some(id) => Some(*id),
                None => term_write::find_or_create(db, taxonomy, text, person)?,
            },
        };
        if let Some(id) = id {
            push_new(&mut ids, id);
        }
    }
    Ok(ids)
}

fn linked(db: &mut Db, kind: Kind, refs: &[LinkRef], at: Moment<'_>) -> Result<Vec<i64>, Error> {
    let mut ids = Vec::new();
    for one in refs {
        let id = match one {
            LinkRef::Id(id) => *id,
            LinkRef::New(change) => linked_write::create(db, kind, change, at)?.id,
        };
        push_new(&mut ids, id);
    }
    Ok(ids)
}
