//! Converts a VEVENT to calendar events.

use std::collections::HashSet;
use std::sync::Arc;

use jiff::civil::Time;
use serde_json::{Map, Value, json};
use sha2::{Digest as _, Sha256};

use super::component::{Component, Method};
use super::dates::{NoStarts, Series, Start, Unread, shortened};
use super::details::Details;
use super::event::OWN_ZONE;
use super::foreign_zones::known;
use super::ignored::{Warning, repeated};
use super::length::{Length, end_of};
use super::moment::{EntryContext, Moment, is_utc, reading};
use super::occurrences::{Repetition, Starts, starts_of};
use super::property::Property;
use super::revision::revision_of;
use crate::model::html;
use crate::model::revision::{Revision, alone};
use crate::model::schedule::{Schedule, wall_seconds};
use crate::model::zone::Zone;

/// The form of a key that only contains a day.
const DAY: &str = "00000000";

/// Maximum UID length in characters.
const LONGEST_UID: usize = 500;

/// An event from a file, with all its occurrences.
#[derive(Clone, Debug)]
pub struct Entry {
    /// The UID. Unique across calendars.
    pub uid: String,
    /// The id of the occurrence this entry overrides, if any.
    pub replaces: Option<String>,
    /// Whether the event has a rule or a date list.
    pub is_series: bool,
    pub is_cancelled: bool,
    /// Whether there is enough information to create the events, even cancelled ones.
    pub is_complete: bool,
    /// Whether `occurrences` might be incomplete because the rule isn't supported or an added date
    /// was unreadable.
    pub has_unknown_occurrences: bool,
    /// Whether `occurrences` might include excluded occurrences because an excluded date was
    /// unreadable.
    pub has_unknown_exclusions: bool,
    /// How the event repeats. `None` if it doesn't, or in a way we can't store.
    pub repetition: Option<Repetition>,
    pub revision: Option<Revision>,
    /// Warnings about values that had to be replaced.
    pub warnings: Vec<Warning>,
    /// The occurrences. There is always at least one, and the first one is the parent of the
    /// others.
    ///
    /// The occurrence at DTSTART has the UID as its id. The other ids also contain the occurrence's
    /// start time, so they don't change when dates are added or excluded.
    pub occurrences: Vec<Occurrence>,
}

/// A single occurrence of an event.
#[derive(Clone, Debug)]
pub struct Occurrence {
    /// The external id, by which later imports find the event.
    pub external_id: String,
    /// The start before any override.
    pub original: Moment,
    pub start: Moment,
    pub end: Moment,
    pub is_cancelled: bool,
    /// Whether the file has the details of the occurrence. A cancellation can omit them, so its
    /// dates and details don't apply to a known event.
    pub is_detailed: bool,
    pub details: Arc<Details>,
}

impl Entry {
    /// Reads the UID.
    ///
    /// # Errors
    /// Returns an error if the UID is too long or contains control characters.
    pub fn uid(component: &Component) -> Result<String, String> {
        let uid = component.text("UID");
        match uid.chars().count() > LONGEST_UID || uid.contains(char::is_control) {
            true => {
                Err(format!("UID has more than {LONGEST_UID} characters, or control characters"))
            }
            false => Ok(uid),
        }
    }

