//! Occurrences of an imported series.

use jiff::civil::{DateTime, Time};
use jiff::{Span, Timestamp};

use super::component::Component;
use super::dates::{NoStarts, Series, Start, Unread, Until};
use super::ignored::Warning;
use super::moment::{EntryContext, Moment};
use super::property::Property;
use crate::model::recurrence::{Rule, Wanted, replace_until};
use crate::model::schedule::wall_seconds;
use crate::model::series::{Plan, SeriesLimits};
use crate::model::zone::Zone;

/// Maximum number of rules, each of which can produce thousands of start times.
const MAX_RULES: usize = 20;

pub struct Starts {
    pub starts: Vec<Start>,
    /// How the series repeats, except that `end_local` and `duration` haven't been filled in yet.
    /// `None` if the series can't be stored in this form.
    pub repetition: Option<Repetition>,
}

/// How a series repeats, and how far we've expanded it.
#[derive(Clone, Debug)]
pub struct Repetition {
    pub plan: Plan,
    /// The moment up to which occurrences have been expanded.
    pub made_until: i64,
    /// When to expand further, in Unix seconds. `None` if the series is complete.
    pub due_utc: Option<i64>,
    /// Whether the series has more occurrences than the limit allows.
    pub is_cut: bool,
}

/// How many years past the horizon to look for the next occurrence.
const YEARS_AHEAD: i64 = 50;

/// Limits the search for the next occurrence. A rule can't match this often in a day, even
/// including times that coincide because clocks skip them.
const MORE_THAN_A_DAY: usize = 1500;

/// Seconds between expansions of a series that exceeds the limit.
const CUT_INTERVAL: i64 = 24 * 3600;

/// Returns a series' start times. `start` is the first one, in the zone in which the series recurs.
pub fn starts_of(
    component: &Component,
    start: &Moment,
    context: EntryContext<'_>,
    warnings: &mut Vec<Warning>,
    unread: &mut Unread,
) -> Result<Starts, NoStarts> {
    let mut starts = vec![Start::from(start.clone())];
    let rules: Vec<&Property> = component.rules().collect();
    if rules.is_empty() && component.find("RDATE").is_none() {
        let excluding = component.find("EXRULE");
        let message = "EXRULE is ignored, because there is no RRULE";
        warnings.extend(excluding.map(|rule| Warning::about(rule, message)));
        return Ok(Starts { starts, repetition: None });
    }
    let SeriesLimits { months, most, .. } = context.limits;
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
    let horizon = now.checked_add(Span::new().months(months));
    let horizon = horizon.unwrap_or(series.wall).max(series.wall);
    let left_out = series.dates(component, "EXDATE", warnings, &mut unread.excluded)?;
    let mut left_out: Vec<i64> = left_out.iter().map(Moment::seconds).collect();
    left_out.sort_unstable();
    // Leave room for excluded start times, and for one more to detect that the series exceeds the
    // limit.
    let (first, latest) = (1 + left_out.len(), most + 1 + left_out.len());
    let most_ahead = latest + MORE_THAN_A_DAY;
    let wanted = Wanted { until: horizon, near: now.date(), first, latest, most: most_ahead };
    for rule in &rules {
        let found = series.by_rule(rule, zone, wanted);
        let found = found.map_err(|why| NoStarts::because(rule, &why))?;
        starts.extend(found.into_iter().map(Start::from));
    }
    let mut added = series.added(component, warnings, &mut unread.added)?;
    let is_near = |start: &Start| start.moment.wall() <= horizon;
    let far = added.iter().filter(|start| !is_near(start)).count();
    if let Some(property) = component.find("RDATE").filter(|_| far > 0) {
        let message = format!("{far} RDATE dates are more than {months} months ahead");
        warnings.push(Warning::about(property, format!("{message}; they were not imported")));
    }
    let listed: Vec<Start> = added.clone();
    added.retain(is_near);
    starts.extend(added);
    starts.retain(is_near);
    // If several have the same start, keep the one with its own end.
    starts.sort_by_key(|start| (start.moment.seconds(), start.end.is_none()));
    starts.dedup_by_key(|start| start.moment.seconds());
    starts.retain(|start| left_out.binary_search(&start.moment.seconds()).is_err());
    if starts.is_empty() {
        return Err(NoStarts::Excluded);
    }
    let is_cut = starts.len() > most;
    if let Some(rule) = component.rules().next().or(component.find("RDATE"))
        && is_cut
    {
        let message = format!(
            "the series has more than {most} occurrences; the first and those nearest to today were \
             imported"
        );
        warnings.push(Warning::about(rule, message));
    }
    let today = now.date().to_datetime(Time::midnight());
    keep_nearest(&mut starts, |start| start.moment.wall() < today, most);
    let known = Known { horizon, is_cut, zone };
    let plan = series.plan(&rules, &listed, &left_out);
    let repetition = plan.map(|plan| series.repetition(plan, &rules, &starts, known));
    Ok(Starts { starts, repetition })
}

