//! The occurrences of an imported series.

use jiff::civil::{DateTime, Time};
use jiff::{Span, Timestamp};

use super::ignored::Warning;
use super::length::Length;
use super::moment::{EntryContext, Moment, is_utc, reading};
use super::property::Property;
use super::reader::Component;
use crate::model::recurrence::{Abandoned, Rule, Wanted};
use crate::model::zone::Zone;

/// Maximum number of events created for a series.
const MAX_OCCURRENCES: usize = 500;

/// How far into the future a series is expanded, in months.
const MONTHS_AHEAD: i32 = 24;

/// Maximum number of individually listed dates.
const MAX_DATES: usize = 5000;

/// Number of characters of a day.
const DAY: usize = 8;

/// Maximum number of rules. Each may have thousands of starts.
const MAX_RULES: usize = 20;

/// The start of an occurrence, and its end if the file gives one.
#[derive(Clone, Debug)]
pub struct Start {
    /// The moment at which the occurrence starts.
    pub moment: Moment,
    /// The end, if the file gives one for this occurrence.
    pub end: Option<Moment>,
}

impl From<Moment> for Start {
    fn from(moment: Moment) -> Start {
        Start { moment, end: None }
    }
}

/// Which listed dates of a series were ignored because they cannot be read.
#[derive(Clone, Copy, Debug, Default)]
pub struct Unread {
    /// Whether the series has dates that are not known.
    pub added: bool,
    /// Whether it excludes dates that are not known.
    pub excluded: bool,
}

/// The reason that the starts of a series are not known.
pub enum NoStarts {
    /// All are excluded.
    Excluded,
    /// A rule or list is not supported.
    Unsupported(Warning),
}

impl NoStarts {
    fn because(property: &Property, why: &str) -> NoStarts {
        let message = format!("{why}; only its first occurrence was imported");
        NoStarts::Unsupported(Warning::about(property, message))
    }
}

/// Returns the starts of a series, given its first start in the zone in which it repeats.
pub fn starts_of(
    component: &Component,
    start: &Moment,
    context: EntryContext<'_>,
    warnings: &mut Vec<Warning>,
    unread: &mut Unread,
) -> Result<Vec<Start>, NoStarts> {
    let mut starts = vec![Start::from(start.clone())];
    let rules: Vec<&Property> = component.rules().collect();
    if rules.is_empty() && component.find("RDATE").is_none() {
        return Ok(starts);
    }
    if let Some(excluding) = component.find("EXRULE") {
        return Err(NoStarts::because(excluding, "EXRULE is not supported"));
    }
    if let Some(rule) = rules.get(MAX_RULES) {
        let why = format!("RRULE occurs more than {MAX_RULES} times");
        return Err(NoStarts::because(rule, &why));
    }
    let series = Series::new(component, start, context);
    let zone = match start {
        Moment::Day(_) => context.site,
        Moment::Time(_, zone) => zone,
    };
    let now = zone.wall(context.now);
    let horizon = now.checked_add(Span::new().months(MONTHS_AHEAD));
    let horizon = horizon.unwrap_or(series.wall).max(series.wall);
    let left_out = series.dates(component, "EXDATE", warnings, &mut unread.excluded)?;
    let mut left_out: Vec<i64> = left_out.iter().map(Moment::seconds).collect();
    left_out.sort_unstable();
    // One more for each start that may be excluded, and one to detect that there are too many.
    let (first, latest) = (1 + left_out.len(), MAX_OCCURRENCES + 1 + left_out.len());
    let wanted = Wanted { until: horizon, near: now.date(), first, latest, most: latest };
    for rule in rules {
        let found = series.by_rule(rule, zone, wanted);
        let found = found.map_err(|why| NoStarts::because(rule, &why))?;
        starts.extend(found.into_iter().map(Start::from));
    }
    let mut added = series.added(component, warnings, &mut unread.added)?;
    let is_near = |start: &Start| start.moment.wall() <= horizon;
    let far = added.iter().filter(|start| !is_near(start)).count();
    if let Some(property) = component.find("RDATE").filter(|_| far > 0) {
        let message = format!("{far} dates of RDATE are more than {MONTHS_AHEAD} months ahead");
        warnings.push(Warning::about(property, format!("{message}; they were not imported")));
    }
    added.retain(is_near);
    starts.extend(added);
    starts.retain(is_near);
    // If two starts are equal, the one with its own end is kept.
    starts.sort_by_key(|start| (start.moment.seconds(), start.end.is_none()));
    starts.dedup_by_key(|start| start.moment.seconds());
    starts.retain(|start| left_out.binary_search(&start.moment.seconds()).is_err());
    if starts.is_empty() {
        return Err(NoStarts::Excluded);
    }
    if let Some(rule) = component.rules().next().or(component.find("RDATE"))
        && starts.len() > MAX_OCCURRENCES
    {
        let message = format!(
            "the series has more than {MAX_OCCURRENCES} occurrences; the first and those nearest \
             to today were imported"
        );
        warnings.push(Warning::about(rule, message));
    }
    let today = now.date().to_datetime(Time::midnight());
    keep_nearest(&mut starts, |start| start.moment.wall() < today, MAX_OCCURRENCES);
    Ok(starts)
}

