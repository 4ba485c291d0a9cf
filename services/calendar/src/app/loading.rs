//! Loads one line of a load file: creates the resource, unless it already exists.

use database::{DatabaseError, Db};

use super::context::RequestContext;
use super::interrupt::Interrupt;
use super::load_lookup::{find_by_external_id, find_by_slug, find_former_first, find_renamed};
use super::moved_events::MovedEvents;
use super::undone::Undone;
use super::{
    event_writes, linked_writes, series_creation, series_parts, series_plans, series_writes, terms,
};
use crate::error::Error;
use crate::model::change::{EventChange, Publication};
use crate::model::event::{Event, Links};
use crate::model::html;
use crate::model::included::InSeries;
use crate::model::linked::{Kind, Linked};
use crate::model::role::User;
use crate::model::schedule::{Schedule, wall_from_seconds, wall_seconds};
use crate::model::search;
use crate::model::series::Reach;
use crate::model::series_ids::occurrence_of;
use crate::model::slug;
use crate::model::term::Taxonomy;
use crate::model::when::{PointInTime, When};
use crate::store::{events, linked_posts, links, series};
use crate::wire::dates;
use crate::wire::event_input::EventInput;
use crate::wire::linked_input::LinkedInput;
use crate::wire::params::Params;
use crate::wire::term_input::TermInput;

/// Maximum length of an external id, in characters.
const MAX_EXTERNAL_ID: usize = 200;

/// The outcome of loading a line.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Loading {
    Created,
    /// The existing resource was changed.
    Updated,
}

/// Loads a line. With `upsert`, updates the resource if it already exists. Adds a warning for each
/// value that had to be replaced.
///
/// # Errors
/// Returns the reason the line was rolled back.
pub fn load_line(
    context: &mut RequestContext<'_>,
    params: &Params,
    (upsert, moved): (bool, &mut MovedEvents),
    warnings: &mut Vec<String>,
) -> Result<Loading, Undone> {
    let user = context.user()?;
    match params.text("type").unwrap_or_default() {
        "event" => load_event(context, &user, params, (upsert, moved), warnings),
        "venue" => load_linked(context, &user, Kind::Venue, params, upsert),
        "organizer" => load_linked(context, &user, Kind::Organizer, params, upsert),
        "category" => load_term(context, &user, Taxonomy::Category, params, upsert),
        "tag" => load_term(context, &user, Taxonomy::Tag, params, upsert),
        _ => {
            let text = "type must be event, venue, organizer, category or tag";
            Err(Undone::Faulty(text.to_owned()))
        }
    }
}