    /// Reads an event from a file.
    ///
    /// # Errors
    /// Returns an error message for the user.
    pub fn read(component: &Component, context: EntryContext<'_>) -> Result<Entry, String> {
        if component.is_cut {
            return Err("is too large, or one of its lines is broken".to_owned());
        }
        // Importing an incomplete entry would clear the missing properties of an existing event.
        if !component.has_end {
            return Err("END:VEVENT is missing, the file is truncated".to_owned());
        }
        if let Method::Other(method) = component.method {
            return Err(format!("METHOD:{method} is not supported; the entry was skipped"));
        }
        let uid = Entry::uid(component)?;
        let own_zone = component.find(OWN_ZONE).and_then(|zone| known(&zone.value));
        let context = EntryContext { calendar: own_zone.as_ref().or(context.calendar), ..context };
        let mut warnings = unknown_zones(component, context);
        let message = "it ends before it starts; its start and end were exchanged";
        let exchanged = |line| Warning { line: Some(line), message: message.to_owned() };
        warnings.extend(component.exchanged.map(exchanged));
        let (start, end) = times(component, context, &mut warnings)?;
        let replaces = Entry::replaced(component, context)?;
        let clock = clock_of(component, &start).unwrap_or_else(|| context.site.clone());
        let shown_in = match &start {
            Moment::Time(_, zone) if *zone != clock => Some(zone),
            _ => None,
        };
        let first = start.clone().in_zone(&clock);
        let mut has_unknown_occurrences = false;
        let mut unread = Unread::default();
        let only = || Starts { starts: vec![Start::from(first.clone())], repetition: None };
        let starts = match &replaces {
            Some(_) => {
                warnings.extend(component.narrowed_range());
                warnings.extend(component.ignored_rule());
                only()
            }
            None => match starts_of(component, &first, context, &mut warnings, &mut unread) {
                Ok(starts) => starts,
                Err(NoStarts::Excluded) => return Err("has no occurrences".to_owned()),
                Err(NoStarts::Unsupported(warning)) => {
                    warnings.push(warning);
                    has_unknown_occurrences = true;
                    only()
                }
            },
        };
        let Starts { starts, repetition } = starts;
        // If some dates are unreadable, extending the series later would create the wrong
        // occurrences.
        let repetition = repetition.filter(|_| !unread.added && !unread.excluded);
        let length = length_of(component, (&start, &end), &clock);
        let repetition = repetition.map(|mut repetition| {
            let (plan, own_end) = (&mut repetition.plan, end.clone().in_zone(&clock).wall());
            let last = match length {
                Length::Clock(length) => plan.start().checked_add(length).unwrap_or(own_end),
                Length::Duration(_) => own_end,
            };
            plan.end_local = wall_seconds(last);
            plan.duration = match length.text() {
                Some(text) if component.find("DTEND").is_none() => text,
                // Clocks were set back during the event.
                _ if plan.end_local < plan.start_local => {
                    format!("PT{}S", (end.seconds() - start.seconds()).max(0))
                }
                _ => String::new(),
            };
            repetition
        });
        warnings.extend(repeated(&component.properties));
        let details = Arc::new(Details::read(component, &mut warnings));
        let is_cancelled = component.is_cancelled();
        // A cancellation can omit the title and times.
        let is_complete = !is_cancelled || component.has_details();
        let series = Series::new(component, &first, context);
        let occurrence = |Start { moment, end: own_end }: Start| {
            let external_id = match &replaces {
                Some(name) => name.clone(),
                None if moment.seconds() == first.seconds() => uid.clone(),
                None => Entry::occurrence_id(&uid, &moment.key()),
            };
            let ends = match own_end {
                Some(end) => end,
                None if moment.seconds() == start.seconds() => end.clone(),
                None => series.end_of(&moment, length).unwrap_or_else(|| moment.clone()),
            };
            let ends = if ends.seconds() < moment.seconds() { moment.clone() } else { ends };
            let (start, end) = match (shown_in, &moment) {
                (Some(zone), _) => (moment.in_zone(zone), ends.in_zone(zone)),
                (None, Moment::Time(_, zone)) => (moment.clone(), ends.in_zone(zone)),
                (None, Moment::Day(_)) => (moment, ends),
            };
            let original = start.clone();
            let details = details.clone();
            let is_detailed = is_complete;
            Occurrence { external_id, original, start, end, is_cancelled, is_detailed, details }
        };
        let occurrences = starts.into_iter().map(occurrence).collect();
        let is_series = component.is_series();
        Ok(Entry {
            uid,
            replaces,
            is_series,
            is_cancelled,
            is_complete,
            has_unknown_occurrences: has_unknown_occurrences || unread.added,
            has_unknown_exclusions: unread.excluded,
            repetition,
            revision: revision_of(component),
            warnings,
            occurrences,
        })
    }