/// Keeps the first start, then the next future ones, then the latest past ones. In an endless daily
/// series, the coming days matter most.
fn keep_nearest<T>(starts: &mut Vec<T>, is_past: impl Fn(&T) -> bool, most: usize) {
    let surplus = starts.len().saturating_sub(most);
    let past = starts.iter().skip(1).take_while(|at| is_past(at)).count();
    starts.drain(1..1 + surplus.min(past));
    starts.truncate(most);
}

/// Returns the beginning of a string from a file, for use in messages.
pub fn shortened(text: &str) -> String {
    text.chars().filter(|c| !c.is_control()).take(100).collect()
}

/// A series in the zone in which it recurs.
struct Series<'a> {
    start: &'a Moment,
    /// The start as written. If this local time is skipped on the first day, it still applies to
    /// the other days.
    wall: DateTime,
    /// The name of a zone that only the file describes and whose offset varies.
    foreign: Option<&'a str>,
    context: EntryContext<'a>,
}

/// The end of a rule (`UNTIL`).
#[derive(Clone, Copy)]
enum Until {
    /// A local time.
    Wall(DateTime),
    Instant(Timestamp),
}

impl Until {
    /// Returns a local time that is not before the end of the rule.
    fn reading(self, zone: &Zone) -> DateTime {
        match self {
            Until::Wall(wall) => wall,
            // After a clock was set back, the same local times occur again.
            Until::Instant(at) => {
                let wall = zone.wall(at);
                wall.checked_add(Span::new().days(1)).unwrap_or(wall)
            }
        }
    }
}

