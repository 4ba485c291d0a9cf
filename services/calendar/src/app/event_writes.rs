//! Creates, changes and trashes events, inside a transaction.

use database::{DatabaseError, Db};

use super::context::RequestContext;
use super::images::{self, PlannedImage};
use super::interrupt::Interrupt;
use super::linked_writes::{self, PlannedLinked};
use super::list_permit::LONGEST_PAGE;
use super::slugs::{self, SlugSource};
use super::term_writes::{self, PlannedTerm};
use super::write_context::WriteContext;
use crate::error::Error;
use crate::model::change::{EventChange, LinkRef, LinkedChange};
use crate::model::event::{Event, Links};
use crate::model::event_status::{EventStatus, Occurring};
use crate::model::linked::Kind;
use crate::model::role::{self, User};
use crate::model::schedule::Schedule;
use crate::model::series_fields::Shared;
use crate::model::slug::{SEPARATOR, TRASHED};
use crate::model::status::{Stage, Status};
use crate::model::subscription_parts::Parts;
use crate::model::term::{Taxonomy, TermRef};
use crate::model::when::NotADate;
use crate::model::zone::Zone;
use crate::store::{
    self, event_statuses, events, imported, links, subscribed_events, text_lengths,
};
use crate::wire::parameter_errors::ParameterErrors;

fn no_date() -> Error {
    ParameterErrors::one("start_date", "must be a date").into()
}

fn out_of_range(_: NotADate) -> Error {
    no_date()
}

/// Builds a new event's schedule from the write request.
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
    let mut event = decide(&context.site.settings.site_timezone, change, write)?;
    let named = Named::gather(context.db, change, event.image, write)?;
    event.id = events::allocate_as(context.db, write.wanted_id)?;
    event.slug = slug(context.db, &event, change, false)?;
    if event.external_id.is_some() {
        event.sequence = imported::first_sequence(context.db)?;
    }
    let links = named.store(context.db, &mut event, Links::default(), write)?;
    let status = change.event_status.over(&EventStatus::default());
    let mut new = Shared { event, links, status };
    if let Some(taken) = &change.taken {
        taken.replace_in(&mut new);
    }
    let Shared { event, links, status } = new;
    events::insert(context.db, &event, &links)?;
    event_statuses::replace(context.db, event.id, &status)?;
    check_texts(context.db, event.id, change)?;
    Ok(event)
}

/// Builds the new event, except for its id, slug, image and links.
pub fn decide(site: &Zone, change: &EventChange, write: WriteContext<'_>) -> Result<Event, Error> {
    check_author(change, write.user, None)?;
    let schedule = schedule_of(site, change)?;
    let mut event = Event::draft(write.user.id, schedule, write.now, write.now_local);
    change.apply(&mut event, write.user, true, write.now).map_err(out_of_range)?;
    Ok(event)
}

/// Changes an event. The caller must have checked permissions. If nothing has changed, leaves the
/// modification date alone and doesn't record a change.
pub fn update(
    db: &mut Db,
    old: &Event,
    change: &EventChange,
    write: WriteContext<'_>,
) -> Result<Event, Interrupt> {
    check_author(change, write.user, Some(old.author))?;
    let mut event = old.clone();
    change.apply(&mut event, write.user, false, write.now).map_err(out_of_range)?;
    let named = Named::gather(db, change, old.image, write)?;
    let before = links::of_event(db, old.id)?;
    event.slug = slug(db, &event, change, old.status.is_trashed())?;
    let after = named.store(db, &mut event, before.clone(), write)?;
    let old_status = event_statuses::of_event(db, old.id)?;
    let status = change.event_status.over(&old_status);
    let is_revised = status.occurring != old_status.occurring
        || event.status.is_trashed() != old.status.is_trashed();
    if is_revised && event.sequence == old.sequence {
        event.sequence += 1;
    }
    let (modified_utc, sequence) = (old.modified_utc, old.sequence);
    if after == before
        && status == old_status
        && (Event { modified_utc, sequence, ..event.clone() }) == *old
    {
        return Ok(old.clone());
    }
    slugs::remember(db, "events", old.id, (&old.slug, &old.status), &event.slug)?;
    events::update(db, (old, &before), (&event, &after))?;
    if status != old_status {
        event_statuses::replace(db, event.id, &status)?;
    }
    if write.by_user {
        let changed = Parts::changed((old, &before, &old_status), (&event, &after, &status));
        if !changed.is_empty() {
            subscribed_events::note_changed(db, event.id, &changed)?;
        }
    }
    check_texts(db, event.id, change)?;
    Ok(event)
}