/// Loads an event. An existing event is looked up by external id, then by slug, then by title and
/// start.
fn load_event(
    context: &mut RequestContext<'_>,
    user: &User,
    params: &Params,
    (upsert, moved): (bool, &mut MovedEvents),
    warnings: &mut Vec<String>,
) -> Result<Loading, Undone> {
    let external_id = external_id(params)?;
    let decode = |context: &mut RequestContext<'_>, old: Option<&Event>| {
        decode_event(context, user, params, external_id.as_deref(), old)
    };
    let planned = |context: &mut RequestContext<'_>| {
        let site = context.site;
        let change = decode(context, None).ok()?;
        event_writes::schedule_of(&site.settings.site_timezone, &change).ok()
    };
    let former = moved.find(external_id.as_deref(), params.text("slug")).cloned();
    let named = match (&former, &external_id, params.text("slug")) {
        (Some(former), ..) => Some(events::find(context.db, former.event())?),
        (None, Some(id), slug) => Some(match find_by_external_id(context.db, id)? {
            None if occurrence_of(id).is_some() => {
                let schedule = planned(context);
                find_renamed(context.db, (id, slug), schedule.as_ref())?
            }
            found => found,
        }),
        (None, None, Some(text)) => {
            let repeats = params.get("recurrence").is_some();
            let slug = slug::lookup_form(text);
            Some(match find_by_slug(context.db, &slug, repeats)? {
                None if repeats => match planned(context) {
                    Some(schedule) => find_former_first(context.db, &slug, &schedule)?,
                    None => None,
                },
                found => found,
            })
        }
        (None, None, None) => None,
    };
    let old = match named {
        Some(found) => found,
        None => {
            let change = decode(context, None)?;
            let site = &context.site.settings.site_timezone;
            let start = event_writes::schedule_of(site, &change)?.start_local;
            let title = change.title.as_deref().unwrap_or_default();
            match events::find_by_title_and_start(context.db, title, start)? {
                Some(old) => Some(old),
                None => {
                    let new = series_creation::create(context, user, &change)?;
                    warn_of_dates(params, &change, &new, warnings);
                    return Ok(Loading::Created);
                }
            }
        }
    };
    let Some(old) = old else {
        check_series(context.db, external_id.as_deref(), upsert)?;
        let change = decode(context, None)?;
        let new = series_creation::create(context, user, &change)?;
        warn_of_dates(params, &change, &new, warnings);
        return Ok(Loading::Created);
    };
    if !upsert {
        return Err(Undone::Unchanged);
    }
    let mut change = decode(context, Some(&old))?;
    keep_seconds(&old, params, &mut change);
    if let Some(former) = former {
        change = former.without_former(&old, change)?;
    }
    let before = links::of_event(context.db, old.id)?;
    let series = series::of_event(context.db, old.id)?;
    let mut others = Vec::new();
    match &series {
        Some(place) => {
            change = from_here_on(&old, place, change)?;
            if changes_dates(&old, place, &change) {
                others = MovedEvents::before(context.db, place.series.id, old.id)?;
            }
        }
        // The other events would be created while the first one stays in the trash.
        None if change.recurrence.is_some()
            && old.status.is_trashed()
            && change.post.status.is_none() =>
        {
            return Err(Undone::Unchanged);
        }
        None => {}
    }
    let new = series_writes::update(context, user, &old, &change)?;
    if series::of_event(context.db, old.id)? != series {
        moved.note(others);
        return Ok(Loading::Updated);
    }
    let after = links::of_event(context.db, old.id)?;
    let outcome = changed((&old, &before), (&new, &after))?;
    warn_of_dates(params, &change, &new, warnings);
    Ok(outcome)
}

/// Fails if the external id is a series UID and the series' first event, which had the same id, was
/// erased.
fn check_series(db: &mut Db, external_id: Option<&str>, upsert: bool) -> Result<(), Undone> {
    let known = match external_id {
        Some(id) => series::find_by_uid(db, id)?,
        None => None,
    };
    match known {
        None => Ok(()),
        Some(_) if !upsert => Err(Undone::Unchanged),
        Some(known) => Err(Undone::Faulty(format!(
            "external_id belongs to series {}, whose first event was erased; change another event \
             of the series",
            known.id
        ))),
    }
}

/// Decodes the line of a new or existing event.
pub fn decode_event(
    context: &mut RequestContext<'_>,
    user: &User,
    params: &Params,
    external_id: Option<&str>,
    old: Option<&Event>,
) -> Result<EventChange, Error> {
    let input = EventInput::read(params, old.is_none());
    let change = context
        .decode_write(user, input, |input, known, options| input.decode(known, options, old))?;
    // A recurrence always applies to the whole series.
    let reach = if change.recurrence.is_some() { Reach::All } else { change.reach };
    let known = old.and_then(|old| old.external_id.clone());
    let external_id = external_id.map(|sent| known.unwrap_or_else(|| sent.to_owned()));
    let mut change = EventChange { external_id, reach, ..change };
    // For a series, exports contain the first event's slug, not the series slug.
    let is_trashed = old.is_some_and(|old| old.status.is_trashed());
    if change.external_id.is_some() && change.recurrence.is_some() && !is_trashed {
        let own = change.post.slug.take_if(|sent| !sent.ends_with(slug::TRASHED));
        change.date_slug = own.map(|own| slug::slugify_dated(&own)).filter(|own| !own.is_empty());
    }
    Ok(change)
}

