//! Events in series: determines which fields they share, and creates missing events.

use database::{DatabaseError, Db};
use jiff::Timestamp;

use super::event_writes;
use super::series_dates::{Moved, schedule, span_in, times};
use super::subscribed_series::FileNames;
use crate::ical::{self, Expansion};
use crate::model::event::Event;
use crate::model::included::InSeries;
use crate::model::schedule::Schedule;
use crate::model::series::{Membership, Series, SeriesLimits};
use crate::model::series_fields::{DATES, FIELDS, STATUS, Shared};
use crate::model::slug::TRASHED;
use crate::model::status::{Stage, Status};
use crate::state::Site;
use crate::store::{event_statuses, events, external_ids, links, series, series_events, slugs};

/// Number of events to read at once when looking for shared fields.
const AT_ONCE: usize = 20;

/// Fields other than text and links. If every event has its own value for such a field, the
/// template uses the last event's value.
const WITHOUT_TEXT: [&str; 5] = [STATUS, "author", DATES, "hide_from_listings", "password"];

/// Reads the event `id` with all fields that a series can share.
pub fn shared(db: &mut Db, id: i64) -> Result<Option<Shared>, DatabaseError> {
    let Some(event) = events::find(db, id)? else { return Ok(None) };
    let (links, status) = (links::of_event(db, id)?, event_statuses::of_event(db, id)?);
    Ok(Some(Shared { event, links, status }))
}

/// Builds the template of `series`. Each field comes from the last event that doesn't have its own
/// value for it. Text is only taken from events visible to everyone who can see the template, even
/// if all of these have their own values. `None` if the series has no events.
pub fn template(db: &mut Db, series: i64) -> Result<Option<Shared>, DatabaseError> {
    Ok(template_of(db, series)?.map(|(template, _)| template))
}

/// Like [`template`], but also returns the ids of the events that the values came from.
pub fn template_of(db: &mut Db, series: i64) -> Result<Option<(Shared, Vec<i64>)>, DatabaseError> {
    let members = series_events::members(db, series)?;
    template_among(db, series, &members)
}

/// Like [`template_of`], but only takes values from `members`.
pub fn template_among(
    db: &mut Db,
    series: i64,
    members: &[Membership],
) -> Result<Option<(Shared, Vec<i64>)>, DatabaseError> {
    let mut missing: Vec<&str> = FIELDS.to_vec();
    let (mut found, mut sources): (Option<Shared>, Vec<i64>) = (None, Vec::new());
    let mut taken: Vec<(&str, Audience)> = Vec::new();
    for chunk in members.rchunks(AT_ONCE) {
        for member in chunk.iter().rev() {
            let is_own = |field: &&str| member.changed.iter().any(|one| one == field);
            if missing.iter().all(is_own) && found.is_some() {
                continue;
            }
            let Some(other) = shared(db, member.event)? else { continue };
            sources.push(other.event.id);
            let base = found.get_or_insert_with(|| other.clone());
            let is_trashed = other.event.status.is_trashed();
            missing.retain(|field| {
                if is_own(field) || (*field == STATUS && is_trashed) {
                    return true;
                }
                match *field {
                    DATES => base.event.schedule.zone = other.event.schedule.zone.clone(),
                    field => base.take(field, &other),
                }
                taken.push((*field, Audience::of(&other.event)));
                false
            });
        }
        if missing.is_empty() {
            break;
        }
    }
    let Some(mut template) = found else { return Ok(None) };
    if template.event.status.is_trashed() {
        let previous = template.event.previous.take();
        template.event.status = previous.unwrap_or_else(|| Status::of(Stage::Publish));
    }
    let audience = Audience::of(&template.event);
    let hidden = taken.iter().filter(|(_, source)| !source.includes(&audience));
    missing.extend(hidden.map(|(field, _)| *field));
    missing.retain(|field| !WITHOUT_TEXT.contains(field));
    for field in missing {
        let shared = last_visible(db, members, &audience, Some(field))?;
        let source = match shared {
            Some(source) => Some(source),
            None => last_visible(db, members, &audience, None)?,
        };
        let source = match source {
            Some(source) => source,
            None => {
                let name = series::find(db, series)?.map(|series| series.slug);
                template.without_texts(name.unwrap_or_default())
            }
        };
        sources.extend(Some(source.event.id).filter(|id| *id > 0));
        template.take(field, &source);
    }
    Ok(Some((template, sources)))
}

