//! Imports a single occurrence.

use database::Db;
use serde_json::{Value, json};

use super::context::RequestContext;
use super::event_writes;
use super::import_edits::SeriesEdits;
use super::import_links::{self, has_categories, has_venue, organizer, terms, venue};
use super::import_memberships::{self, Placed};
use super::import_statuses::{is_cancelled, occurring_after, status_after, status_outside_trash};
use super::own_events::{OwnEvents, find};
use super::own_revisions::OwnRevision;
use super::subscriber::Subscriber;
use super::undone::Undone;
use super::write_context::WriteContext;
use crate::error::Error;
use crate::ical::{self, Entry, EntryContext, FeedContext, Occurrence, Reader};
use crate::model::change::EventChange;
use crate::model::event::{Event, Links};
use crate::model::event_status::Occurring;
use crate::model::included::Included;
use crate::model::role::User;
use crate::model::schedule::wall_seconds;
use crate::model::series_ids::key_of;
use crate::model::slug;
use crate::model::status::{Stage, Status};
use crate::model::subscription_parts::{Part, Parts};
use crate::store::imported::Imported;
use crate::store::included::{self, EventSelector};
use crate::store::{events, imported, links, subscribed_events};
use crate::wire::event_input::EventInput;
use crate::wire::params::Params;

/// The outcome of writing an event.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Outcome {
    Created,
    Updated,
    Unchanged,
    Skipped,
}

/// The origin of an imported event.
#[derive(Clone, Copy)]
pub struct Source<'a> {
    pub user: &'a User,
    pub own: OwnEvents<'a>,
    /// The context for parsing a stored event the way our own feeds render it.
    pub entries: EntryContext<'a>,
    /// The first event of the series.
    pub parent: Option<i64>,
    /// The stored series and the entry, if the event belongs to one.
    pub series: Option<(i64, &'a Entry)>,
    /// The values for occurrences that are new in that series.
    pub edits: Option<&'a SeriesEdits>,
    /// If users ended the series, the key of its last occurrence. Later occurrences aren't created.
    pub ended_at: Option<&'a str>,
    /// Whether the series might exclude this event. We can't know, because one of the excluded
    /// dates couldn't be parsed.
    pub has_unknown_exclusions: bool,
    /// The subscription that this import belongs to, if any.
    pub subscriber: Option<&'a Subscriber>,
    /// The entry's revision, if this calendar wrote it.
    pub revision: Option<OwnRevision>,
}

impl Source<'_> {
    /// Returns whether this calendar wrote the entry, and the event has changed since then. The
    /// entry must not change the event, or create one that the series no longer has.
    fn is_older_than(
        &self,
        db: &mut Db,
        event: Option<&Event>,
        occurrence: &Occurrence,
    ) -> Result<bool, Error> {
        match self.revision {
            Some(revision) => revision.is_older_than(db, event, occurrence),
            None => Ok(false),
        }
    }
}

/// A stored event along with its representation in a feed.
struct Stored {
    event: Event,
    links: Links,
    included: Included,
    shown: Option<Occurrence>,
}

/// Writes or cancels an event. Returns its id, if it exists, and the outcome. A subscription's
/// import only touches that subscription's events.
pub fn write(
    context: &mut RequestContext<'_>,
    source: Source<'_>,
    (occurrence, is_complete): (&Occurrence, bool),
) -> Result<(Option<i64>, Outcome), Undone> {
    if let Some(subscriber) = source.subscriber {
        let name = &occurrence.external_id;
        let known = find(context.db, source.own, name)?;
        let is_refused = match &known {
            Some(event) => !subscriber.owns(context.db, event.id)?,
            None => {
                source.ended_at.is_some_and(|last| key_of(name) > last)
                    || subscriber.was_erased(context.db, name)?
            }
        };
        if is_refused {
            return Ok((None, Outcome::Skipped));
        }
        if let Some(event) = known.filter(|_| occurrence.is_cancelled)
            && subscriber.changed_parts(context.db, event.id)?.has(Part::EventStatus)
        {
            let changed = follow(context, source, occurrence, &event)?;
            let outcome = if changed.is_some() { Outcome::Updated } else { Outcome::Unchanged };
            return Ok((Some(event.id), outcome));
        }
    }
    match occurrence.is_cancelled {
        true => cancel(context, source, (occurrence, is_complete)),
        false => write_occurrence(context, source, occurrence),
    }
}

