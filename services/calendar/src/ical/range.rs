//! Overrides that apply to an occurrence and all later ones (`RANGE=THISANDFUTURE`).

use std::sync::Arc;

use super::component::Component;
use super::dates::Series;
use super::details::Details;
use super::entry::{Entry, clock_of, length_of, times};
use super::ignored::Warning;
use super::length::Length;
use super::moment::{EntryContext, Moment};
use crate::model::recurrence::Rule;
use crate::model::zone::Zone;

struct Range<'a> {
    component: &'a Component,
    context: EntryContext<'a>,
    /// The original start of the first overridden occurrence.
    from: Moment,
    /// The start that the override gives this occurrence.
    start: Moment,
    /// The end that the override gives this occurrence.
    end: Moment,
    /// The zone in which the occurrences are moved.
    clock: Zone,
    length: Length,
    details: Arc<Details>,
    is_cancelled: bool,
    /// Whether the override has its own details. A cancellation can omit them.
    is_detailed: bool,
}

impl Component {
    /// Returns whether the component overrides an occurrence and all later ones.
    pub fn is_range(&self) -> bool {
        let range = self.find("RECURRENCE-ID").and_then(|one| one.parameter("RANGE"));
        range.is_some_and(|range| range.eq_ignore_ascii_case("THISANDFUTURE"))
    }

    /// Returns SEQUENCE, or 0 if it is missing or malformed.
    pub fn sequence(&self) -> i64 {
        self.text("SEQUENCE").parse().unwrap_or(0)
    }

    /// Returns the keys of a series' excluded occurrences. Unreadable dates are skipped.
    pub fn excluded_keys(&self, context: EntryContext<'_>) -> Vec<String> {
        let dates = self.all("EXDATE").flat_map(|property| {
            let texts = property.value.split(',').map(str::trim);
            texts.filter_map(move |text| Moment::parse(text, property, context).ok())
        });
        dates.map(|moment| moment.key()).collect()
    }

    /// Returns the last moment that the series' rule allows, or `None` if it has several rules or a
    /// rule without UNTIL. A local time is interpreted in the zone of DTSTART.
    pub fn last_moment(&self, context: EntryContext<'_>) -> Option<Moment> {
        let mut rules = self.rules();
        let rule = rules.next().filter(|_| rules.next().is_none())?;
        let until = Rule::parse(&rule.value.trim().replace('\\', ""))?.until?;
        let start = self.find("DTSTART").filter(|start| start.parameter("TZID").is_some());
        Moment::parse(until.trim(), start.unwrap_or(rule), context).ok()
    }

    /// Returns whether the component overrides an occurrence after `last`.
    pub fn overrides_after(&self, last: &Moment, context: EntryContext<'_>) -> bool {
        let replaced = self.find("RECURRENCE-ID").map(|one| Moment::read(one, context));
        match (replaced, last) {
            (Some(Ok(Moment::Time(at, _))), Moment::Time(last, _)) => at > *last,
            (Some(Ok(replaced)), last) => replaced.wall().date() > last.wall().date(),
            _ => false,
        }
    }

    /// Returns a warning if the component is supposed to override later occurrences as well, but is
    /// imported without its series.
    pub fn narrowed_range(&self) -> Option<Warning> {
        let property = self.find("RECURRENCE-ID").filter(|_| self.is_range())?;
        let message = "RANGE=THISANDFUTURE was applied to this occurrence only";
        Some(Warning::about(property, message))
    }

    /// Returns a warning if the component is an override with a rule.
    pub fn ignored_rule(&self) -> Option<Warning> {
        let rule = self.rules().next().filter(|_| self.find("RECURRENCE-ID").is_some())?;
        Some(Warning::about(rule, "RRULE is ignored, because there is a RECURRENCE-ID"))
    }
}

