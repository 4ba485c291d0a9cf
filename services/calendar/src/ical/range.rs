//! Overrides that apply to an occurrence and all later ones (`RANGE=THISANDFUTURE`).

use std::sync::Arc;

use super::component::Component;
use super::details::Details;
use super::entry::{Entry, times};
use super::ignored::Warning;
use super::length::Length;
use super::moment::{EntryContext, Moment};
use crate::model::recurrence::Rule;
use crate::model::zone::Zone;

struct Range {
    /// The original start of the first overridden occurrence.
    from: Moment,
    /// The start that the override gives this occurrence.
    start: Moment,
    length: Length,
    details: Arc<Details>,
    is_cancelled: bool,
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

impl Range {
    fn read(
        component: &Component,
        context: EntryContext<'_>,
    ) -> Result<(Range, Vec<Warning>), String> {
        let property = component.find("RECURRENCE-ID").ok_or("RECURRENCE-ID is missing")?;
        let from = Moment::read(property, context)?;
        let mut warnings: Vec<Warning> = component.ignored_rule().into_iter().collect();
        let (start, end) = times(component, context, &mut warnings)?;
        let clock = match &start {
            Moment::Time(_, zone) => zone.clone(),
            Moment::Day(_) => Zone::utc(),
        };
        let written = (component.find("DTSTART"), component.find("DTEND"));
        let length = Length::written(written, (&start, &end), &clock);
        let is_cancelled = component.is_cancelled();
        let details = Arc::new(Details::read(component, &mut warnings));
        Ok((Range { from, start, length, details, is_cancelled }, warnings))
    }

    /// Shifts an occurrence by the same amount as the first overridden one. Returns `None` if the
    /// result is out of range.
    fn moved(&self, start: &Moment) -> Option<Moment> {
        let from = match &self.start {
            Moment::Time(_, zone) => self.from.clone().in_zone(zone),
            Moment::Day(_) => self.from.clone(),
        };
        let delta = from.wall().until(self.start.wall()).ok()?;
        let old = match &self.start {
            Moment::Time(_, zone) => start.clone().in_zone(zone),
            Moment::Day(_) => start.clone(),
        };
        Some(self.start.at(old.wall().checked_add(delta).ok()?))
    }
}

impl Entry {
    /// Applies range overrides to a series. `context` returns the context for reading an override.
    /// Invalid overrides become warnings.
    #[must_use]
    pub fn with_ranges<'a>(
        mut self,
        ranges: &[Component],
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
        read.sort_by_key(|range| range.from.seconds());
        let originals: Vec<i64> = self.occurrences.iter().map(|one| one.start.seconds()).collect();
        let range_of = |original: i64| read.iter().rfind(|range| range.from.seconds() <= original);
        for (occurrence, original) in self.occurrences.iter_mut().zip(&originals) {
            let Some(range) = range_of(*original) else { continue };
            if range.is_cancelled {
                occurrence.is_cancelled = true;
            } else if let Some(start) = range.moved(&occurrence.start)
                && let Some(end) = range.length.end_of(&start)
            {
                (occurrence.start, occurrence.end) = (start, end);
                occurrence.details = Arc::clone(&range.details);
            }
        }
        self
    }
}