/// Writes an event. Returns its id and the outcome.
///
/// Events trashed by an import are restored. Events trashed by a user remain in the trash. If the
/// series might exclude the event, it is neither restored nor inserted between known events.
fn write_occurrence(
    context: &mut RequestContext<'_>,
    source: Source<'_>,
    occurrence: &Occurrence,
) -> Result<(Option<i64>, Outcome), Undone> {
    match find(context.db, source.own, &occurrence.external_id)? {
        None if is_skipped_by_known_events(context.db, source, occurrence)? => {
            Ok((None, Outcome::Skipped))
        }
        None if source.is_older_than(context.db, None, occurrence)? => Err(Undone::Outdated),
        None => create(context, source, occurrence),
        Some(event)
            if event.status.is_trashed()
                && (source.has_unknown_exclusions
                    || !imported::find(context.db, event.id)?.is_trashed) =>
        {
            let id = event.id;
            if !source.has_unknown_exclusions && !source.own.is_author {
                update_in_trash(context, source, occurrence, event)?;
            }
            Ok((Some(id), Outcome::Skipped))
        }
        Some(event) => {
            let stored = Stored::read(context.db, source, event)?;
            update(context, source, occurrence, (stored, false))
        }
    }
}

/// Updates an event that a user moved to the trash, so that it is up to date if the user restores
/// it later. The event stays in the trash and keeps its deletion date.
fn update_in_trash(
    context: &mut RequestContext<'_>,
    source: Source<'_>,
    occurrence: &Occurrence,
    event: Event,
) -> Result<(), Undone> {
    // The file now marks the text as private. If the event were restored, the text would be public
    // until the next import.
    if occurrence.details.is_private && !imported::find(context.db, event.id)?.is_private {
        return Ok(());
    }
    let (id, modified) = (event.id, event.modified_utc);
    let stored = Stored::read(context.db, source, event)?;
    match update(context, source, occurrence, (stored, true)) {
        Ok(_) => Ok(events::set_modified(context.db, id, modified)?),
        Err(Undone::Unchanged | Undone::Outdated) => Ok(()),
        Err(other) => Err(other),
    }
}

/// Returns whether this occurrence is unknown although a later one in its series is known. If so,
/// an earlier file must have excluded it.
fn is_skipped_by_known_events(
    db: &mut Db,
    source: Source<'_>,
    occurrence: &Occurrence,
) -> Result<bool, Error> {
    let Some(parent) = source.parent.filter(|_| source.has_unknown_exclusions) else {
        return Ok(false);
    };
    Ok(imported::has_later_event(db, parent, wall_seconds(occurrence.start.wall()))?)
}

/// Marks an event as cancelled. The event remains visible. Since a cancellation can omit all other
/// properties, a known event keeps its values for those. An unknown event is created if the
/// cancellation has enough details.
fn cancel(
    context: &mut RequestContext<'_>,
    source: Source<'_>,
    (occurrence, is_complete): (&Occurrence, bool),
) -> Result<(Option<i64>, Outcome), Undone> {
    let Some(event) = find(context.db, source.own, &occurrence.external_id)? else {
        return match is_complete {
            true if source.is_older_than(context.db, None, occurrence)? => Err(Undone::Outdated),
            true => create(context, source, occurrence),
            false => Ok((None, Outcome::Skipped)),
        };
    };
    let changed = follow(context, source, occurrence, &event)?;
    let is_changed = changed.is_some();
    let event = changed.unwrap_or(event);
    let noted = imported::find(context.db, event.id)?;
    let is_own = source.own.is_author;
    let outcome = match event.status.is_trashed() {
        // Our own feeds show trashed events as cancelled.
        true if !noted.is_trashed || is_own => Outcome::Skipped,
        // A user might have changed the status after the file cancelled the event.
        false if noted.is_cancelled || (is_own && is_cancelled(context.db, event.id)?) => {
            if is_changed {
                Outcome::Updated
            } else {
                Outcome::Unchanged
            }
        }
        _ if source.is_older_than(context.db, Some(&event), occurrence)? => {
            return Err(Undone::Outdated);
        }
        _ => {
            let own = match source.revision {
                Some(own) => Some((own, Stored::read(context.db, source, event.clone())?.shown)),
                None => None,
            };
            let is_new = call_off(context.db, &event, context.now.as_second())?;
            if let Some((own, shown)) = own.filter(|_| is_new) {
                own.note(context.db, &event, shown.as_ref())?;
            }
            if is_new || is_changed { Outcome::Updated } else { Outcome::Unchanged }
        }
    };
    Ok((Some(event.id), outcome))
}

