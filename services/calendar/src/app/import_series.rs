//! Recurrence rules of imported series.

use std::collections::HashSet;

use database::Db;
use jiff::civil::Date;

use super::own_events::{self, OwnEvents};
use super::series_creation::name_of;
use super::series_names::{free_name, give_slug};
use super::series_parts::{ended_before, occurrences_among};
use super::subscriber::Subscriber;
use crate::error::Error;
use crate::ical::{Entry, Repetition};
use crate::model::event::Event;
use crate::model::recurrence::{Rule, without_end};
use crate::model::series::{Plan, Series};
use crate::model::slug;
use crate::state::State;
use crate::store::series as stored;
use crate::store::{
    events, external_ids, imported, series_due, series_events, series_origins, slugs,
    subscribed_events,
};

const DAY_SECONDS: i64 = 24 * 3600;

/// How long after the start of an import, in seconds, scheduled work creates any remaining events
/// of a series. Until then the import might still be running. Afterwards, we assume it was cut off.
const CUT_OFF_AFTER: i64 = 3600;

/// The stored series to write an entry's events to.
#[derive(Clone, Copy)]
pub struct Written {
    pub id: i64,
    /// True if this import created the series.
    pub is_new: bool,
}

/// Stores an entry's recurrence rule. Returns the stored series that the entry's events belong to,
/// if any.
///
/// Our own feeds don't change a stored rule, because they contain less than the database. Truncated
/// files don't change it either, because the rule might be in the missing part. If users ended a
/// subscribed series, `ended_at` is the key of its last known occurrence. `withdrawn` contains the
/// ids of occurrences that the file cancels without the details to create their events.
pub fn of_entry(
    state: &State,
    db: &mut Db,
    (entry, ended_at, withdrawn): (&Entry, Option<&str>, &HashSet<String>),
    (own, is_partial, subscriber): (OwnEvents<'_>, bool, Option<&Subscriber>),
) -> Result<Option<Written>, Error> {
    if entry.has_unknown_occurrences {
        return Ok(None);
    }
    if own.is_author
        && let Some(known) = stored::find_by_uid(db, &entry.uid)?
    {
        let is_added = overrides_unknown(db, &known, entry)?;
        return Ok(is_added.then_some(Written { id: known.id, is_new: false }));
    }
    match (&entry.replaces, entry.is_series) {
        (Some(_), _) => {
            let known = stored::find_by_uid(db, &entry.uid)?;
            Ok(known.map(|known| Written { id: known.id, is_new: false }))
        }
        (None, true) => {
            let most = state.site.settings.imported_series().most;
            let now = state.clock.unix();
            let due = (!is_partial).then_some(now + CUT_OFF_AFTER);
            let subscription = subscriber.map(Subscriber::id);
            keep(db, (entry, ended_at, withdrawn), (own, subscription, most), (due, now))
        }
        (None, false) => Ok(None),
    }
}

/// Returns whether an entry overrides an occurrence of a stored series that doesn't have an event
/// yet. Someone added such an entry to our own file, for example along with its series.
fn overrides_unknown(db: &mut Db, known: &Series, entry: &Entry) -> Result<bool, Error> {
    let (plan, name) = (&known.plan, entry.replaces.as_deref());
    let Some(key) = name.and_then(|name| Entry::moment_of(&entry.uid, name)) else {
        return Ok(false);
    };
    let moment = plan.moment(key).or_else(|| usual_on_day(plan, key));
    let Some(moment) = moment.filter(|moment| plan.has(*moment)) else { return Ok(false) };
    if plan.exdates.contains(&plan.key(moment)) {
        return Ok(false);
    }
    let members = series_events::members(db, known.id)?;
    Ok(members.iter().all(|one| one.occurrence != moment))
}

/// Returns the moment at the usual time of a series on the day `key`.
fn usual_on_day(plan: &Plan, key: &str) -> Option<i64> {
    let day = Date::strptime("%Y%m%d", key).ok()?;
    Some(plan.at(day.to_datetime(plan.start().time())))
}

/// The warning for an entry in our own files whose rule isn't stored.
pub const OTHER_RULE: &str = "the series has another rule in this calendar, which stays";

/// Returns whether the rule or start of an entry in our own files differs from the stored one. Feeds
/// can replace the end of a rule, so ends only count if both rules have COUNT or both have UNTIL.
pub fn has_other_rule(db: &mut Db, entry: &Entry) -> Result<bool, Error> {
    let Some(Repetition { plan, .. }) = &entry.repetition else { return Ok(false) };
    let Some(Series { plan: known, due_utc, .. }) = stored::find_by_uid(db, &entry.uid)? else {
        return Ok(false);
    };
    let endless = |plan: &Plan| Rule::parse(&without_end(&plan.rule));
    let count = |plan: &Plan| plan.parsed().and_then(|rule| rule.count());
    let is_other_end = match (count(plan), count(&known)) {
        (Some(sent), Some(known)) => sent != known,
        (None, None) if due_utc.is_none() => match (plan.ends(), known.ends()) {
            (Some(sent), Some(known)) => sent != known,
            _ => false,
        },
        _ => false,
    };
    let is_other_start = plan.first() != known.first();
    Ok(is_other_start || is_other_end || endless(plan) != endless(&known))
}

/// Stores the rule of a repeating entry and returns the series. If a single rule can't describe the
/// entry, removes any series stored earlier. Scheduled work creates the remaining events at `due`
/// unless [`note_complete`] is called first.
fn keep(
    db: &mut Db,
    (entry, ended_at, withdrawn): (&Entry, Option<&str>, &HashSet<String>),
    (own, subscription, most): (OwnEvents<'_>, Option<i64>, usize),
    (due, now): (Option<i64>, i64),
) -> Result<Option<Written>, Error> {
    let known = stored::find_by_uid(db, &entry.uid)?;
    let Some(Repetition { plan, made_until, due_utc, .. }) = &entry.repetition else {
        if let Some(known) = known {
            stored::remove(db, known.id)?;
        }
        return Ok(None);
    };
    let mut plan = match ended_at {
        Some(key) => ended_after(plan, key),
        None => plan.clone(),
    };
    let withdrawn = without_events(db, entry, &plan, withdrawn)?;
    plan.exdates.extend(withdrawn);
    plan.exdates = with_removed(db, (&entry.uid, known.as_ref()), &plan, subscription)?;
    let is_planned =
        known.as_ref().is_some_and(|it| it.plan == plan && it.made_until >= *made_until);
    let (made_until, due_utc) = match due {
        Some(due) => (plan.first() - 1, Some(due)),
        None => (*made_until, *due_utc),
    };
    let Some(known) = known else {
        let own = own_events::find(db, own, &entry.uid)?;
        // A separate occurrence of another series has a different external id.
        let own = own.filter(|event| event.external_id.as_ref().is_none_or(|id| *id == entry.uid));
        let title = entry.occurrences.first().map(|one| slug::name_of_series(&one.details.title));
        // An earlier file might have contained the first occurrence as an override, with a title of
        // its own.
        let first = Entry::occurrence_id(&entry.uid, &plan.key(plan.first()));
        let is_named = imported::revision(db, &first)?.is_none();
        let name = own
            .as_ref()
            .filter(|_| is_named)
            .map(name_of)
            .or(title)
            .filter(|name| !name.is_empty());
        let name = name.unwrap_or_else(|| "event".to_owned());
        let new = Series {
            id: 0,
            uid: entry.uid.clone(),
            slug: free_name(db, &name, (0, own.as_ref().map_or(0, |event| event.id)))?,
            plan,
            most: i64::try_from(most).unwrap_or(i64::MAX),
            made_until,
            due_utc,
            sequence: match external_ids::most_revisions(db, &entry.uid)? {
                Some(sequence) => sequence,
                None => imported::first_sequence(db)?,
            },
            modified_utc: 0,
        };
        let new = stored::insert(db, &new)?;
        slugs::forget_former(db, "events", &new.slug)?;
        if let Some(own) = own {
            begin_with(db, &new, (entry, own), now)?;
        }
        return Ok(Some(Written { id: new.id, is_new: true }));
    };
    let sequence = match plan == known.plan {
        true => known.sequence,
        false => stored::sequence(db, &known)? + 1,
    };
    if !is_planned {
        stored::update(db, &Series { plan, made_until, due_utc, sequence, ..known.clone() })?;
    }
    Ok(Some(Written { id: known.id, is_new: false }))
}

/// Starts a series from an existing event, which passes its UID on to the series. If both have the
/// same slug, appends the date to the event's slug, so that the event's old URL now leads to the
/// series.
fn begin_with(
    db: &mut Db,
    series: &Series,
    (entry, mut own): (&Entry, Event),
    now: i64,
) -> Result<(), Error> {
    series_origins::begin(db, series.id, own.id)?;
    if own.external_id.is_none() {
        external_ids::rename(db, own.id, &series.uid)?;
        own.external_id = Some(series.uid.clone());
    }
    let stem = own.slug.strip_suffix(slug::TRASHED).unwrap_or(&own.slug);
    if stem != series.slug {
        return Ok(());
    }
    // The file might exclude the first occurrence.
    let first = entry.occurrences.iter().find(|one| one.external_id == entry.uid);
    let moment = first.map_or_else(|| series.plan.first(), |first| first.original.seconds());
    let wanted = series.slug_of(moment);
    // An unlisted event has no series page that could take over its URL.
    Ok(give_slug(db, &own, (&wanted, !own.listed), now)?)
}

/// Records that all events of an imported series have been created, or that the remaining ones
/// can't be created.
pub fn note_complete(db: &mut Db, id: Option<i64>, entry: &Entry) -> Result<(), Error> {
    let (Some(id), Some(Repetition { made_until, due_utc, .. })) = (id, &entry.repetition) else {
        return Ok(());
    };
    match stored::find(db, id)? {
        Some(series) if series.made_until < *made_until => {
            Ok(series_due::note_made(db, id, (*made_until, *due_utc))?)
        }
        _ => Ok(()),
    }
}

/// Ends a recurrence after the occurrence with this key, or after the first one if `key` is empty.
fn ended_after(plan: &Plan, key: &str) -> Plan {
    let last = if key.is_empty() { Some(plan.first()) } else { plan.moment(key) };
    let next = last.map(|last| if plan.all_day { last + DAY_SECONDS } else { last + 1 });
    next.map_or_else(|| plan.clone(), |next| ended_before(plan, next))
}

/// Returns the dates of occurrences in `withdrawn` that don't have an event. Feeds would show these
/// occurrences as part of the rule.
fn without_events(
    db: &mut Db,
    entry: &Entry,
    plan: &Plan,
    withdrawn: &HashSet<String>,
) -> Result<Vec<String>, Error> {
    let mut dates = Vec::new();
    for occurrence in &entry.occurrences {
        if entry.overridden_as(occurrence, withdrawn).is_some()
            && events::find_by_external_id(db, &occurrence.external_id)?.is_none()
        {
            dates.push(plan.key(occurrence.original.seconds()));
        }
    }
    Ok(dates)
}

/// Returns the file's excluded dates, plus the dates of trashed events and of events that users
/// erased. If users have erased all events, the stored series is empty or has been removed.
fn with_removed(
    db: &mut Db,
    (uid, known): (&str, Option<&Series>),
    plan: &Plan,
    subscription: Option<i64>,
) -> Result<Vec<String>, Error> {
    let mut excluded = plan.exdates.clone();
    let members = match known {
        Some(known) => series_events::dated(db, known.id)?,
        None => Vec::new(),
    };
    if known.is_some_and(|known| known.plan.all_day == plan.all_day) {
        let trashed = members.iter().filter(|one| one.is_trashed());
        excluded.extend(trashed.map(|one| plan.key(one.occurrence)));
    }
    let subscription = match (subscription, known) {
        (None, Some(known)) => subscribed_events::of_series(db, known.id)?,
        (subscription, _) => subscription,
    };
    if let Some(subscription) = subscription {
        let present: HashSet<i64> = members.iter().map(|one| one.occurrence).collect();
        let moment = |name: &String| match Entry::moment_of(uid, name) {
            Some(key) => plan.moment(key),
            None => Some(plan.first()).filter(|_| *name == uid),
        };
        let names = subscribed_events::erased_by_users(db, subscription)?;
        let mut erased: Vec<i64> = names.iter().filter_map(moment).collect();
        erased.retain(|at| !present.contains(at));
        excluded.extend(occurrences_among(plan, &erased).into_iter().map(|at| plan.key(at)));
    }
    excluded.sort_unstable();
    excluded.dedup();
    Ok(excluded)
}

/// Removes the stored rule of an entry that no longer repeats. A rule that didn't come from a file
/// is kept, because a user must have turned the event into a series. Returns whether imports
/// created the events of the removed rule.
pub fn forget(db: &mut Db, entry: &Entry) -> Result<bool, Error> {
    let Some(known) = stored::find_by_uid(db, &entry.uid)? else { return Ok(false) };
    let was_in_file = match events::find_by_external_id(db, &entry.uid)? {
        Some(first) => imported::find(db, first.id)?.moment.is_some(),
        None => true,
    };
    if !was_in_file {
        return Ok(false);
    }
    let is_imported = match series_events::members(db, known.id)?.last() {
        Some(last) => imported::is_from_file(db, last.event)?,
        None => false,
    };
    stored::remove(db, known.id)?;
    Ok(is_imported)
}
