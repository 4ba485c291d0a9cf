//! An event of an iCalendar file in the terms of this calendar.

use std::collections::HashSet;
use std::rc::Rc;

use jiff::civil::{DateTime, Time};
use serde_json::{Map, Value, json};

use super::details::Details;
use super::moment::{EntryContext, Moment, end_of};
use super::reader::Component;
use super::repetitions::starts_of;
use crate::model::html;

/// The longest UID, in characters.
const LONGEST_UID: usize = 500;

/// An event of a file, with all the times that it takes place.
#[derive(Clone, Debug)]
pub struct Entry {
    /// Its name in all calendars.
    pub uid: String,
    /// Which of the repetitions of another entry it replaces.
    pub replaces: Option<String>,
    /// A rule or a list of dates says when it takes place.
    pub is_series: bool,
    /// It does not take place.
    pub is_cancelled: bool,
    /// At least one; the first one is the parent of the others.
    pub occurrences: Vec<Occurrence>,
}

/// An event at one time.
#[derive(Clone, Debug)]
pub struct Occurrence {
    /// The name by which it is found again.
    pub external_id: String,
    /// When it begins.
    pub start: Moment,
    /// When it ends.
    pub end: Moment,
    /// All else.
    pub details: Rc<Details>,
}

/// Names a repetition by the entry and the time that it had at first.
fn repetition(uid: &str, key: &str) -> String {
    format!("{uid}#{key}")
}

fn uid_of(component: &Component) -> Result<String, String> {
    let uid = component.text("UID");
    match uid.is_empty() || uid.chars().count() > LONGEST_UID || uid.contains(char::is_control) {
        true => Err(format!("UID must have 1 to {LONGEST_UID} characters")),
        false => Ok(uid),
    }
}

impl Entry {
    /// Reads an event of a file.
    ///
    /// # Errors
    /// What is wrong with it, for people.
    pub fn read(component: &Component, context: EntryContext<'_>) -> Result<Entry, String> {
        if component.is_cut {
            return Err("is too large".to_owned());
        }
        // What of it stood behind would be taken away from an event that is known.
        if !component.has_end {
            return Err("has no END:VEVENT, the file is cut off".to_owned());
        }
        let uid = uid_of(component)?;
        let (start, end) = times(component, context)?;
        let replaces = Entry::replaced(component, context)?;
        let starts = match &replaces {
            Some(_) => vec![start.wall()],
            None => starts_of(component, &start, context)?,
        };
        let length = start.wall().until(end.wall()).unwrap_or_default();
        let details = Rc::new(Details::read(component));
        let zone_name = component.find("DTSTART").and_then(|start| start.parameter("TZID"));
        let occurrence = |(number, wall): (usize, DateTime)| {
            let mut start = start.at(wall);
            // The offset of a zone that only the file describes is that of the day.
            if let (Moment::Time(wall, zone), Some(name)) = (&start, zone_name)
                && zone.is_fixed()
                && let Some(zone) = context.zones.find(name, *wall)
            {
                start = Moment::Time(*wall, zone);
            }
            let external_id = match &replaces {
                Some(name) => name.clone(),
                None if number == 0 => uid.clone(),
                None => repetition(&uid, &start.key()),
            };
            let end = start.at(start.wall().checked_add(length).unwrap_or(wall));
            Occurrence { external_id, start, end, details: details.clone() }
        };
        let occurrences = starts.into_iter().enumerate().map(occurrence).collect();
        let status = component.text("STATUS");
        let is_cancelled = status.eq_ignore_ascii_case("CANCELLED");
        let is_series = component.find("RRULE").or(component.find("RDATE")).is_some();
        Ok(Entry { uid, replaces, is_series, is_cancelled, occurrences })
    }

    /// Names the repetition of another entry that this one replaces.
    pub fn replaced(
        component: &Component,
        context: EntryContext<'_>,
    ) -> Result<Option<String>, String> {
        let Some(property) = component.find("RECURRENCE-ID") else { return Ok(None) };
        let key = Moment::read(property, context)?.key();
        Ok(Some(repetition(&uid_of(component)?, &key)))
    }

    /// Tells whether an entry of its own stands for one of the repetitions.
    pub fn is_replaced(&self, occurrence: &Occurrence, replaced: &HashSet<String>) -> bool {
        let names = |key: String| replaced.contains(&repetition(&self.uid, &key));
        let start = &occurrence.start;
        self.replaces.is_none()
            && !replaced.is_empty()
            && (names(start.key()) || names(start.day_key()))
    }

    /// Tells whether a stored event is a repetition of this one, by its external id.
    pub fn repeats_as(&self, external_id: &str) -> bool {
        external_id.strip_prefix(&self.uid).is_some_and(|rest| rest.starts_with('#'))
    }
}

/// Reads start and end; days of Outlook may be written as times.
fn times(component: &Component, context: EntryContext<'_>) -> Result<(Moment, Moment), String> {
    let start = Moment::read(component.find("DTSTART").ok_or("DTSTART is missing")?, context)?;
    let end = end_of(&start, component.find("DTEND"), component.find("DURATION"), context)?;
    let all_day = component.text("X-MICROSOFT-CDO-ALLDAYEVENT").eq_ignore_ascii_case("TRUE");
    let midnight = |moment: &Moment| moment.wall().time() == Time::midnight();
    match (&start, &end) {
        (Moment::Time(first, _), Moment::Time(behind, _))
            if all_day && midnight(&start) && midnight(&end) =>
        {
            let first = first.date();
            let last = behind.date().yesterday().unwrap_or(first).max(first);
            Ok((Moment::Day(first), Moment::Day(last)))
        }
        _ => Ok((start, end)),
    }
}

impl Occurrence {
    /// Returns the fields of an event write in which it differs from what is stored; those that
    /// name other resources are left to who knows them.
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

    fn dates(&self) -> Map<String, Value> {
        let written = |wall: DateTime| wall.strftime("%Y-%m-%d %H:%M:%S").to_string();
        let mut dates = Map::new();
        let mut set = |name: &str, value: Value| dates.insert(name.to_owned(), value);
        set("start_date", json!(written(self.start.wall())));
        set("end_date", json!(written(self.end.wall())));
        if let Moment::Time(_, zone) = &self.start {
            set("timezone", json!(zone.name()));
        }
        set("all_day", json!(matches!(self.start, Moment::Day(_))));
        dates
    }
}
