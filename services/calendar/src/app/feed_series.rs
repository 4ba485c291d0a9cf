//! Series in feeds. Each series becomes one entry with a rule, plus one entry for each event that
//! differs.

use std::collections::{BTreeMap, HashSet};

use database::{DatabaseError, Db};

use super::interrupt::ListInterrupt;
use super::series;
use crate::error::Error;
use crate::ical::{FeedContext, Form, write_event};
use crate::model::list::{EventFilter, Paging};
use crate::model::series::Series;
use crate::model::window::Window;
use crate::store::event_index::IndexAccess;
use crate::store::event_list;
use crate::store::events::{self, ZoneSpan};
use crate::store::included::{self, EventSelector};
use crate::store::series as stored;
use crate::store::series::Dated;
use crate::wire::params::Params;

/// Number of events to read at once.
const AT_ONCE: usize = 50;

/// The dates that a request limits a feed to. `ends_after` does not count: subscriptions only use it
/// to leave out old events, and apps know the past dates of a rule anyway.
#[derive(Clone, Copy, Debug)]
pub struct DateLimits {
    any: bool,
    /// Whether late events are left out.
    end: bool,
}

impl DateLimits {
    pub fn of(params: &Params) -> DateLimits {
        // Events that are included by id can have any date.
        let is_given = |name: &&str| params.get(name).is_some() && params.get("include").is_none();
        let end = ["end_date", "starts_before", "ends_before"].iter().any(is_given);
        DateLimits { any: end || ["start_date", "starts_after"].iter().any(is_given), end }
    }
}

/// Finds the series whose public events are all in the list, ignoring dates that the request does
/// not limit. Their events are removed from the list and from the cancelled events after it. Events
/// of other series stay.
pub fn whole(
    db: &mut Db,
    access: IndexAccess<'_>,
    filter: &EventFilter,
    dates: DateLimits,
    (ids, events): (&mut Vec<i64>, usize),
) -> Result<Vec<i64>, ListInterrupt> {
    let mut found: BTreeMap<i64, Vec<i64>> = BTreeMap::new();
    for (event, series) in stored::ids_of_events(db, ids)? {
        found.entry(series).or_default().push(event);
    }
    let listed: HashSet<i64> = ids.iter().take(events).copied().collect();
    found.retain(|_, events| events.iter().any(|event| listed.contains(event)));
    let (mut whole, mut left_out) = (Vec::new(), HashSet::new());
    for (id, events) in found {
        let public = stored::dated(db, id)?.iter().filter(|one| one.is_public == 1).count();
        let is_public = series::template(db, id)?.is_some_and(|one| one.event.is_public());
        let has_all = if dates.any {
            // The rule must not have later dates than the list.
            let is_open =
                dates.end && stored::find(db, id)?.is_some_and(|one| one.due_utc.is_some());
            !is_open && events.iter().filter(|event| listed.contains(event)).count() == public
        } else {
            is_plain(filter) || {
                let window = Window::default();
                let all = EventFilter { window, series: Some(id), ..filter.clone() };
                let nothing = Paging { page: 1, per_page: 0 };
                let (_, total) = event_list::page(db, access, &all, nothing)?;
                usize::try_from(total).is_ok_and(|total| total == public)
            }
        };
        if is_public && has_all {
            whole.push(id);
            left_out.extend(events);
            left_out.extend(former_first(db, id)?);
        }
    }
    ids.retain(|id| !left_out.contains(id));
    Ok(whole)
}

/// Returns the id of a trashed event that has the UID of a series but has left it. Its cancellation
/// would cancel the series.
fn former_first(db: &mut Db, series: i64) -> Result<Option<i64>, DatabaseError> {
    let Some(Series { uid, .. }) = stored::find(db, series)? else { return Ok(None) };
    let found = events::find_by_external_id(db, &uid)?;
    Ok(found.filter(|event| event.status.is_trashed()).map(|event| event.id))
}