/// Updates a known event with the values in its cancellation, if there are any, because a file can
/// change and cancel a series at the same time. This includes an event that an import trashed,
/// because the cancellation restores it. In our own files, cancellations without `CLASS:PRIVATE`
/// don't change other values. Returns the event if it changed.
fn follow(
    context: &mut RequestContext<'_>,
    source: Source<'_>,
    occurrence: &Occurrence,
    event: &Event,
) -> Result<Option<Event>, Undone> {
    let is_own = source.own.is_author;
    if !occurrence.is_detailed || (is_own && !occurrence.details.is_private) {
        return Ok(None);
    }
    // Our own feeds show trashed events as cancelled.
    let is_trashed = event.status.is_trashed();
    if is_trashed && (is_own || !imported::find(context.db, event.id)?.is_trashed) {
        return Ok(None);
    }
    let stored = Stored::read(context.db, source, event.clone())?;
    match update(context, source, occurrence, (stored, false)) {
        Ok((_, Outcome::Updated)) => Ok(events::find(context.db, event.id)?),
        Ok(_) | Err(Undone::Unchanged) => Ok(None),
        Err(other) => Err(other),
    }
}

/// Returns whether the file has a value for `part` of `event`. Only cancellations can lack values.
fn has_part(occurrence: &Occurrence, event: &Event, part: Part) -> bool {
    if !occurrence.is_cancelled {
        return true;
    }
    // A cancellation without an end keeps the end, unless it moves the event.
    let keeps_end = part == Part::Dates
        && occurrence.end == occurrence.start
        && occurrence.starts_with(&event.schedule);
    occurrence.details.has(part) && !keeps_end
}

/// Marks an event as cancelled, and records that the file cancelled it. Returns whether the event
/// changed.
pub fn call_off(db: &mut Db, event: &Event, now: i64) -> Result<bool, Error> {
    imported::note(db, event.id, |noted| {
        (noted.is_cancelled, noted.is_postponed, noted.is_trashed) = (true, false, false);
    })?;
    if !event.status.is_trashed() && is_cancelled(db, event.id)? {
        return Ok(false);
    }
    event_writes::cancel(db, event, now)?;
    Ok(true)
}

/// Moves an event to the trash, and records that the file removed it.
pub fn trash(db: &mut Db, event: &Event, now: i64) -> Result<(), Error> {
    event_writes::trash(db, event, now)?;
    imported::note(db, event.id, |noted| noted.is_trashed = true)?;
    Ok(subscribed_events::note_vanished(db, event.id)?)
}

