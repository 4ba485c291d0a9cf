//! Series in feeds. Each series becomes one entry with a recurrence rule, plus an override for each
//! event that differs from the rest.

use std::collections::{BTreeMap, HashMap, HashSet};

use database::{DatabaseError, Db};
use jiff::civil::DateTime;

use super::interrupt::ListInterrupt;
use super::series;
use crate::error::Error;
use crate::ical::{FeedContext, Form, write_event};
use crate::model::event::Event;
use crate::model::included::Included;
use crate::model::list::{EventFilter, Paging};
use crate::model::recurrence::{Rule, with_until};
use crate::model::series::{Plan, Series};
use crate::model::series_fields::DATES;
use crate::model::window::Window;
use crate::model::zone::Zone;
use crate::store::event_index::IndexAccess;
use crate::store::event_list;
use crate::store::events::{self, ZoneSpan};
use crate::store::included::{self, EventSelector};
use crate::store::series as stored;
use crate::store::series_events::{self, Dated};
use crate::store::{series_origins, series_revisions};
use crate::wire::params::Params;

/// Number of events to read at once.
const AT_ONCE: usize = 50;

/// Returns whether a request limits a feed by date. `ends_after` doesn't count, because
/// subscription links only use it to leave out old events, and calendar apps compute a rule's past
/// occurrences anyway.
pub fn is_of_dates(params: &Params) -> bool {
    const DATES: [&str; 7] = [
        "start_date",
        "starts_after",
        "starts_before",
        "end_date",
        "ends_before",
        "include",
        "collapse",
    ];
    DATES.iter().any(|name| params.get(name).is_some())
}

/// A series that a feed shows as one entry with a recurrence rule.
pub struct WholeSeries {
    id: i64,
    /// Ids of the public events that the filter leaves out, in ascending order.
    left_out: Vec<i64>,
}

/// How a feed shows its series.
#[derive(Default)]
pub struct SeriesForms {
    /// Series shown as one entry with a rule.
    pub whole: Vec<WholeSeries>,
    /// Series whose events are shown as separate entries. `None` if the feed is limited by date, so
    /// that this applies to all series.
    single: Option<HashSet<i64>>,
}

impl SeriesForms {
    /// Returns how to show an event that isn't covered by a rule.
    pub fn of_event<'a>(
        &self,
        event: &Event,
        included: &Included,
        earlier: &'a EarlierEvents,
    ) -> Form<'a> {
        let place = included.series.get(&event.id);
        let is_single = match (&self.single, place) {
            (None, _) => true,
            (Some(single), Some(one)) => single.contains(&one.series.id),
            (Some(_), None) => false,
        };
        match (place, earlier.0.get(&event.id)) {
            (Some(one), Some(series)) if is_single => {
                Form::Override(series, one.membership.occurrence)
            }
            _ if event.status.is_trashed() && !is_single => Form::Withdrawn,
            _ => Form::Single,
        }
    }
}

/// Maps events that existed before their series to that series. In files without the rule, such an
/// event keeps its own UID, which the series also uses.
pub struct EarlierEvents(HashMap<i64, Series>);

impl EarlierEvents {
    /// Finds the events in a feed that existed before their series.
    pub fn among(
        db: &mut Db,
        events: &[Event],
        included: &Included,
    ) -> Result<EarlierEvents, DatabaseError> {
        let has_uid = |event: &&Event| {
            included.series.get(&event.id).is_some_and(|one| {
                event.external_id.as_ref() == Some(&one.series.uid) && !one.series.has_new_uid()
            })
        };
        let ids: Vec<i64> = events.iter().filter(has_uid).map(|event| event.id).collect();
        let begun = series_origins::begun_with(db, &ids)?;
        let mut found = HashMap::new();
        for event in events.iter().filter(|event| begun.contains(&event.id)) {
            let Some(one) = included.series.get(&event.id) else { continue };
            let mut series = series_revisions::revised(db, &one.series)?;
            if !series.plan.all_day {
                // The file defines the event's time zone, but not necessarily the series' zone.
                let zone = &event.schedule.zone;
                series.plan.zone = if event.schedule.all_day { Zone::utc() } else { zone.clone() };
            }
            found.insert(event.id, series);
        }
        Ok(EarlierEvents(found))
    }
}