/// The fields that decide who can see an event.
#[derive(PartialEq)]
pub struct Audience {
    is_public: bool,
    status: Status,
    listed: bool,
    password: Option<String>,
}

impl Audience {
    pub fn of(event: &Event) -> Audience {
        Audience {
            is_public: event.is_public(),
            status: event.status.clone(),
            listed: event.listed,
            password: event.password.clone(),
        }
    }

    /// Returns whether everyone who can see an event with audience `other` can see this one too.
    fn includes(&self, other: &Audience) -> bool {
        (self.is_public && self.password.is_none()) || self == other
    }
}

/// Finds the last event in a series that everyone who can see the template can also see. If `field`
/// is given, skips events that have their own value for it.
pub fn last_visible(
    db: &mut Db,
    members: &[Membership],
    template: &Audience,
    field: Option<&str>,
) -> Result<Option<Shared>, DatabaseError> {
    let shares = |member: &&Membership| {
        field.is_none_or(|field| !member.changed.iter().any(|one| one == field))
    };
    let members: Vec<i64> = members.iter().filter(shares).map(|member| member.event).collect();
    for ids in members.rchunks(AT_ONCE) {
        let found = events::by_ids(db, ids)?;
        let is_visible = |event: &Event| Audience::of(event).includes(template);
        if let Some(found) = found.into_iter().rev().find(is_visible) {
            return shared(db, found.id);
        }
    }
    Ok(None)
}

/// Expands a series into occurrences.
pub fn expand(site: &Site, series: &Series, now: Timestamp) -> Option<Expansion> {
    let limits = site.settings.series_limits();
    let limits = SeriesLimits { most: usize::try_from(series.most).unwrap_or(0), ..limits };
    ical::expand(series, (&site.settings.site_timezone, now), limits)
}

/// The values for events that are being added to a series.
pub struct NewEvents<'a> {
    /// The fields that they share with the other events.
    pub template: &'a Shared,
    /// How far users have shifted the events from the scheduled times in a file. `None` if they
    /// haven't.
    pub moved: Option<&'a Moved>,
    /// The format of their external ids, if it differs from the series' format.
    pub names: Option<FileNames>,
}

/// Creates the missing events for occurrences after `after`. Returns the number of events created.
pub fn make_missing(
    db: &mut Db,
    series: &Series,
    new_events: &NewEvents<'_>,
    expansion: &Expansion,
    (after, now): (i64, i64),
) -> Result<usize, DatabaseError> {
    let template = new_events.template;
    let members = series_events::members(db, series.id)?;
    let first = members.iter().find(|one| one.occurrence == series.plan.first());
    let parent = first.map(|first| first.event);
    let known: Vec<i64> = members.iter().map(|member| member.occurrence).collect();
    let zone = &template.event.schedule.zone;
    let mut made = 0;
    for (moment, start, end) in &expansion.occurrences {
        if *moment <= after || known.binary_search(moment).is_ok() {
            continue;
        }
        let place = |event: i64, changed: Vec<String>| Membership {
            event,
            series: series.id,
            occurrence: *moment,
            changed,
        };
        let Some(planned) = schedule(zone, start, end) else { continue };
        let name = match &new_events.names {
            Some(names) => names.name(series, *moment),
            None => series.external_id(*moment),
        };
        let other = named(db, series, (&name, *moment))?;
        let other_place = match &other {
            Some(other) => series::of_event(db, other.id)?,
            None => None,
        };
        let external_id = match (other, other_place) {
            (None, _) => Some(name),
            // A moved event has this external id from a file.
            (Some(_), Some(place)) if place.series.id == series.id => None,
            (Some(_), Some(_)) => continue,
            // An event that left the series, and might be in the trash, still has this external id.
            (Some(event), None) => {
                external_ids::rename(db, event.id, &name)?;
                made += usize::from(event.status.is_trashed());
                let changed = bring_back(db, event.id, (template, &planned, parent), now)?;
                series_events::join(db, &place(event.id, changed))?;
                continue;
            }
        };
        let moved = new_events.moved.and_then(|moved| moved.place(series, *moment));
        let (schedule, slug, changed) = match moved {
            Some((schedule, slug)) => {
                let is_own = times(&schedule) != times(&planned);
                (schedule, slug, is_own.then(|| DATES.to_owned()).into_iter().collect())
            }
            None => (planned, series.slug_of(*moment), Vec::new()),
        };
        let mut new = template.clone();
        let event = &mut new.event;
        event.id = events::allocate(db)?;
        let suffix = if event.status.is_trashed() { TRASHED } else { "" };
        event.slug = slugs::free(db, "events", &slug, suffix, event.id)?;
        slugs::forget_former(db, "events", &event.slug)?;
        (event.schedule, event.external_id, event.parent) = (schedule, external_id, parent);
        (event.modified_utc, event.previous) = (now, None);
        // An erased event might already have used revisions of this external id.
        event.sequence = series.sequence;
        events::insert(db, &new.event, &new.links)?;
        event_statuses::replace(db, new.event.id, &new.status)?;
        series_events::join(db, &place(new.event.id, changed))?;
        made += 1;
    }
    Ok(made)
}