fn create(
    context: &mut RequestContext<'_>,
    source: Source<'_>,
    occurrence: &Occurrence,
) -> Result<(Option<i64>, Outcome), Undone> {
    let details = &*occurrence.details;
    let mut fields = occurrence.fields(None);
    let mut set = |name: &str, value: Value| fields.insert(name.to_owned(), value);
    set("venue", json!(venue(context.db, source.subscriber, (details, true))?));
    set("organizer", json!(organizer(context.db, details, true)?));
    set("website", json!(details.url));
    set("image", json!(details.image));
    match source.subscriber {
        _ if details.is_private => set("status", json!("private")),
        Some(subscriber) => set("status", json!(subscriber.status())),
        None => None,
    };
    if occurrence.is_cancelled {
        set("event_status", json!(Occurring::Cancelled.name()));
    } else if details.is_postponed {
        set("event_status", json!(Occurring::Postponed.name()));
    }
    let is_private = details.is_private;
    let is_taken = |part| source.edits.is_some_and(|edits| edits.decides(part, is_private));
    // The decoder requires a title.
    fields.retain(|name, _| name == "title" || !Part::of_field(name).is_some_and(is_taken));
    let placed = match source.series {
        Some(series) => import_memberships::placed(context.db, series, source.edits, occurrence)?,
        None => None,
    };
    let (date_slug, schedule) = match placed {
        Some(Placed { slug, schedule }) => (Some(slug), schedule),
        None => (slug_of_date(source.parent, occurrence), None),
    };
    let categories = import_links::categories(context.db, source.subscriber, details)?;
    let has_image = details.image.is_some();
    let taken = source.edits.map(|edits| Box::new(edits.fields(has_image, is_private)));
    let decoded = decode(context, source.user, Params::from_json(fields.into()), None)?;
    let change = EventChange {
        external_id: Some(occurrence.external_id.clone()),
        parent: source.parent,
        date_slug,
        categories: Some(categories).filter(|_| !is_taken(Part::Categories)),
        schedule: schedule.unwrap_or_else(|| decoded.schedule.clone()),
        taken,
        ..decoded
    };
    let event = event_writes::create_in(context, source.user, &change)?;
    let noted = Imported {
        is_private,
        is_cancelled: occurrence.is_cancelled,
        is_postponed: details.is_postponed && !occurrence.is_cancelled,
        is_created: true,
        ..Imported::default()
    };
    imported::replace(context.db, event.id, noted)?;
    if let Some(own) = source.revision {
        own.note_new(context.db, event.id)?;
    }
    Ok((Some(event.id), Outcome::Created))
}

/// Returns the slug for an occurrence that is a separate entry in its file. The slug includes the
/// date, since it would otherwise be the same as the series' slug.
fn slug_of_date(parent: Option<i64>, occurrence: &Occurrence) -> Option<String> {
    let is_date = parent.is_none() && Entry::is_occurrence_id(&occurrence.external_id);
    let name = slug::name_of_series(&occurrence.details.title);
    let date = occurrence.start.wall().date();
    (is_date && !name.is_empty()).then(|| format!("{name}{}{date}", slug::SEPARATOR))
}