/// Decides how to show each series in a list that isn't limited by date. The decision depends only
/// on which events the filter selects, past or future. If any of them is a typical occurrence, with
/// the series' values in the filtered fields, the feed contains the rule. The series' events are
/// then removed from the list and from the cancelled events that follow it.
pub fn forms(
    db: &mut Db,
    access: IndexAccess<'_>,
    filter: &EventFilter,
    (ids, events): (&mut Vec<i64>, usize),
) -> Result<SeriesForms, ListInterrupt> {
    let mut found: BTreeMap<i64, Vec<i64>> = BTreeMap::new();
    for (event, series) in series_events::ids_of_events(db, ids)? {
        found.entry(series).or_default().push(event);
    }
    let listed: HashSet<i64> = ids.iter().take(events).copied().collect();
    found.retain(|_, events| events.iter().any(|event| listed.contains(event)));
    let (mut whole, mut single, mut in_rules) = (Vec::new(), HashSet::new(), HashSet::new());
    for (id, events) in found {
        match left_out(db, access, filter, id)? {
            Some(left_out) => {
                whole.push(WholeSeries { id, left_out });
                in_rules.extend(events);
                in_rules.extend(former_first(db, id)?);
            }
            None => drop(single.insert(id)),
        }
    }
    ids.retain(|id| !in_rules.contains(id));
    Ok(SeriesForms { whole, single: Some(single) })
}

/// Returns a series' public events, past or future, that the filter leaves out. `None` if the feed
/// must not contain the rule.
fn left_out(
    db: &mut Db,
    access: IndexAccess<'_>,
    filter: &EventFilter,
    id: i64,
) -> Result<Option<Vec<i64>>, ListInterrupt> {
    if !series::template(db, id)?.is_some_and(|template| template.event.is_public()) {
        return Ok(None);
    }
    if filter.parent.is_some() {
        // The first event isn't a child. A rule that excludes it would look as if it was removed.
        return Ok(None);
    }
    let fields = filter.fields();
    if fields.is_empty() {
        return Ok(Some(Vec::new()));
    }
    let mut public = series_events::dated(db, id)?;
    public.retain(|one| one.is_public == 1);
    let of_series = EventFilter {
        window: Window::default(),
        series: Some(id),
        include: None,
        ..filter.clone()
    };
    let all = Paging { page: 1, per_page: i64::try_from(public.len()).unwrap_or(i64::MAX).max(1) };
    let (selected, _) = event_list::page(db, access, &of_series, all)?;
    let selected: HashSet<i64> = selected.into_iter().collect();
    let is_shared = |one: &Dated| !one.changed.split(',').any(|own| fields.contains(&own));
    let is_typical = |one: &Dated| selected.contains(&one.id) && is_shared(one);
    if !public.iter().any(is_typical) {
        return Ok(None);
    }
    let mut left_out: Vec<i64> = public.iter().map(|one| one.id).collect();
    left_out.retain(|id| !selected.contains(id));
    left_out.sort_unstable();
    Ok(Some(left_out))
}

/// Returns the id of a trashed event that has the series UID but no longer belongs to the series.
/// Showing that event as cancelled would cancel the whole series.
fn former_first(db: &mut Db, series: i64) -> Result<Option<i64>, DatabaseError> {
    let Some(Series { uid, .. }) = stored::find(db, series)? else { return Ok(None) };
    let found = events::find_by_external_id(db, &uid)?;
    Ok(found.filter(|event| event.status.is_trashed()).map(|event| event.id))
}

/// Adds the time zones of the series and of events that have their own dates. Such events might be
/// missing from the list because they are over.
pub fn add_zones(
    db: &mut Db,
    series: &[WholeSeries],
    zones: &mut Vec<ZoneSpan>,
) -> Result<(), DatabaseError> {
    for WholeSeries { id, .. } in series {
        let Some(Series { plan, made_until, .. }) = stored::find(db, *id)? else { continue };
        let mut dated = series_events::dated(db, *id)?;
        dated.retain(|one| one.is_public == 1 && one.changed.split(',').any(|own| own == DATES));
        let ids: Vec<i64> = dated.iter().map(|one| one.id).collect();
        let mut spans = events::zones_of(db, &ids)?;
        if !plan.all_day {
            let (first, last) = (plan.first(), made_until.max(plan.first()));
            spans.push(ZoneSpan { zone: plan.zone, first, last });
        }
        for ZoneSpan { zone, first, last } in spans {
            match zones.iter_mut().find(|span| span.zone == zone) {
                Some(span) => {
                    (span.first, span.last) = (span.first.min(first), span.last.max(last));
                }
                None => zones.push(ZoneSpan { zone, first, last }),
            }
        }
    }
    zones.sort_by(|a, b| a.zone.name().cmp(b.zone.name()));
    Ok(())
}