impl<'a> Series<'a> {
    fn new(component: &'a Component, start: &'a Moment, context: EntryContext<'a>) -> Series<'a> {
        let property = component.find("DTSTART");
        let written = property.and_then(|property| reading(&property.value));
        let wall = written.filter(|_| matches!(start, Moment::Time(..)));
        let foreign = property.filter(|property| !is_utc(&property.value));
        let foreign = foreign.and_then(|property| property.parameter("TZID"));
        let is_fixed = matches!(start, Moment::Time(_, zone) if zone.is_fixed());
        let foreign = foreign.filter(|_| is_fixed);
        Series { start, wall: wall.unwrap_or(start.wall()), foreign, context }
    }

    /// Returns the zone that the foreign name denotes at a local time, or `None` if there is no
    /// such name or zone.
    fn foreign_zone(&self, wall: DateTime) -> Option<Zone> {
        self.context.zones.find(self.foreign?, wall)
    }

    /// Converts a local time to a time of the series.
    fn at(&self, wall: DateTime) -> Moment {
        let zone = self.foreign_zone(wall);
        let at = zone.as_ref().and_then(|zone| zone.instant(wall));
        match (at, zone) {
            (Some(at), Some(zone)) => Moment::Time(at, zone),
            _ => self.start.at(wall),
        }
    }

    /// Converts a listed date to the series: a day gets the time of the series, a time keeps its
    /// instant.
    fn take(&self, moment: Moment) -> Moment {
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

    /// Returns the starts that a rule adds after the first one.
    fn by_rule(
        &self,
        property: &Property,
        zone: &Zone,
        wanted: Wanted,
    ) -> Result<Vec<Moment>, String> {
        // Some programs escape the value as if it were a string.
        let text = &*property.value.trim().replace('\\', "");
        let rule = Rule::parse(text);
        let rule = rule.ok_or_else(|| format!("the rule {} is not supported", shortened(text)))?;
        let until = rule.until.as_deref().map(|text| self.until(text, property)).transpose()?;
        let last = until.map_or(wanted.until, |until| until.reading(zone).min(wanted.until));
        let expanded = rule.expand_near(self.wall, Wanted { until: last, ..wanted });
        let walls = expanded.map_err(|abandoned| {
            let why = match abandoned {
                Abandoned::NoMatch => "matches no days",
                Abandoned::TooLong => "has too many days or moments",
            };
            format!("the rule {} {why}", shortened(text))
        })?;
        let mut starts: Vec<Moment> = walls.into_iter().skip(1).map(|wall| self.at(wall)).collect();
        if let Some(Until::Instant(last)) = until {
            starts.retain(|moment| moment.seconds() <= last.as_second());
        }
        Ok(starts)
    }

    /// Parses a listed date or time. A local time without a zone is in the zone of the series.
    fn moment(&self, text: &str, property: &Property) -> Result<Moment, String> {
        let moment = Moment::parse(text, property, self.context)?;
        let is_local = property.parameter("TZID").is_none() && !is_utc(text);
        match (&moment, self.start, reading(text)) {
            (Moment::Time(..), Moment::Time(..), Some(wall)) if is_local => Ok(self.at(wall)),
            _ => Ok(self.take(moment)),
        }
    }

    /// Reads RDATE: dates, and periods with their own ends.
    fn added(
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
                true => Length::parse("RDATE", end)?.end_of(&moment),
                false => Some(self.edge(end, property)?),
            };
            let end = end.ok_or("RDATE has a period that is too long")?;
            if end.seconds() < moment.seconds() {
                backwards.get_or_insert(property.line);
            }
            Ok(Start { moment, end: Some(end) })
        })?;
        let message = "a period of RDATE ends before it begins; its end was set to its start";
        let warning = |line| Warning { line: Some(line), message: message.to_owned() };
        warnings.extend(backwards.map(warning));
        Ok(added)
    }

    /// Reads the begin or end of a period. A day of a timed series begins at midnight.
    fn edge(&self, text: &str, property: &Property) -> Result<Moment, String> {
        match (self.start, reading(text)) {
            (Moment::Time(..), Some(midnight)) if text.trim().len() == DAY => Ok(self.at(midnight)),
            _ => self.moment(text, property),
        }
    }

    /// Reads the dates of all properties of a name.
    fn dates(
        &self,
        component: &Component,
        name: &str,
        warnings: &mut Vec<Warning>,
        is_faulty: &mut bool,
    ) -> Result<Vec<Moment>, NoStarts> {
        let read = |text: &str, property: &Property| self.moment(text, property);
        self.listed(component, name, (warnings, is_faulty), read)
    }

    /// Reads the values of all properties of a name. Faulty ones are ignored, with a warning for each
    /// property, and set `is_faulty`.
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

    fn until(&self, text: &str, property: &Property) -> Result<Until, String> {
        let text = text.trim();
        let moment = Moment::parse(text, property, self.context)?;
        Ok(match (moment, self.start) {
            (Moment::Day(day), _) => Until::Wall(day.to_datetime(Time::constant(23, 59, 59, 0))),
            (Moment::Time(at, _), Moment::Time(..)) if is_utc(text) => Until::Instant(at),
            (moment @ Moment::Time(..), Moment::Day(_)) if is_utc(text) => {
                Until::Wall(moment.wall().date().to_datetime(Time::midnight()))
            }
            (moment, _) => Until::Wall(reading(text).unwrap_or(moment.wall())),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::super::foreign_zones::ForeignZones;
    use super::super::reader::Reader;
    use super::*;
    use crate::model::zone::Zone;

    #[test]
    fn nearest_starts_are_kept() {
        let day = |number: i8| DateTime::constant(2027, 3, number, 18, 0, 0, 0);
        let kept = |days: &[i8], today: i8| {
            let mut starts: Vec<DateTime> = days.iter().copied().map(day).collect();
            let today = day(today).date().to_datetime(Time::midnight());
            keep_nearest(&mut starts, |at| *at < today, 4);
            starts.iter().map(|at| at.day()).collect::<Vec<_>>()
        };
        // All in the future: the last ones are dropped.
        assert_eq!(kept(&[10, 11, 12, 13, 14, 15], 1), [10, 11, 12, 13]);
        // All in the past: the oldest are dropped, except the first, which is the parent.
        assert_eq!(kept(&[10, 11, 12, 13, 14, 15], 20), [10, 13, 14, 15]);
        // Past and future: past ones are dropped first, today's are kept.
        assert_eq!(kept(&[10, 11, 12, 13, 14, 15], 13), [10, 13, 14, 15]);
        assert_eq!(kept(&[10, 11, 12, 13, 14, 15], 11), [10, 11, 12, 13]);
        assert_eq!(kept(&[10, 11], 20), [10, 11]);
    }

    #[test]
    fn skipping_in_long_series_equals_counting_all_starts() {
        let (zones, site) = (ForeignZones::default(), Zone::utc());
        let now = "2027-03-10T12:00:00Z".parse().unwrap();
        let context = EntryContext { zones: &zones, calendar: None, site: &site, now };
        let days = ["19871025", "19871026", "20200629", "20270228", "20270307", "20270309"];
        let left_out = days.map(|day| format!("{day}T183000")).join(",");
        for (rule, zone) in [
            "FREQ=DAILY",
            "FREQ=DAILY;INTERVAL=2",
            "FREQ=DAILY;COUNT=14000",
            "FREQ=DAILY;BYDAY=SU;COUNT=2000",
            "FREQ=WEEKLY;BYDAY=SU,MO",
            "FREQ=WEEKLY;INTERVAL=2;UNTIL=20200705T163000Z",
            "FREQ=DAILY;UNTIL=20270328",
            "FREQ=MONTHLY;BYMONTHDAY=-1",
            "FREQ=YEARLY;BYMONTH=10;BYDAY=-1SU",
        ]
        .into_iter()
        .flat_map(|rule| ["Europe/Vienna", "America/New_York"].map(|zone| (rule, zone)))
        {
            let file = format!(
                "BEGIN:VEVENT\nDTSTART;TZID={zone}:19871025T183000\nRRULE:{rule}\n\
                 EXDATE;TZID={zone}:{left_out}\nEND:VEVENT\n"
            );
            let component = Reader::new(file.as_bytes()).next_component().unwrap().unwrap();
            let start = Moment::read(component.find("DTSTART").unwrap(), context).unwrap();
            let (property, today) =
                (component.find("RRULE").unwrap(), Zone::named(zone).unwrap().wall(now));
            let horizon = today.checked_add(Span::new().months(MONTHS_AHEAD)).unwrap();
            let parsed = Rule::parse(rule).unwrap();
            let series = Series::new(&component, &start, context);
            let last = parsed.until.as_deref().map(|text| series.until(text, property).unwrap());
            let until = last.map_or(horizon, |last| last.reading(&Zone::named(zone).unwrap()));
            let walls = parsed.expand(start.wall(), until).unwrap();
            let mut all: Vec<Moment> = walls.into_iter().map(|wall| series.at(wall)).collect();
            if let Some(Until::Instant(last)) = last {
                all.retain(|moment| moment.seconds() <= last.as_second());
            }
            let left_out = series.dates(&component, "EXDATE", &mut Vec::new(), &mut false);
            let left_out = left_out.ok().unwrap();
            all.retain(|at| !left_out.contains(at));
            let midnight = today.date().to_datetime(Time::midnight());
            keep_nearest(&mut all, |moment| moment.wall() < midnight, MAX_OCCURRENCES);
            let unread = &mut Unread::default();
            let starts =
                starts_of(&component, &start, context, &mut Vec::new(), unread).ok().unwrap();
            let starts: Vec<Moment> = starts.into_iter().map(|start| start.moment).collect();
            assert_eq!(starts, all, "{rule} in {zone}");
        }
    }
}