/// Returns whether the filter restricts nothing but dates.
fn is_plain(filter: &EventFilter) -> bool {
    filter.words.count() == 0
        && filter.categories.is_none()
        && filter.tags.is_none()
        && filter.venues.is_none()
        && filter.organizers.is_none()
        && filter.featured.is_none()
        && filter.include.is_none()
        && filter.parent.is_none()
        && filter.geo.is_none()
        && filter.collapsed_at.is_none()
}

/// Extends the event time zones with those of the series.
pub fn add_zones(
    db: &mut Db,
    series: &[i64],
    zones: &mut Vec<ZoneSpan>,
) -> Result<(), DatabaseError> {
    for id in series {
        let Some(Series { plan, made_until, .. }) = stored::find(db, *id)? else { continue };
        if plan.all_day {
            continue;
        }
        let (first, last) = (plan.first(), made_until.max(plan.first()));
        match zones.iter_mut().find(|span| span.zone == plan.zone) {
            Some(span) => (span.first, span.last) = (span.first.min(first), span.last.max(last)),
            None => zones.push(ZoneSpan { zone: plan.zone, first, last }),
        }
    }
    zones.sort_by(|a, b| a.zone.name().cmp(b.zone.name()));
    Ok(())
}

/// Writes a series. Returns the iCalendar text, and when any of its events last changed.
pub fn written(
    db: &mut Db,
    feed: FeedContext<'_>,
    id: i64,
) -> Result<(String, Option<i64>), Error> {
    let mut text = String::new();
    let Some(mut series) = stored::find(db, id)? else { return Ok((text, None)) };
    let Some((mut template, sources)) = series::template_of(db, id)? else {
        return Ok((text, None));
    };
    let all = stored::dated(db, id)?;
    // Skip a series that was hidden after the list was read.
    if !template.event.is_public() || all.iter().all(|one| one.is_public == 0) {
        return Ok((text, None));
    }
    series.sequence = stored::sequence(db, &series)?;
    let hidden = all.iter().filter(|one| one.is_public == 0);
    let hidden: Vec<String> = hidden.map(|one| series.plan.key(one.occurrence)).collect();
    series.plan.exdates.extend(hidden);
    series.plan.exdates.sort_unstable();
    series.plan.exdates.dedup();
    let modified = all.iter().map(|one| one.modified_utc).max();
    template.event.modified_utc = modified.unwrap_or(template.event.modified_utc);
    let (_, mut included) = included::of_events(db, EventSelector::Ids(&sources))?;
    let own = template.event.id;
    included.links.insert(own, template.links.clone());
    included.statuses.insert(own, template.status.clone());
    let included = included.readable_by(&None);
    let page = page(db, &series, &all)?;
    write_event(&mut text, &template.event, &included, feed, Form::Series(&series, &page));
    let is_different =
        |one: &&Dated| one.is_public == 1 && (!one.changed.is_empty() || one.has_status == 1);
    let different: Vec<&Dated> = all.iter().filter(is_different).collect();
    for some in different.chunks(AT_ONCE) {
        let ids: Vec<i64> = some.iter().map(|one| one.id).collect();
        let (events, included) = included::of_events(db, EventSelector::Ids(&ids))?;
        let included = included.readable_by(&None);
        for event in events {
            let Some(one) = some.iter().find(|one| one.id == event.id) else { continue };
            let form = Form::Override(&series, one.occurrence);
            write_event(&mut text, &event, &included, feed, form);
        }
    }
    Ok((text, modified))
}

/// Returns the slug of a series' page. A series' name leads to its next event. If a later part of a
/// split series also has this name, returns the slug of the first event's page.
fn page(db: &mut Db, series: &Series, all: &[Dated]) -> Result<String, DatabaseError> {
    if stored::is_last_of_slug(db, series)? {
        return Ok(series.slug.clone());
    }
    let first = match all.iter().find(|one| one.is_public == 1) {
        Some(first) => events::find(db, first.id)?,
        None => None,
    };
    Ok(first.map_or_else(|| series.slug.clone(), |first| first.slug))
}