/// How far a series has been expanded.
#[derive(Clone, Copy)]
struct Known<'a> {
    horizon: DateTime,
    is_cut: bool,
    /// The horizon's zone.
    zone: &'a Zone,
}

/// Keeps the first start time, then upcoming ones, and then the most recent past ones. In an
/// endless daily series, the days ahead matter most.
fn keep_nearest<T>(starts: &mut Vec<T>, is_past: impl Fn(&T) -> bool, most: usize) {
    let surplus = starts.len().saturating_sub(most);
    let past = starts.iter().skip(1).take_while(|at| is_past(at)).count();
    starts.drain(1..1 + surplus.min(past));
    starts.truncate(most);
}

impl Series<'_> {
    /// Returns the series in stored form, except that the end is still equal to the start. Returns
    /// `None` if the series can't be stored because it has several rules, periods, too many dates,
    /// or a zone defined only in the file.
    fn plan(&self, rules: &[&Property], listed: &[Start], left_out: &[i64]) -> Option<Plan> {
        let zone = match self.start {
            Moment::Day(_) => Zone::utc(),
            Moment::Time(_, zone) => zone.clone(),
        };
        let is_known = self.foreign.is_none() && (!zone.is_fixed() || zone == Zone::utc());
        let is_long = left_out.len() + listed.len() > self.context.limits.dates;
        if !is_known || is_long || rules.len() > 1 || listed.iter().any(|start| start.end.is_some())
        {
            return None;
        }
        let rule = rules.first().map(|rule| self.stored_rule(rule));
        let start_local = wall_seconds(self.wall);
        let mut plan = Plan {
            zone,
            all_day: matches!(self.start, Moment::Day(_)),
            start_local,
            end_local: start_local,
            duration: String::new(),
            rule: rule.unwrap_or_default(),
            rdates: Vec::new(),
            exdates: Vec::new(),
        };
        let mut added: Vec<i64> = listed.iter().map(|start| start.moment.seconds()).collect();
        added.sort_unstable();
        added.dedup();
        plan.rdates = added.into_iter().map(|moment| plan.key(moment)).collect();
        let mut left_out = left_out.to_vec();
        left_out.dedup();
        plan.exdates = left_out.into_iter().map(|moment| plan.key(moment)).collect();
        Some(plan)
    }

    /// Returns a rule in stored form. UNTIL has the same type as DTSTART, and if it is a time, it
    /// is in UTC (RFC 5545, 3.3.10). Other programs interpret a day as midnight, which would drop
    /// the last occurrence.
    fn stored_rule(&self, property: &Property) -> String {
        let text = property.value.trim().replace('\\', "");
        let until = Rule::parse(&text).and_then(|rule| rule.until);
        let until = match until.map(|until| self.until(&until, property)) {
            // The calendar's last days can't be converted to an instant.
            Some(Ok(Until::Wall(last))) => {
                Some(self.at(last)).filter(|until| until.wall().date() == last.date())
            }
            Some(Ok(Until::Instant(last))) => Some(Moment::Time(last, Zone::utc())),
            _ => None,
        };
        match until {
            Some(until) => replace_until(&text, &until.key()),
            None => text,
        }
    }

    /// Records how far the series has been expanded and when to expand it next.
    fn repetition(
        &self,
        plan: Plan,
        rules: &[&Property],
        starts: &[Start],
        Known { horizon, is_cut, zone }: Known<'_>,
    ) -> Repetition {
        let now = self.context.now.as_second();
        if is_cut {
            let last = starts.last().map_or(plan.first(), |start| start.moment.seconds());
            let due_utc = Some(now + CUT_INTERVAL);
            return Repetition { plan, made_until: last, due_utc, is_cut };
        }
        let made_until = plan.at(horizon);
        let listed = plan.rdates.iter().filter_map(|key| plan.moment(key));
        let next = listed.filter(|moment| *moment > made_until).min();
        let ruled =
            rules.iter().filter_map(|rule| self.next_after(rule, (horizon, made_until), zone));
        let next = ruled.chain(next).min();
        let ahead = Span::new().months(self.context.limits.months);
        let due = next.and_then(|next| plan.wall(next).checked_sub(ahead).ok());
        let due = due.and_then(|due| zone.instant(due)).map(Timestamp::as_second);
        // Months vary in length, so the next occurrence might be created a few days late.
        let due_utc = due.map(|due| due.max(now + CUT_INTERVAL));
        Repetition { plan, made_until, due_utc, is_cut }
    }

    /// Returns the rule's first occurrence that hasn't been expanded yet, or `None` if there isn't
    /// one.
    fn next_after(
        &self,
        rule: &Property,
        (horizon, made_until): (DateTime, i64),
        zone: &Zone,
    ) -> Option<i64> {
        let until = horizon.checked_add(Span::new().years(YEARS_AHEAD)).unwrap_or(DateTime::MAX);
        let near = horizon.date();
        let wanted = Wanted { until, near, first: 0, latest: 0, most: MORE_THAN_A_DAY };
        let found = self.by_rule(rule, zone, wanted).ok()?;
        found.iter().map(Moment::seconds).find(|moment| *moment > made_until)
    }
}