/// Writes a series. Returns the iCalendar text and when any of its events last changed.
pub fn written(
    db: &mut Db,
    feed: FeedContext<'_>,
    WholeSeries { id, left_out }: &WholeSeries,
) -> Result<(String, Option<i64>), Error> {
    let (mut text, id) = (String::new(), *id);
    let Some(mut series) = stored::find(db, id)? else { return Ok((text, None)) };
    let Some((mut template, sources)) = series::template_of(db, id)? else {
        return Ok((text, None));
    };
    let all = series_events::dated(db, id)?;
    let is_shown = |one: &&Dated| one.is_public == 1 && left_out.binary_search(&one.id).is_err();
    // Skip a series that was hidden after the list was read.
    if !template.event.is_public() || !all.iter().any(|one| is_shown(&one)) {
        return Ok((text, None));
    }
    // Include events that the feed doesn't show. Otherwise, the revision would go down when one of
    // them leaves the series.
    series = series_revisions::revised(db, &series)?;
    let modified = series.modified_utc;
    template.event.modified_utc = modified;
    let hidden = all.iter().filter(|one| !is_shown(one));
    let hidden: Vec<String> = hidden.map(|one| series.plan.key(one.occurrence)).collect();
    series.plan.exdates.extend(hidden);
    series.plan.exdates.sort_unstable();
    series.plan.exdates.dedup();
    end_with_events(&mut series, &all);
    end_by_date(&mut series.plan);
    let (_, mut included) = included::of_events(db, EventSelector::Ids(&sources))?;
    let own = template.event.id;
    included.links.insert(own, template.links.clone());
    included.statuses.insert(own, template.status.clone());
    let included = included.readable_by(&None);
    let first = all.iter().find(is_shown).map(|one| one.id);
    let page = page(db, &series, first)?;
    write_event(&mut text, &template.event, &included, feed, Form::Series(&series, &page));
    let is_different = |one: &&Dated| !one.changed.is_empty() || one.has_status == 1;
    let different: Vec<&Dated> = all.iter().filter(is_shown).filter(is_different).collect();
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
    Ok((text, Some(modified)))
}

/// Ends the rule with the last event if the event limit cut off occurrences in the coming months.
/// Otherwise, apps would show occurrences that the site doesn't have.
fn end_with_events(series: &mut Series, all: &[Dated]) {
    let most = usize::try_from(series.most).unwrap_or(usize::MAX);
    let last = all.last().map(|last| last.occurrence);
    if series.due_utc.is_none() || all.len() < most || last != Some(series.made_until) {
        return;
    }
    let plan = &mut series.plan;
    let until = plan.key(series.made_until);
    plan.rule = with_until(&plan.rule, &until);
    plan.rdates.retain(|key| *key <= until);
    plan.exdates.retain(|key| *key <= until);
}

/// Replaces the COUNT of a rule with the last occurrence if its start doesn't match it, because
/// other programs don't count such a start, or if it also has UNTIL, which some programs reject.
fn end_by_date(plan: &mut Plan) {
    let start = plan.start();
    let is_unclear =
        |rule: &Rule| rule.count().is_some() && (rule.until.is_some() || !rule.has(start));
    let rule = plan.parsed().filter(is_unclear);
    let until = plan.ends().unwrap_or(DateTime::MAX);
    let all = rule.and_then(|rule| rule.expand(start, until).ok());
    if let Some(last) = all.as_deref().and_then(<[DateTime]>::last) {
        plan.rule = with_until(&plan.rule, &plan.key(plan.at(*last)));
    }
}

/// Returns the slug for a link to the series. Usually this is the series slug, which leads to the
/// next event. If a later part of a split series uses the same slug, returns the first event's slug
/// instead.
fn page(db: &mut Db, series: &Series, first: Option<i64>) -> Result<String, DatabaseError> {
    if stored::is_last_of_slug(db, series)? {
        return Ok(series.slug.clone());
    }
    let first = match first {
        Some(first) => events::find(db, first)?,
        None => None,
    };
    Ok(first.map_or_else(|| series.slug.clone(), |first| first.slug))
}
