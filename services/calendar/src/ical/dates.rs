//! Start times of imported series, from rules and date lists.

use jiff::civil::{Date, DateTime, Time};
use jiff::{Span, Timestamp};

use super::component::Component;
use super::ignored::Warning;
use super::length::Length;
use super::moment::{EntryContext, Moment, is_utc, reading};
use super::property::Property;
use crate::model::recurrence::{Abandoned, Rule, Wanted};
use crate::model::zone::Zone;

/// Maximum number of individually listed dates.
const MAX_DATES: usize = 5000;

/// Length of a date such as `20260131`.
const DAY: usize = 8;

/// When an occurrence starts, and when it ends if the file specifies an end.
#[derive(Clone, Debug)]
pub struct Start {
    pub moment: Moment,
    /// The end, if the file specifies one for this occurrence.
    pub end: Option<Moment>,
}

impl From<Moment> for Start {
    fn from(moment: Moment) -> Start {
        Start { moment, end: None }
    }
}

/// Whether any listed dates of a series were unreadable and therefore skipped.
#[derive(Clone, Copy, Debug, Default)]
pub struct Unread {
    /// Whether an added date was unreadable.
    pub added: bool,
    /// Whether an excluded date was unreadable.
    pub excluded: bool,
}

/// Why a series' start times can't be determined.
pub enum NoStarts {
    /// All occurrences are excluded.
    Excluded,
    /// A rule or date list isn't supported.
    Unsupported(Warning),
}

impl NoStarts {
    pub fn because(property: &Property, why: &str) -> NoStarts {
        let message = format!("{why}; only its first occurrence was imported");
        NoStarts::Unsupported(Warning::about(property, message))
    }
}

/// Shortens a string from a file for use in messages.
pub fn shortened(text: &str) -> String {
    text.chars().filter(|c| !c.is_control()).take(100).collect()
}

/// Returns the day that `moment` denotes in an all-day series. UTC times are converted to the
/// file's zone. Midnight is the exception, because many programs write it when they mean a day.
fn day_of(moment: &Moment, text: &str) -> Date {
    let midnight = reading(text).filter(|wall| wall.time() == Time::midnight());
    midnight.unwrap_or_else(|| moment.wall()).date()
}

/// A series, in the time zone it recurs in.
pub struct Series<'a> {
    pub(super) start: &'a Moment,
    /// The local time in DTSTART as written. Even if clocks skip it on the first day, it applies to
    /// all later occurrences.
    pub(super) wall: DateTime,
    /// The zone's name, if the zone is defined only in the file and its offset varies.
    pub(super) foreign: Option<&'a str>,
    /// Whether the series has more than one rule.
    has_several_rules: bool,
    pub(super) context: EntryContext<'a>,
}

/// When a rule ends (`UNTIL`).
#[derive(Clone, Copy)]
pub enum Until {
    /// A local time.
    Wall(DateTime),
    Instant(Timestamp),
}

impl Until {
    /// Returns a local time at or after the end of the rule.
    pub fn reading(self, zone: &Zone) -> DateTime {
        match self {
            Until::Wall(wall) => wall,
            // A local time can occur twice when clocks are set back, so allow an extra day.
            Until::Instant(at) => {
                let wall = zone.wall(at);
                wall.checked_add(Span::new().days(1)).unwrap_or(wall)
            }
        }
    }
}