    /// Returns the id of the occurrence that this entry overrides, or `None` if it is not an
    /// override.
    ///
    /// # Errors
    /// Returns an error if the UID or the RECURRENCE-ID is invalid, or the entry overrides a range
    /// of occurrences.
    pub fn replaced(
        component: &Component,
        context: EntryContext<'_>,
    ) -> Result<Option<String>, String> {
        let Some(property) = component.find("RECURRENCE-ID") else { return Ok(None) };
        if let Some(range) = property.parameter("RANGE").filter(|_| !component.is_range()) {
            let range = shortened(range);
            return Err(format!("RANGE={range} is not supported; the occurrences are unchanged"));
        }
        // For all-day occurrences, Exchange writes midnight in the calendar's zone.
        let start = component.find("DTSTART");
        let is_day =
            start.is_some_and(|one| one.is_day(&one.value) || one.value.trim().len() == DAY.len());
        let midnight = reading(&property.value).filter(|wall| wall.time() == Time::midnight());
        let key = match (Moment::read(property, context)?, midnight) {
            (_, Some(midnight)) if is_day => Moment::Day(midnight.date()).key(),
            (moment, _) => moment.key(),
        };
        Ok(Some(Entry::occurrence_id(&Entry::uid(component)?, &key)))
    }

    /// Returns the name under which this entry's revision is recorded. It distinguishes standalone
    /// entries from overrides, because a standalone entry's UID can equal an override's id.
    pub fn revision_name(&self) -> String {
        match &self.replaces {
            Some(name) => name.clone(),
            None if !self.is_series && Entry::is_occurrence_id(&self.uid) => alone(&self.uid),
            None => self.uid.clone(),
        }
    }

    /// Changes the UID of a non-recurring event.
    pub fn rename(&mut self, name: String) {
        for occurrence in &mut self.occurrences {
            occurrence.external_id.clone_from(&name);
        }
        self.uid = name;
    }

    /// Returns the id of the override that replaces `occurrence`, which contains either the start
    /// time or just the day. Returns `None` if `occurrence` isn't overridden.
    pub fn overridden_as(
        &self,
        occurrence: &Occurrence,
        replaced: &HashSet<String>,
    ) -> Option<String> {
        if self.replaces.is_some() || replaced.is_empty() {
            return None;
        }
        let start = &occurrence.original;
        let names = [start.key(), start.day_key()].map(|key| Entry::occurrence_id(&self.uid, &key));
        names.into_iter().find(|name| replaced.contains(name))
    }

    /// Returns whether `external_id` belongs to this event or to one of its occurrences.
    pub fn has_occurrence(&self, external_id: &str) -> bool {
        if external_id == self.uid {
            return true;
        }
        Entry::moment_of(&self.uid, external_id).is_some_and(is_key)
    }

    /// Returns whether `uid` looks like an occurrence id.
    pub fn is_occurrence_id(uid: &str) -> bool {
        uid.rsplit_once('#').is_some_and(|(_, key)| is_key(key))
    }

    /// Returns whether `name` is an occurrence id of `uid` with only a day in its key.
    pub fn is_of_a_day(uid: &str, name: &str) -> bool {
        Entry::moment_of(uid, name).is_some_and(|key| key.len() == DAY.len() && is_key(key))
    }

    /// Converts a key to seconds as in [`Moment::seconds`], or returns `None` if it isn't a valid
    /// key.
    pub fn seconds_of(key: &str) -> Option<i64> {
        reading(key).map(wall_seconds)
    }