/// Finds the event with an occurrence's external id. If the series used to start earlier, the event
/// might still have its id from that time.
fn named(
    db: &mut Db,
    series: &Series,
    (name, occurrence): (&str, i64),
) -> Result<Option<Event>, DatabaseError> {
    let found = events::find_by_external_id(db, name)?;
    let former = series.former_id(occurrence).filter(|_| found.is_none());
    let Some(former) = former else { return Ok(found) };
    let Some(event) = events::find_by_external_id(db, &former)? else { return Ok(None) };
    Ok(series::of_event(db, event.id)?.is_none().then_some(event))
}

/// Returns an event to its series, restoring it if it is in the trash. The event keeps its values.
/// Returns the fields in which it differs from the series.
fn bring_back(
    db: &mut Db,
    id: i64,
    (template, expected, parent): (&Shared, &Schedule, Option<i64>),
    now: i64,
) -> Result<Vec<String>, DatabaseError> {
    let Some(old) = shared(db, id)? else { return Ok(Vec::new()) };
    let mut new = old.clone();
    if old.event.status.is_trashed() {
        event_writes::untrash(db, &mut new.event)?;
        (new.event.parent, new.event.modified_utc) = (parent, now);
        new.event.sequence += 1;
        events::update(db, (&old.event, &old.links), (&new.event, &new.links))?;
    }
    let mut fields = template.differing(&new);
    fields.retain(|field| *field != DATES);
    if times(&new.event.schedule) != times(expected) {
        fields.push(DATES);
    }
    Ok(fields.into_iter().map(str::to_owned).collect())
}

/// Records how an event differs from its series after `fields` have been changed for this event
/// only. Fields that match the other events again become shared.
pub fn mark(
    db: &mut Db,
    place: &InSeries,
    (after, fields): (&Shared, &[&'static str]),
) -> Result<(), DatabaseError> {
    let agreeing = agreeing(db, place, (after, fields))?;
    let mut membership = place.membership.clone();
    membership.changed.retain(|own| !agreeing.contains(&own.as_str()));
    for field in fields.iter().filter(|field| !agreeing.contains(field)) {
        if !has_own(&membership, field) {
            membership.changed.push((*field).to_owned());
        }
    }
    series_events::join(db, &membership)
}

fn has_own(member: &Membership, field: &str) -> bool {
    member.changed.iter().any(|own| own == field)
}

/// Returns the members of `fields` that had their own value and now equal the shared one.
fn agreeing(
    db: &mut Db,
    place: &InSeries,
    (after, fields): (&Shared, &[&'static str]),
) -> Result<Vec<&'static str>, DatabaseError> {
    let own = fields.iter().copied().filter(|field| has_own(&place.membership, field));
    let mut own: Vec<&'static str> = own.collect();
    if own.is_empty() {
        return Ok(own);
    }
    let (id, event) = (place.series.id, place.membership.event);
    let members = series_events::members(db, id)?;
    own.retain(|field| members.iter().any(|one| one.event != event && !has_own(one, field)));
    let Some(template) = template(db, id)? else { return Ok(Vec::new()) };
    let others = template.differing(after);
    let zone = &template.event.schedule.zone;
    let planned = span_in(zone, &place.series, place.membership.occurrence);
    let is_planned = planned.is_some_and(|planned| planned == after.event.schedule);
    own.retain(|field| if *field == DATES { is_planned } else { !others.contains(field) });
    Ok(own)
}