impl<'a> Range<'a> {
    fn read(
        component: &'a Component,
        context: EntryContext<'a>,
    ) -> Result<(Range<'a>, Vec<Warning>), String> {
        let property = component.find("RECURRENCE-ID").ok_or("RECURRENCE-ID is missing")?;
        let from = Moment::read(property, context)?;
        let mut warnings: Vec<Warning> = component.ignored_rule().into_iter().collect();
        let (start, end) = times(component, context, &mut warnings)?;
        let clock = clock_of(component, &start).unwrap_or_else(Zone::utc);
        let length = length_of(component, (&start, &end), &clock);
        let is_cancelled = component.is_cancelled();
        let is_detailed = !is_cancelled || component.has_details();
        let details = Arc::new(Details::read(component, &mut warnings));
        let range = Range {
            component,
            context,
            from,
            start,
            end,
            clock,
            length,
            details,
            is_cancelled,
            is_detailed,
        };
        Ok((range, warnings))
    }

    /// Returns the start and end of an occurrence, given its original start and the start of the
    /// series. It moves by the same amount of local time as the first overridden one. Returns
    /// `None` if the result is out of range.
    fn moved(&self, original: &Moment, begin: &Moment) -> Option<(Moment, Moment)> {
        if original.seconds() == self.from.seconds() {
            return Some((self.start.clone(), self.end.clone()));
        }
        let first = self.start.clone().in_zone(&self.clock);
        let series = Series::new(self.component, &first, self.context);
        let time = series.take(begin.clone()).wall().time();
        let wall = |moment: &Moment| {
            let wall = series.take(moment.clone()).wall();
            // Clocks might skip the series' time of day.
            let planned = wall.date().to_datetime(time);
            if series.at(planned).seconds() == moment.seconds() { planned } else { wall }
        };
        let delta = wall(&self.from).until(series.wall).ok()?;
        let start = series.at(wall(original).checked_add(delta).ok()?);
        let end = series.end_of(&start, self.length)?;
        Some(match &self.start {
            // A time in UTC can be displayed in another zone.
            Moment::Time(_, zone) if *zone != self.clock => {
                (start.in_zone(zone), end.in_zone(zone))
            }
            _ => (start, end),
        })
    }
}

impl Entry {
    /// Applies range overrides to a series. `context` returns the context for reading an override.
    /// Invalid overrides become warnings.
    #[must_use]
    pub fn with_ranges<'a>(
        mut self,
        ranges: &'a [Component],
        context: impl Fn(&Component) -> EntryContext<'a>,
    ) -> Entry {
        let mut read = Vec::new();
        for component in ranges {
            match Range::read(component, context(component)) {
                Ok((range, warnings)) => {
                    read.push(range);
                    self.warnings.extend(warnings);
                }
                Err(message) => {
                    self.warnings.push(Warning { line: Some(component.line), message });
                }
            }
        }
        let first = self.occurrences.first().map(|one| one.start.clone());
        for range in &mut read {
            // Some programs only write the day.
            if let (Moment::Day(day), Some(first @ Moment::Time(..))) = (&range.from, &first) {
                range.from = first.at(day.to_datetime(first.wall().time()));
            }
        }
        read.sort_by_key(|range| range.from.seconds());
        let originals: Vec<i64> = self.occurrences.iter().map(|one| one.start.seconds()).collect();
        let range_of = |original: i64| read.iter().rfind(|range| range.from.seconds() <= original);
        for (occurrence, original) in self.occurrences.iter_mut().zip(&originals) {
            let Some(range) = range_of(*original) else { continue };
            occurrence.is_cancelled |= range.is_cancelled;
            occurrence.is_detailed &= range.is_detailed;
            if range.is_detailed
                && let Some(first) = &first
                && let Some((start, end)) = range.moved(&occurrence.start, first)
            {
                (occurrence.start, occurrence.end) = (start, end);
                occurrence.details = Arc::clone(&range.details);
            }
        }
        self
    }
}