    /// Returns a range of keys that covers every time on the local day `day` in any zone.
    pub fn keys_around(day: &str) -> Option<(String, String)> {
        let day = reading(day)?.date();
        let (from, below) = (day.yesterday().ok()?, day.tomorrow().ok()?.tomorrow().ok()?);
        Some((Moment::Day(from).key(), Moment::Day(below).key()))
    }

    /// Builds the id of an occurrence of `uid`, given the key of its original start.
    pub fn occurrence_id(uid: &str, key: &str) -> String {
        format!("{uid}#{key}")
    }

    /// Extracts the key from an occurrence id, i.e. its original start. Returns `None` if `name`
    /// isn't the id of an occurrence of `uid`.
    pub fn moment_of<'a>(uid: &str, name: &'a str) -> Option<&'a str> {
        name.strip_prefix(uid)?.strip_prefix('#')
    }
}

/// Returns whether `text` looks like a [`Moment::key`].
fn is_key(text: &str) -> bool {
    let is_form = |form: &str| {
        let fits = |(c, f): (char, char)| if f == '0' { c.is_ascii_digit() } else { c == f };
        text.len() == form.len() && text.chars().zip(form.chars()).all(fits)
    };
    is_form(DAY) || is_form("00000000T000000Z")
}

/// Returns the duration that all occurrences of an entry have.
pub(super) fn length_of(
    component: &Component,
    (start, end): (&Moment, &Moment),
    clock: &Zone,
) -> Length {
    let duration = component.find("DURATION").and_then(|one| Length::read(one).ok());
    // Other programs reject such a length, so the one of the first occurrence applies to all.
    let duration = duration.filter(|length| length.text().is_some());
    match (component.find("DTEND"), duration, start) {
        (None, Some(duration), Moment::Time(..)) => duration,
        _ => {
            let written = (component.find("DTSTART"), component.find("DTEND"));
            Length::written(written, (start, end), clock)
        }
    }
}

/// Returns the zone in which to apply the rule and measure the duration, or `None` for all-day
/// events. UTC times stay in UTC, even if they are displayed in a different zone.
pub(super) fn clock_of(component: &Component, start: &Moment) -> Option<Zone> {
    let in_utc = component.find("DTSTART").is_some_and(|start| is_utc(&start.value));
    match start {
        Moment::Time(..) if in_utc => Some(Zone::utc()),
        Moment::Time(_, zone) => Some(zone.clone()),
        Moment::Day(_) => None,
    }
}

/// Warns about zones that are neither defined in the file nor otherwise known.
fn unknown_zones(component: &Component, context: EntryContext<'_>) -> Vec<Warning> {
    const DATES: [&str; 5] = ["DTSTART", "DTEND", "RECURRENCE-ID", "EXDATE", "RDATE"];
    let mut names: Vec<(&str, &Property)> = Vec::new();
    for property in component.properties.iter().filter(|one| DATES.contains(&one.name.as_str())) {
        let Some(name) = property.parameter("TZID") else { continue };
        let wall = property.value.get(..15).and_then(reading);
        let is_known =
            is_utc(&property.value) || wall.is_none_or(|wall| context.zone(name, wall).is_some());
        if !is_known && !names.iter().any(|(known, _)| *known == name) {
            names.push((name, property));
        }
    }
    let used = context.floating().name();
    let warning = |(name, property): (&str, &Property)| {
        let name = shortened(name);
        let message = format!("the time zone {name} is unknown; {used} was used instead");
        Warning::about(property, message)
    };
    names.into_iter().map(warning).collect()
}

