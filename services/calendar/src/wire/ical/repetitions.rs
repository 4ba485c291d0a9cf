//! When a repeated event of a file takes place.

use jiff::Span;
use jiff::civil::{DateTime, Time};

use super::moment::{EntryContext, Moment};
use super::reader::{Component, Property};
use crate::model::recurrence::{Rule, Wanted};

/// The most events that one repeated event becomes.
const MOST_OCCURRENCES: usize = 500;

/// How far ahead events repeat, in months.
const MONTHS_AHEAD: i32 = 24;

/// The most dates that a file names one by one, to add or to leave out.
const MOST_DATES: usize = 5000;

/// Computes when an event takes place, on the clock of its start.
pub fn starts_of(
    component: &Component,
    start: &Moment,
    context: EntryContext<'_>,
) -> Result<Vec<DateTime>, String> {
    let mut starts = vec![start.wall()];
    let rule = component.find("RRULE");
    if rule.is_none() && component.find("RDATE").is_none() {
        return Ok(starts);
    }
    let zone = match start {
        Moment::Day(_) => context.site,
        Moment::Time(_, zone) => zone,
    };
    let now = zone.wall(context.now);
    let horizon = now.checked_add(Span::new().months(MONTHS_AHEAD));
    let horizon = horizon.unwrap_or(start.wall()).max(start.wall());
    let mut left_out = dates(component, "EXDATE", start, context)?;
    left_out.sort_unstable();
    if let Some(property) = rule {
        let text = property.value.trim();
        let rule = Rule::parse(text).filter(|rule| rule.fits_time(start.wall()));
        let rule = rule.ok_or_else(|| format!("the rule {} is not known", shortened(text)))?;
        let until = rule.until.as_deref().map(|text| until(text, property, start, context));
        let until = until.transpose()?.map_or(horizon, |at| at.min(horizon));
        // One more for each that may be left out.
        let (first, latest) = (1 + left_out.len(), MOST_OCCURRENCES + left_out.len());
        let wanted = Wanted { until, near: now.date(), first, latest };
        let expanded = rule.expand_near(start.wall(), wanted);
        starts = expanded.map_err(|_| format!("the rule {} finds no days", shortened(text)))?;
    }
    starts.extend(dates(component, "RDATE", start, context)?);
    starts.retain(|at| *at <= horizon);
    starts.sort_unstable();
    starts.dedup();
    starts.retain(|at| left_out.binary_search(at).is_err());
    if starts.is_empty() {
        return Err("takes place at no time".to_owned());
    }
    keep_nearest(&mut starts, now.date().to_datetime(Time::midnight()), MOST_OCCURRENCES);
    Ok(starts)
}

/// Keeps the first one, and of the others the next to come, then the latest that are past: of a
/// class that goes on every day nobody misses the end, or the beginning years ago, but everybody
/// tomorrow.
fn keep_nearest(starts: &mut Vec<DateTime>, today: DateTime, most: usize) {
    let surplus = starts.len().saturating_sub(most);
    let past = starts.iter().skip(1).take_while(|at| **at < today).count();
    starts.drain(1..1 + surplus.min(past));
    starts.truncate(most);
}

fn shortened(text: &str) -> String {
    text.chars().filter(|c| !c.is_control()).take(100).collect()
}

/// Reads the dates of all properties of a name; of periods it is their beginning.
fn dates(
    component: &Component,
    name: &str,
    start: &Moment,
    context: EntryContext<'_>,
) -> Result<Vec<DateTime>, String> {
    let mut all = Vec::new();
    for property in component.properties.iter().filter(|one| one.name == name) {
        for text in property.value.split(',').map(str::trim).filter(|text| !text.is_empty()) {
            let text = text.split_once('/').map_or(text, |(begin, _)| begin);
            all.push(Moment::parse(text, property, context)?.on_clock_of(start));
            if all.len() > MOST_DATES {
                return Err(format!("{name} has more than {MOST_DATES} dates"));
            }
        }
    }
    Ok(all)
}

fn until(
    text: &str,
    property: &Property,
    start: &Moment,
    context: EntryContext<'_>,
) -> Result<DateTime, String> {
    let text = text.trim();
    Ok(match Moment::parse(text, property, context)? {
        Moment::Day(day) => day.to_datetime(Time::constant(23, 59, 59, 0)),
        moment if text.ends_with(['Z', 'z']) => moment.on_clock_of(start),
        moment => moment.wall(),
    })
}

#[cfg(test)]
mod tests {
    use super::super::foreign_zones::ForeignZones;
    use super::super::reader::Reader;
    use super::*;
    use crate::model::zone::Zone;

    #[test]
    fn what_is_next_stays_and_what_is_far_goes() {
        let day = |number: i8| DateTime::constant(2027, 3, number, 18, 0, 0, 0);
        let kept = |days: &[i8], today: i8| {
            let mut starts: Vec<DateTime> = days.iter().copied().map(day).collect();
            keep_nearest(&mut starts, day(today).date().to_datetime(Time::midnight()), 4);
            starts.iter().map(|at| at.day()).collect::<Vec<_>>()
        };
        // All to come: the end goes.
        assert_eq!(kept(&[10, 11, 12, 13, 14, 15], 1), [10, 11, 12, 13]);
        // All past: the oldest go, but the first, which is the parent of the others.
        assert_eq!(kept(&[10, 11, 12, 13, 14, 15], 20), [10, 13, 14, 15]);
        // Both: what is past goes first, that of today stays.
        assert_eq!(kept(&[10, 11, 12, 13, 14, 15], 13), [10, 13, 14, 15]);
        assert_eq!(kept(&[10, 11, 12, 13, 14, 15], 11), [10, 11, 12, 13]);
        assert_eq!(kept(&[10, 11], 20), [10, 11]);
    }

    #[test]
    fn long_series_are_as_if_all_of_them_had_been_counted() {
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
            let last = parsed.until.as_deref();
            let last = last.map(|text| until(text, property, &start, context).unwrap());
            let last = last.unwrap_or(horizon);
            let mut all = parsed.expand(start.wall(), last).unwrap();
            let left_out = dates(&component, "EXDATE", &start, context).unwrap();
            all.retain(|at| !left_out.contains(at));
            keep_nearest(&mut all, today.date().to_datetime(Time::midnight()), MOST_OCCURRENCES);
            let starts = starts_of(&component, &start, context).unwrap();
            assert_eq!(starts, all, "{rule} in {zone}");
        }
    }
}