/// Handles a recurrence that starts with its line's event. If earlier occurrences of the series
/// have been removed, the recurrence is only compared with, and only changes, the remaining ones.
fn from_here_on(old: &Event, place: &InSeries, change: EventChange) -> Result<EventChange, Undone> {
    let (plan, occurrence) = (&place.series.plan, place.membership.occurrence);
    let Some(recurrence) = change.recurrence.as_ref().filter(|_| occurrence != plan.first()) else {
        return Ok(change);
    };
    // During a repeated hour, an unchanged start keeps its instant.
    let new = change.schedule.start.and_then(|_| old.schedule.changed(&change.schedule).ok());
    let is_moved = new.is_some_and(|new| new.start_utc != old.schedule.start_utc);
    let rest = series_parts::from_on(plan, occurrence);
    let is_same = rest.is_some_and(|rest| series_plans::is_recurrence_of(&rest, recurrence));
    Ok(match is_same && !is_moved {
        true => EventChange { recurrence: None, ..change },
        false => EventChange { reach: Reach::Following, ..change },
    })
}

/// Returns whether a line changes the dates of several events in a series.
fn changes_dates(old: &Event, place: &InSeries, change: &EventChange) -> bool {
    let is_moved = || {
        let new = old.schedule.changed(&change.schedule);
        new.is_ok_and(|new| new != old.schedule)
    };
    let recurrence = change.recurrence.as_ref();
    let is_other = |recurrence| !series_plans::is_recurrence_of(&place.series.plan, recurrence);
    change.reach != Reach::This && (recurrence.is_some_and(is_other) || is_moved())
}

/// Restores the seconds of otherwise unchanged dates, because spreadsheets drop them.
fn keep_seconds(old: &Event, params: &Params, change: &mut EventChange) {
    let lacks_seconds =
        |name: &str| params.text(name).is_some_and(|text| text.matches(':').count() < 2);
    let to_minute = |seconds: i64| seconds - seconds.rem_euclid(60);
    let kept = |name: &str, sent: Option<PointInTime>, local: i64| match sent {
        Some(PointInTime::Wall(wall))
            if lacks_seconds(name) && wall_seconds(wall) == to_minute(local) =>
        {
            Some(PointInTime::Wall(wall_from_seconds(local)))
        }
        sent => sent,
    };
    let (schedule, dates) = (&old.schedule, &mut change.schedule);
    dates.start = kept("start_date", dates.start, schedule.start_local);
    dates.end = kept("end_date", dates.end, schedule.end_local);
    if let Some((_, utc)) = change.post.publication.0
        && lacks_seconds("date_utc")
        && params.get("date").is_none()
        && utc == to_minute(old.published_utc)
    {
        change.post.publication = Publication(None);
    }
}

/// Warns if the end is before the start, and about nonexistent days. A load accepts both, as does
/// the API.
pub fn warn_of_dates(
    params: &Params,
    change: &EventChange,
    new: &Event,
    warnings: &mut Vec<String>,
) {
    let Schedule { start_local, end_local, .. } = new.schedule;
    for (name, local) in [("start_date", start_local), ("end_date", end_local)] {
        let text = params.text(name).unwrap_or_default();
        if When::parse(text).is_ok_and(|when| when.is_rolled()) {
            let used = dates::written(local);
            warnings.push(format!("{name} {text} does not exist; {used} was used"));
        }
    }
    if change.schedule.is_backwards(&new.schedule) {
        warnings.push("end_date is before start_date; the event ends at its start".to_owned());
    }
}

fn changed(old: (&Event, &Links), new: (&Event, &Links)) -> Result<Loading, Undone> {
    let dated = Event { modified_utc: old.0.modified_utc, ..new.0.clone() };
    match (&dated, new.1) == old {
        true => Err(Undone::Unchanged),
        false => Ok(Loading::Updated),
    }
}

/// Reads a line's external id.
pub fn external_id(params: &Params) -> Result<Option<String>, Undone> {
    const WRONG: &str =
        "external_id must be a string of 1 to 200 characters without control characters";
    let Some(id) = params.get("external_id") else { return Ok(None) };
    let text = id.as_str().map(str::trim);
    let fits = |text: &&str| {
        (1..=MAX_EXTERNAL_ID).contains(&text.chars().count()) && !text.contains(char::is_control)
    };
    match text.filter(fits) {
        Some(text) => Ok(Some(text.to_owned())),
        None => Err(Undone::Faulty(WRONG.to_owned())),
    }
}