impl<'a> Series<'a> {
    /// Reads a series from `component`, whose first occurrence starts at `start`.
    pub fn new(
        component: &'a Component,
        start: &'a Moment,
        context: EntryContext<'a>,
    ) -> Series<'a> {
        let property = component.find("DTSTART");
        let written = property.and_then(|property| reading(&property.value));
        let wall = written.filter(|_| matches!(start, Moment::Time(..)));
        let foreign = property.filter(|property| !is_utc(&property.value));
        let foreign = foreign.and_then(|property| property.parameter("TZID"));
        let is_fixed = matches!(start, Moment::Time(_, zone) if zone.is_fixed());
        let foreign = foreign.filter(|_| is_fixed);
        let has_several_rules = component.rules().nth(1).is_some();
        Series { start, wall: wall.unwrap_or(start.wall()), foreign, has_several_rules, context }
    }

    /// Looks up the series' foreign zone at `wall`. Returns `None` if it doesn't have one or the
    /// file doesn't define it.
    fn foreign_zone(&self, wall: DateTime) -> Option<Zone> {
        self.context.zone(self.foreign?, wall)
    }

    /// Converts a local time to a moment in the series' zone.
    pub fn at(&self, wall: DateTime) -> Moment {
        let zone = self.foreign_zone(wall);
        let at = zone.as_ref().and_then(|zone| zone.instant(wall));
        match (at, zone) {
            (Some(at), Some(zone)) => Moment::Time(at, zone),
            _ => self.start.at(wall),
        }
    }

    /// Returns the end of an occurrence, or `None` if that is out of range.
    pub fn end_of(&self, start: &Moment, length: Length) -> Option<Moment> {
        let (Moment::Time(at, zone), Some(_)) = (start, self.foreign) else {
            return length.end_of(start);
        };
        let instant = |wall| match self.at(wall) {
            Moment::Time(at, _) => Some(at),
            Moment::Day(_) => None,
        };
        let end = length.end_after((*at, zone), instant)?;
        Some(Moment::Time(end, zone.clone()))
    }

    /// Converts a listed date to the same form as the series' start. If the series has times, a day
    /// gets the time of day from DTSTART, and a time keeps its instant.
    pub(super) fn take(&self, moment: Moment) -> Moment {
        match (moment, self.start) {
            (Moment::Time(at, _), Moment::Time(_, zone)) => {
                let foreign = self.foreign_zone(zone.wall(at));
                Moment::Time(at, foreign.unwrap_or_else(|| zone.clone()))
            }
            (moment, Moment::Time(..)) => {
                self.at(moment.wall().date().to_datetime(self.wall.time()))
            }
            (moment, Moment::Day(_)) => Moment::Day(moment.wall().date()),
        }
    }

    /// Returns the start times that a rule adds after the first one.
    pub fn by_rule(
        &self,
        property: &Property,
        zone: &Zone,
        wanted: Wanted,
    ) -> Result<Vec<Moment>, String> {
        // Some programs escape the rule as if it were of type TEXT.
        let text = &*property.value.trim().replace('\\', "");
        let rule = Rule::parse(text).filter(|rule| rule.count() != Some(0));
        let rule = rule.ok_or_else(|| format!("the rule {} is not supported", shortened(text)))?;
        // A single rule counts DTSTART even if DTSTART doesn't match it. If there are several
        // rules, each one only counts its own matches.
        let is_apart = self.has_several_rules && !rule.has(self.wall);
        let rule = match rule.count().filter(|_| is_apart) {
            Some(count) => rule.with_count(Some(count.saturating_add(1))),
            None => rule,
        };
        let until = rule.until.as_deref().map(|text| self.until(text, property)).transpose()?;
        let last = until.map_or(wanted.until, |until| until.reading(zone).min(wanted.until));
        let expanded = rule.expand_near(self.wall, Wanted { until: last, ..wanted });
        let walls = expanded.map_err(|abandoned| {
            let why = match abandoned {
                Abandoned::NoMatch => "does not match any days",
                Abandoned::TooLong => "has too many dates or times",
            };
            format!("the rule {} {why}", shortened(text))
        })?;
        let mut starts: Vec<Moment> = walls.into_iter().skip(1).map(|wall| self.at(wall)).collect();
        if let Some(Until::Instant(last)) = until {
            starts.retain(|moment| moment.seconds() <= last.as_second());
        }
        Ok(starts)
    }

    /// Parses a listed date or time. Without a zone, it is local to the series.
    fn moment(&self, text: &str, property: &Property) -> Result<Moment, String> {
        let moment = Moment::parse(text, property, self.context)?;
        let is_local = property.parameter("TZID").is_none() && !is_utc(text);
        match (&moment, self.start, reading(text)) {
            (Moment::Time(..), Moment::Day(_), _) => Ok(Moment::Day(day_of(&moment, text))),
            (Moment::Time(..), Moment::Time(..), Some(wall)) if is_local => Ok(self.at(wall)),
            _ => Ok(self.take(moment)),
        }
    }

    /// Reads RDATE, which can list periods with their own end as well as plain dates.
    pub fn added(
        &self,
        component: &Component,
        warnings: &mut Vec<Warning>,
        is_faulty: &mut bool,
    ) -> Result<Vec<Start>, NoStarts> {
        let mut backwards = None;
        let added = self.listed(component, "RDATE", (warnings, is_faulty), |text, property| {
            let Some((begin, end)) = text.split_once('/') else {
                return Ok(self.moment(text, property)?.into());
            };
            let moment = self.edge(begin, property)?;
            if matches!(moment, Moment::Day(_)) {
                return Ok(moment.into());
            }
            let end = match end.contains(['P', 'p']) {
                true => self.end_of(&moment, Length::parse("RDATE", end)?),
                false => Some(self.edge(end, property)?),
            };
            let end = end.ok_or("RDATE has a period that is too long")?;
            if end.seconds() < moment.seconds() {
                backwards.get_or_insert(property.line);
            }
            Ok(Start { moment, end: Some(end) })
        })?;
        let message = "an RDATE period ends before it starts; its end was set to its start";
        let warning = |line| Warning { line: Some(line), message: message.to_owned() };
        warnings.extend(backwards.map(warning));
        Ok(added)
    }

    /// Reads the start or end of a period. If the series has times, a plain day means midnight.
    fn edge(&self, text: &str, property: &Property) -> Result<Moment, String> {
        match (self.start, reading(text)) {
            (Moment::Time(..), Some(midnight)) if text.trim().len() == DAY => Ok(self.at(midnight)),
            _ => self.moment(text, property),
        }
    }

    /// Reads the dates from all properties called `name`.
    pub fn dates(
        &self,
        component: &Component,
        name: &str,
        warnings: &mut Vec<Warning>,
        is_faulty: &mut bool,
    ) -> Result<Vec<Moment>, NoStarts> {
        let read = |text: &str, property: &Property| self.moment(text, property);
        self.listed(component, name, (warnings, is_faulty), read)
    }

    /// Reads the values from all properties called `name`. Skips bad values, sets `is_faulty` if
    /// there are any, and adds one warning per property.
    fn listed<T>(
        &self,
        component: &Component,
        name: &str,
        (warnings, is_faulty): (&mut Vec<Warning>, &mut bool),
        mut read: impl FnMut(&str, &Property) -> Result<T, String>,
    ) -> Result<Vec<T>, NoStarts> {
        let mut all = Vec::new();
        for property in component.properties.iter().filter(|one| one.name == name) {
            let mut faulty = None;
            for text in property.value.split(',').map(str::trim).filter(|text| !text.is_empty()) {
                match read(text, property) {
                    Ok(value) => all.push(value),
                    Err(message) => faulty = faulty.or(Some((text, message))),
                }
                if all.len() > MAX_DATES {
                    let why = format!("{name} has more than {MAX_DATES} dates");
                    return Err(NoStarts::because(property, &why));
                }
            }
            if let Some((text, message)) = faulty {
                let message = format!("{message}: {}; it was ignored", shortened(text));
                warnings.push(Warning::about(property, message));
                *is_faulty = true;
            }
        }
        Ok(all)
    }

    /// Parses `UNTIL`.
    pub fn until(&self, text: &str, property: &Property) -> Result<Until, String> {
        let text = text.trim();
        let moment = Moment::parse(text, property, self.context)?;
        Ok(match (moment, self.start) {
            (Moment::Day(day), _) => Until::Wall(day.to_datetime(Time::constant(23, 59, 59, 0))),
            (Moment::Time(at, _), Moment::Time(..)) if is_utc(text) => Until::Instant(at),
            (moment @ Moment::Time(..), Moment::Day(_)) if is_utc(text) => {
                Until::Wall(day_of(&moment, text).to_datetime(Time::midnight()))
            }
            (moment, _) => Until::Wall(reading(text).unwrap_or(moment.wall())),
        })
    }
}