/// Fails if the event's venues and organizers would have too much text for a page.
fn check_texts(db: &mut Db, id: i64, change: &EventChange) -> Result<(), Error> {
    let links = [("organizer", &change.organizers), ("venue", &change.venues)];
    let Some((name, _)) = links.into_iter().find(|(_, links)| links.is_some()) else {
        return Ok(());
    };
    let bytes = text_lengths::of_events(db, &[id])?;
    if bytes <= LONGEST_PAGE {
        return Ok(());
    }
    let (mib, most) = (bytes >> 20, LONGEST_PAGE >> 20);
    let text = format!("must have less text: the event would have {mib} MiB, over {most}");
    Err(ParameterErrors::one(name, &text).into())
}

/// Moves an event to the trash. Its links are kept so that it can be restored.
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
    // Feeds show trashed events as cancelled, so this counts as a revision.
    event.sequence += i64::from(!old.status.is_trashed());
    let links = links::of_event(db, old.id)?;
    events::update(db, (old, &links), (&event, &links))?;
    Ok(event)
}

/// Marks an event as cancelled. It remains visible, and is restored if it was in the trash.
pub fn cancel(db: &mut Db, old: &Event, now: i64) -> Result<(), Error> {
    let mut event = old.clone();
    if old.status.is_trashed() {
        untrash(db, &mut event)?;
    }
    event.modified_utc = now;
    event.sequence += 1;
    let status = event_statuses::of_event(db, event.id)?;
    event_statuses::replace(
        db,
        event.id,
        &EventStatus { occurring: Occurring::Cancelled, ..status },
    )?;
    let links = links::of_event(db, old.id)?;
    Ok(events::update(db, (old, &links), (&event, &links))?)
}

/// Restores a trashed event's former status and slug. Doesn't store anything.
pub fn untrash(db: &mut Db, event: &mut Event) -> Result<(), DatabaseError> {
    let previous = event.previous.clone();
    event.set_status(previous.unwrap_or_else(|| Status::of(Stage::Publish)));
    event.slug = slug(db, event, &EventChange::default(), true)?;
    Ok(())
}

/// Checks that the user is allowed to set this author. Sending the current author doesn't count as
/// a change.
fn check_author(change: &EventChange, user: &User, current: Option<i64>) -> Result<(), Error> {
    match change.post.author {
        Some(author) if current == Some(author) || role::may_set_author(user, author) => Ok(()),
        Some(_) => Err(Error::CannotEditOthers),
        None => Ok(()),
    }
}

fn slug(
    db: &mut Db,
    event: &Event,
    change: &EventChange,
    was_trashed: bool,
) -> Result<String, DatabaseError> {
    if let Some(wanted) = &change.date_slug {
        let suffix = if event.status.is_trashed() { TRASHED } else { "" };
        let slug = slugs::free_of_event(db, (wanted, suffix), (event.id, true))?;
        let own = slug.strip_suffix(suffix).unwrap_or(&slug);
        let place = match own.contains(SEPARATOR) {
            true => None,
            false => store::series::of_event(db, event.id)?,
        };
        // A load can name the series slug, which is the series' path. The event keeps its own.
        if place.is_none_or(|place| place.series.slug != own) {
            store::slugs::forget_former(db, "events", &slug)?;
            return Ok(slug);
        }
    }
    let source = SlugSource {
        sent: change.post.slug.as_deref(),
        current: &event.slug,
        title: &event.title,
        was_trashed,
        is_trashed: event.status.is_trashed(),
    };
    slugs::assign(db, "events", event.id, source)
}