/// Loads a venue or organizer. An existing row is found by slug, or by name if the line has no
/// slug. Rows with different slugs can have the same name.
fn load_linked(
    context: &mut RequestContext<'_>,
    user: &User,
    kind: Kind,
    params: &Params,
    upsert: bool,
) -> Result<Loading, Undone> {
    let slug = params.text("slug").map(slug::slugify).filter(|slug| !slug.is_empty());
    let named = match &slug {
        Some(slug) => linked_posts::find_by_slug(context.db, kind, slug)?,
        None => first_of_name(context, kind, params)?,
    };
    let old = match named {
        Some(old) => old,
        None => {
            let input = LinkedInput::read(params, kind, true);
            let change = context.decode_write(user, input, LinkedInput::decode)?;
            let same = match &slug {
                Some(_) => None,
                None => linked_writes::same_name(context.db, kind, &change, user)?,
            };
            let same = match same {
                None => linked_in_trash(context.db, kind, (slug.as_deref(), params))?,
                found => found,
            };
            let Some(same) = same else {
                let write = context.write_context(user);
                linked_writes::create_apart(context.db, kind, &change, write)?;
                return Ok(Loading::Created);
            };
            same
        }
    };
    if !upsert {
        return Err(Undone::Unchanged);
    }
    let input = LinkedInput::read(params, kind, false);
    let change = context.decode_write(user, input, LinkedInput::decode)?;
    let write = context.write_context(user);
    let before = old.clone();
    let mut new = linked_writes::update(context.db, old, &change, write)?;
    new.modified_utc = before.modified_utc;
    if new == before { Err(Undone::Unchanged) } else { Ok(Loading::Updated) }
}

/// Finds the first row with this name, i.e. the row whose slug is the plain name without a number.
/// The name has to match as well, because a second "Hall" and a "Hall 2" would both get the slug
/// `hall-2`.
fn first_of_name(
    context: &mut RequestContext<'_>,
    kind: Kind,
    params: &Params,
) -> Result<Option<Linked>, DatabaseError> {
    let name = params.text(kind.word()).unwrap_or_default();
    let row = linked_posts::find_by_slug(context.db, kind, &slug::slugify(name))?;
    Ok(row.filter(|row| has_name(row, name)))
}

fn has_name(row: &Linked, name: &str) -> bool {
    let folded = |name: &str| search::fold_name(&html::plain(name));
    folded(&row.name) == folded(name)
}

/// Finds a trashed row by its former slug, or else by its name.
fn linked_in_trash(
    db: &mut Db,
    kind: Kind,
    (slug, params): (Option<&str>, &Params),
) -> Result<Option<Linked>, DatabaseError> {
    let name = params.text(kind.word()).unwrap_or_default();
    let derived = slug::slugify(name);
    let stored = slug::with_suffix(slug.unwrap_or(&derived), slug::TRASHED);
    let row = linked_posts::find_by_slug(db, kind, &stored)?;
    Ok(row.filter(|row| slug.is_some() || has_name(row, name)))
}

/// Loads a term. An existing term is found by name and parent.
fn load_term(
    context: &mut RequestContext<'_>,
    user: &User,
    taxonomy: Taxonomy,
    params: &Params,
    upsert: bool,
) -> Result<Loading, Undone> {
    match terms::create_in(context, taxonomy, params) {
        Ok(_) => Ok(Loading::Created),
        Err(Interrupt::Failed(Error::TermExists(id))) if upsert => {
            let old = terms::TermKey { taxonomy, id }.require(context.db)?;
            let input = TermInput::read(params, taxonomy, false);
            let change =
                context.decode_write(user, input, |input, known, _| input.decode(known))?;
            let new = super::term_writes::update(context.db, old.clone(), &change)?;
            if new == old { Err(Undone::Unchanged) } else { Ok(Loading::Updated) }
        }
        Err(error) => Err(error.into()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn internal_error_is_not_reported_as_a_faulty_line() {
        let failed = Undone::from(Error::Internal("x".to_owned()));
        assert!(matches!(failed, Undone::Failed(Error::Internal(_))), "{failed:?}");
        let faulty = Undone::from(Error::CouldNotCreate(Kind::Venue));
        assert!(matches!(faulty, Undone::Faulty(_)), "{faulty:?}");
    }
}
