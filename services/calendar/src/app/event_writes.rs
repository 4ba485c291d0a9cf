//! Rules for creating, changing and trashing events, inside a transaction.

use database::Db;

use super::context::RequestContext;
use super::images;
use super::interrupt::Interrupt;
use super::linked_writes;
use super::slugs::{self, SlugSource};
use super::term_writes;
use super::write_context::WriteContext;
use crate::error::Error;
use crate::model::change::{EventChange, LinkRef};
use crate::model::event::{Event, Links};
use crate::model::linked::Kind;
use crate::model::role::{self, User};
use crate::model::schedule::Schedule;
use crate::model::status::{Stage, Status};
use crate::model::term::{Taxonomy, TermRef};
use crate::model::when::NotADate;
use crate::model::zone::Zone;
use crate::store::{events, links, terms as stored};
use crate::wire::parameter_errors::ParameterErrors;

fn no_date() -> Error {
    ParameterErrors::one("start_date", "must be a date").into()
}

fn out_of_range(_: NotADate) -> Error {
    no_date()
}

/// Returns the schedule of a new event.
pub fn schedule_of(site: &Zone, change: &EventChange) -> Result<Schedule, Error> {
    let dates = &change.schedule;
    let schedule = Schedule::new(
        dates.zone.clone().unwrap_or_else(|| site.clone()),
        dates.all_day.unwrap_or(false),
        dates.start.ok_or_else(no_date)?,
        dates.end.ok_or_else(no_date)?,
    );
    schedule.map_err(out_of_range)
}

/// Creates an event on behalf of a user.
pub fn create_in(
    context: &mut RequestContext<'_>,
    user: &User,
    change: &EventChange,
) -> Result<Event, Interrupt> {
    let write = context.write_context(user);
    create(context.db, &context.site.settings.site_timezone, change, write)
}

/// Creates an event with all its links.
fn create(
    db: &mut Db,
    site: &Zone,
    change: &EventChange,
    write: WriteContext<'_>,
) -> Result<Event, Interrupt> {
    check_author(change, write.user, None)?;
    let schedule = schedule_of(site, change)?;
    let mut event = Event::draft(write.user.id, schedule, write.now, write.now_local);
    change.apply(&mut event, write.user, true, write.now).map_err(out_of_range)?;
    event.id = events::allocate(db)?;
    assign_slug_and_image(db, &mut event, change, false, write)?;
    let links = resolve_links(db, change, &Links::default(), write)?;
    events::insert(db, &event, &links)?;
    Ok(event)
}

/// Changes an event. The caller's permission has been checked.
pub fn update(
    db: &mut Db,
    old: &Event,
    change: &EventChange,
    write: WriteContext<'_>,
) -> Result<Event, Interrupt> {
    check_author(change, write.user, Some(old.author))?;
    let mut event = old.clone();
    change.apply(&mut event, write.user, false, write.now).map_err(out_of_range)?;
    assign_slug_and_image(db, &mut event, change, old.status.is_trashed(), write)?;
    let before = links::of_event(db, old.id)?;
    let after = resolve_links(db, change, &before, write)?;
    events::update(db, (old, &before), (&event, &after))?;
    Ok(event)
}

/// Moves an event to the trash. Its links stay for a restore.
pub fn trash(db: &mut Db, old: &Event, now: i64) -> Result<Event, Error> {
    let mut event = old.clone();
    event.set_status(Status::of(Stage::Trash));
    let source = SlugSource {
        sent: None,
        current: &old.slug,
        title: &old.title,
        was_trashed: false,
        is_trashed: true,
    };
    event.slug = slugs::assign(db, "events", event.id, source)?;
    event.modified_utc = now;
    let links = links::of_event(db, old.id)?;
    events::update(db, (old, &links), (&event, &links))?;
    Ok(event)
}

/// Checks a changed author. Sending back the current author is not a change.
fn check_author(change: &EventChange, user: &User, current: Option<i64>) -> Result<(), Error> {
    match change.post.author {
        Some(author) if current == Some(author) || role::may_set_author(user, author) => Ok(()),
        Some(_) => Err(Error::CannotEditOthers),
        None => Ok(()),
    }
}

fn assign_slug_and_image(
    db: &mut Db,
    event: &mut Event,
    change: &EventChange,
    was_trashed: bool,
    write: WriteContext<'_>,
) -> Result<(), Interrupt> {
    let source = SlugSource {
        sent: change.post.slug.as_deref(),
        current: &event.slug,
        title: &event.title,
        was_trashed,
        is_trashed: event.status.is_trashed(),
    };
    event.slug = slugs::assign(db, "events", event.id, source)?;
    event.image = images::resolve(db, change.post.image.as_ref(), event.image, write)?;
    Ok(())
}

/// Resolves the links of a write. Absent fields keep the current links.
fn resolve_links(
    db: &mut Db,
    change: &EventChange,
    old: &Links,
    write: WriteContext<'_>,
) -> Result<Links, Interrupt> {
    let mut links = old.clone();
    if let Some(refs) = &change.categories {
        links.categories = terms(db, Taxonomy::Category, refs, write.user)?;
    }
    if let Some(refs) = &change.tags {
        links.tags = terms(db, Taxonomy::Tag, refs, write.user)?;
    }
    if let Some(refs) = &change.venues {
        links.venues = linked(db, Kind::Venue, refs, write)?;
    }
    if let Some(refs) = &change.organizers {
        links.organizers = linked(db, Kind::Organizer, refs, write)?;
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
    user: &User,
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
                None => term_writes::find_or_create(db, taxonomy, text, user)?,
            },
        };
        if let Some(id) = id {
            push_new(&mut ids, id);
        }
    }
    Ok(ids)
}

fn linked(
    db: &mut Db,
    kind: Kind,
    refs: &[LinkRef],
    write: WriteContext<'_>,
) -> Result<Vec<i64>, Interrupt> {
    let mut ids = Vec::new();
    for one in refs {
        let id = match one {
            LinkRef::Id(id) => *id,
            LinkRef::New(change) => linked_writes::create(db, kind, change, write)?.id,
        };
        push_new(&mut ids, id);
    }
    Ok(ids)
}