/// The image and links in a write request, each of which is either an existing row or a row to
/// create. `None` leaves the links unchanged.
struct Named<'a> {
    image: PlannedImage<'a>,
    categories: Option<Vec<PlannedTerm<'a>>>,
    tags: Option<Vec<PlannedTerm<'a>>>,
    venues: Option<Vec<NamedLink<'a>>>,
    organizers: Option<Vec<NamedLink<'a>>>,
}

/// A venue or an organizer that an event refers to.
enum NamedLink<'a> {
    Known(i64),
    Planned(Box<PlannedLinked<'a>>, &'a LinkedChange),
}

impl<'a> Named<'a> {
    /// Reads the rows that the request refers to. Doesn't store anything.
    fn gather(
        db: &mut Db,
        change: &'a EventChange,
        image: Option<i64>,
        write: WriteContext<'a>,
    ) -> Result<Named<'a>, Interrupt> {
        let image = images::plan(db, change.post.image.as_ref(), image, write)?;
        let mut terms = |taxonomy, refs: &'a Option<Vec<TermRef>>| match refs {
            Some(refs) => term_writes::plan(db, taxonomy, refs, write.user).map(Some),
            None => Ok(None),
        };
        let categories = terms(Taxonomy::Category, &change.categories)?;
        let tags = terms(Taxonomy::Tag, &change.tags)?;
        let mut linked = |kind, refs: &'a Option<Vec<LinkRef>>| match refs {
            Some(refs) => named_links(db, kind, refs, write).map(Some),
            None => Ok(None),
        };
        let venues = linked(Kind::Venue, &change.venues)?;
        let organizers = linked(Kind::Organizer, &change.organizers)?;
        Ok(Named { image, categories, tags, venues, organizers })
    }

    /// Stores new rows, sets the image, and returns the event's links.
    fn store(
        self,
        db: &mut Db,
        event: &mut Event,
        mut links: Links,
        write: WriteContext<'_>,
    ) -> Result<Links, Interrupt> {
        event.image = images::store(db, &self.image, write)?;
        if let Some(planned) = &self.categories {
            links.categories = term_writes::store(db, Taxonomy::Category, planned)?;
        }
        if let Some(planned) = &self.tags {
            links.tags = term_writes::store(db, Taxonomy::Tag, planned)?;
        }
        if let Some(named) = self.venues {
            links.venues = store_links(db, Kind::Venue, named, write)?;
        }
        if let Some(named) = self.organizers {
            links.organizers = store_links(db, Kind::Organizer, named, write)?;
        }
        Ok(links)
    }
}

fn named_links<'a>(
    db: &mut Db,
    kind: Kind,
    refs: &'a [LinkRef],
    write: WriteContext<'a>,
) -> Result<Vec<NamedLink<'a>>, Interrupt> {
    let mut named = Vec::new();
    for one in refs {
        named.push(match one {
            LinkRef::Id(id) => NamedLink::Known(*id),
            LinkRef::New(change) => {
                let planned = linked_writes::plan(db, kind, change, write)?;
                NamedLink::Planned(Box::new(planned), change)
            }
        });
    }
    Ok(named)
}

/// Stores the planned rows and returns all ids without duplicates.
fn store_links(
    db: &mut Db,
    kind: Kind,
    named: Vec<NamedLink<'_>>,
    write: WriteContext<'_>,
) -> Result<Vec<i64>, Interrupt> {
    let (mut ids, mut has_stored) = (Vec::new(), false);
    for one in named {
        let id = match one {
            NamedLink::Known(id) => id,
            // An earlier row in this request might have created a row with this name, so check for
            // duplicates again.
            NamedLink::Planned(_, change) if has_stored => {
                linked_writes::create(db, kind, change, write)?.id
            }
            NamedLink::Planned(planned, _) => {
                has_stored = true;
                linked_writes::store(db, *planned, write)?.id
            }
        };
        if !ids.contains(&id) {
            ids.push(id);
        }
    }
    Ok(ids)
}