/// Updates the fields that differ from the feed's rendering of the event. If `is_removed` is set,
/// the status is kept, and no venues, organizers or categories are created. A cancellation only
/// updates the fields that it has, and not the event's place in its series.
fn update(
    context: &mut RequestContext<'_>,
    source: Source<'_>,
    occurrence: &Occurrence,
    (stored, is_removed): (Stored, bool),
) -> Result<(Option<i64>, Outcome), Undone> {
    let Stored { event, links: before, included, shown } = stored;
    let details = &*occurrence.details;
    // The first event in a series can't be its own parent. Our own feeds don't contain parents, and
    // if the first event was erased, the other events don't have one.
    let keeps_parent = source.own.is_author || occurrence.is_cancelled;
    let parent = source.parent.filter(|id| *id != event.id && !keeps_parent);
    let has = |part: Part| has_part(occurrence, &event, part);
    let held = match source.subscriber {
        Some(subscriber) => subscriber.changed_parts(context.db, event.id)?,
        None => Parts::default(),
    };
    let mut fields = occurrence.fields(shown.as_ref());
    let is_author = source.own.is_author;
    if !occurrence.is_cancelled
        && let Some(occurring) = occurring_after(context.db, is_author, (event.id, details))?
    {
        fields.insert("event_status".to_owned(), json!(occurring.name()));
    }
    let old = shown.as_ref().map(|shown| &*shown.details);
    if !has_venue(source.subscriber, details, (old, &before))
        && let Some(venue) = venue(context.db, source.subscriber, (details, !is_removed))?
    {
        fields.insert("venue".to_owned(), venue);
    }
    if old.is_none_or(|old| old.organizer_name() != details.organizer_name())
        && let Some(organizer) = organizer(context.db, details, !is_removed)?
    {
        fields.insert("organizer".to_owned(), organizer);
    }
    let slug = event.slug.strip_suffix(slug::TRASHED).filter(|_| event.status.is_trashed());
    let own_page = source.own.urls.event_page(slug.unwrap_or(&event.slug));
    let is_website = |url: &String| *url != own_page && *url != event.website;
    // In our own files, the URL is the event's own page.
    if !source.own.is_author && details.url.as_ref().is_some_and(is_website) {
        fields.insert("website".to_owned(), json!(details.url));
    }
    let is_kept = |part: Part| held.has(part) || !has(part);
    fields.retain(|name, _| Part::of_field(name).is_none_or(|part| !is_kept(part)));
    let status = match has(Part::Status) {
        _ if is_removed => None,
        true => status_after(context.db, &event, (details.is_private, &held))?,
        // The file has the event again, so it returns with the status that a user chose.
        false if held.has(Part::Status) && event.status.is_trashed() => {
            Some(status_outside_trash(&event))
        }
        false => None,
    };
    if let Some(status) = status {
        fields.insert("status".to_owned(), json!(status.as_str()));
    }
    let same_terms = is_removed
        || has_categories(source.subscriber, details, (old, &before))
        || is_kept(Part::Categories);
    let joining = match source.series.filter(|_| !is_removed && !occurrence.is_cancelled) {
        Some(series) => {
            import_memberships::slug_on_joining(context.db, series, &event, occurrence)?
        }
        None => None,
    };
    let is_same = fields.is_empty() && same_terms && joining.is_none();
    if is_same && parent.is_none_or(|id| event.parent == Some(id)) {
        return Ok((Some(event.id), Outcome::Unchanged));
    }
    let mut change = decode(context, source.user, Params::from_json(fields.into()), Some(&event))?;
    change.parent = parent;
    change.post.slug = joining;
    if !same_terms {
        let with = (&before, &included);
        let (categories, tags) = terms(context.db, source.subscriber, details, with)?;
        (change.categories, change.tags) = (Some(categories), Some(tags));
    }
    let by_user = source.subscriber.is_none();
    let write = WriteContext { by_user, ..context.write_context(source.user) };
    let new = event_writes::update(context.db, &event, &change, write)?;
    let after = links::of_event(context.db, event.id)?;
    let dated = Event { modified_utc: event.modified_utc, ..new };
    if (&dated, &after) == (&event, &before) {
        return Err(Undone::Unchanged);
    }
    if source.is_older_than(context.db, Some(&event), occurrence)? {
        return Err(Undone::Outdated);
    }
    if let Some(own) = source.revision {
        own.note(context.db, &event, shown.as_ref())?;
    }
    Ok((Some(event.id), Outcome::Updated))
}

fn decode(
    context: &mut RequestContext<'_>,
    user: &User,
    params: Params,
    old: Option<&Event>,
) -> Result<EventChange, Error> {
    let input = EventInput::read(&params, old.is_none());
    context.decode_write(user, input, |input, known, options| input.decode(known, options, old))
}

impl Stored {
    /// Reads an event and, if it is public, renders it as in our feeds.
    fn read(db: &mut Db, source: Source<'_>, event: Event) -> Result<Stored, Error> {
        let (_, included) = included::of_events(db, EventSelector::Id(event.id))?;
        let included = included.readable_by(&None);
        let mut text = String::new();
        let OwnEvents { urls, identity, .. } = source.own;
        let feed = FeedContext { urls, host: urls.host(), calendar: &identity.calendar };
        // Feeds show trashed events without details.
        let mut visible = event.clone();
        visible.set_status(Status::of(Stage::Publish));
        ical::event(&mut text, &visible, &included, feed);
        let component = Reader::new(text.as_bytes()).next_component().ok().flatten();
        let entry = component.and_then(|one| Entry::read(&one, source.entries).ok());
        let shown = entry.and_then(|entry| entry.occurrences.into_iter().next());
        let links = links::of_event(db, event.id)?;
        Ok(Stored { event, links, included, shown })
    }
}