/// Reads the start and end. Outlook sometimes writes all-day events with times, which are converted
/// to days.
pub(super) fn times(
    component: &Component,
    context: EntryContext<'_>,
    warnings: &mut Vec<Warning>,
) -> Result<(Moment, Moment), String> {
    let start = match (component.find("DTSTART"), component.method) {
        (Some(start), _) => Moment::read(start, context)?,
        // A cancellation can omit DTSTART.
        (None, Method::Cancel) => match component.find("RECURRENCE-ID") {
            Some(replaced) => Moment::read(replaced, context)?,
            None => Moment::Time(context.now, Zone::utc()),
        },
        (None, _) => return Err("DTSTART is missing".to_owned()),
    };
    let own = clock_of(component, &start).map(|clock| start.clone().in_zone(&clock));
    let own = own.as_ref().unwrap_or(&start);
    let written = (component.find("DTEND"), component.find("DURATION"));
    let series = Series::new(component, own, context);
    let after = |length| series.end_of(own, length);
    let skipped = Length::of_skipped((component.find("DTSTART"), written.0), own, context);
    let end = match skipped.and_then(after) {
        Some(end) => end,
        None => end_of(own, written, after, context, warnings),
    };
    let end = match &start {
        Moment::Time(_, zone) => end.in_zone(zone),
        Moment::Day(_) => end,
    };
    let all_day = component.text("X-MICROSOFT-CDO-ALLDAYEVENT").eq_ignore_ascii_case("TRUE");
    let midnight = |moment: &Moment| moment.wall().time() == Time::midnight();
    match (&start, &end) {
        (Moment::Time(..), Moment::Time(..)) if all_day && midnight(&start) && midnight(&end) => {
            let (first, behind) = (start.wall().date(), end.wall().date());
            let last = behind.yesterday().unwrap_or(first).max(first);
            Ok((Moment::Day(first), Moment::Day(last)))
        }
        _ => Ok((start, end)),
    }
}

impl Occurrence {
    /// Returns the fields for a write request, skipping any that are the same in `stored`. The
    /// caller adds references to other resources.
    pub fn fields(&self, stored: Option<&Occurrence>) -> Map<String, Value> {
        let mut fields = Map::new();
        let differs = |same: &dyn Fn(&Occurrence) -> bool| !stored.is_some_and(same);
        if differs(&|old| old.details.title == self.details.title) {
            fields.insert("title".to_owned(), html::escape(&self.details.title).into());
        }
        if differs(&|old| old.details.description == self.details.description) {
            fields.insert("description".to_owned(), self.details.markup.clone().into());
        }
        if differs(&|old| old.start == self.start && old.end == self.end) {
            fields.extend(self.dates());
        }
        fields
    }

    /// Returns a hash of dates, texts, and whether the event is cancelled or private.
    pub fn fingerprint(&self) -> i64 {
        let Details { title, description, location, categories, .. } = &*self.details;
        let (start, end) = (self.start.key(), self.end.key());
        let texts = (title, description, location, categories, self.details.organizer_name());
        let content = (start, end, texts, self.is_cancelled);
        let mut first = [0; 8];
        // Stored fingerprints of public events stay valid.
        let class = if self.details.is_private { "private" } else { "" };
        first.copy_from_slice(&Sha256::digest(format!("{content:?}{class}"))[..8]);
        i64::from_be_bytes(first)
    }

    /// Returns whether a stored event starts at the same time.
    pub fn starts_with(&self, schedule: &Schedule) -> bool {
        match &self.start {
            Moment::Day(_) => schedule.all_day && schedule.start_local == self.start.seconds(),
            Moment::Time(at, _) => schedule.start_utc == at.as_second(),
        }
    }

    fn dates(&self) -> Map<String, Value> {
        let written = |moment: &Moment| match moment {
            Moment::Time(at, _) if !moment.is_clear() => {
                at.strftime("%Y-%m-%dT%H:%M:%SZ").to_string()
            }
            moment => moment.wall().strftime("%Y-%m-%d %H:%M:%S").to_string(),
        };
        let mut dates = Map::new();
        let mut set = |name: &str, value: Value| dates.insert(name.to_owned(), value);
        set("start_date", json!(written(&self.start)));
        set("end_date", json!(written(&self.end)));
        if let Moment::Time(_, zone) = &self.start {
            set("timezone", json!(zone.name()));
        }
        set("all_day", json!(matches!(self.start, Moment::Day(_))));
        dates
    }
}