#[cfg(test)]
mod tests {
    use super::super::foreign_zones::ForeignZones;
    use super::super::reader::Reader;
    use super::*;

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
        // All in the past: the oldest ones are dropped, except for the first, which is the parent.
        assert_eq!(kept(&[10, 11, 12, 13, 14, 15], 20), [10, 13, 14, 15]);
        // Past and future: past ones are dropped first, and today's are kept.
        assert_eq!(kept(&[10, 11, 12, 13, 14, 15], 13), [10, 13, 14, 15]);
        assert_eq!(kept(&[10, 11, 12, 13, 14, 15], 11), [10, 11, 12, 13]);
        assert_eq!(kept(&[10, 11], 20), [10, 11]);
    }

    #[test]
    fn skipping_in_long_series_equals_counting_all_starts() {
        let (zones, site) = (ForeignZones::default(), Zone::utc());
        let now = "2027-03-10T12:00:00Z".parse().unwrap();
        let limits = SeriesLimits::IMPORTED;
        let (calendar_number, calendar, site) = (0, None, &site);
        let context = EntryContext { zones: &zones, calendar_number, calendar, site, now, limits };
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
            let horizon = today.checked_add(Span::new().months(limits.months)).unwrap();
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
            keep_nearest(&mut all, |moment| moment.wall() < midnight, limits.most);
            let unread = &mut Unread::default();
            let starts = starts_of(&component, &start, context, &mut Vec::new(), unread);
            let starts = starts.ok().unwrap();
            let starts = starts.starts.into_iter().map(|start| start.moment);
            let starts: Vec<Moment> = starts.collect();
            assert_eq!(starts, all, "{rule} in {zone}");
        }
    }
}
