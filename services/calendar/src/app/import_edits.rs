//! Values that the events of an imported series share but that are not from its file: fields that
//! files don't have, and parts that users of a subscription changed for all events. New dates in
//! the file get these values, too.

use std::collections::HashMap;
use std::sync::Arc;

use database::{DatabaseError, Db};

use super::series::{self, Audience};
use super::series_dates::{Moved, bases};
use crate::model::change::TakenFields;
use crate::model::schedule::Schedule;
use crate::model::series::{FIELDS, Membership, STATUS, Series, Shared};
use crate::model::subscription::{Part, Parts};
use crate::store::{events, series as stored, subscribed_events};

/// Parts whose values may come from events that readers of the series cannot see.
const WITHOUT_TEXT: [Part; 2] = [Part::Dates, Part::Status];

/// The values for a series' new dates.
#[derive(Clone, Debug)]
pub struct SeriesEdits {
    template: Shared,
    /// The parts, other than dates, that users changed for all events.
    parts: Parts,
    /// The distance of most events from the plan, if users changed their dates.
    dates: Option<Moved>,
}

/// The values of the series with overrides in the file. One series can have many overrides.
#[derive(Default)]
pub struct KnownEdits(HashMap<i64, Option<Arc<SeriesEdits>>>);

impl KnownEdits {
    /// Maximum number of series.
    const MOST: usize = 64;

    /// Returns the values for a series' new events.
    pub fn of(
        &mut self,
        db: &mut Db,
        series: Option<i64>,
        is_override: bool,
    ) -> Result<Option<Arc<SeriesEdits>>, DatabaseError> {
        let Some(series) = series else { return Ok(None) };
        if let Some(known) = self.0.get(&series).filter(|_| is_override) {
            return Ok(known.clone());
        }
        let edits = SeriesEdits::of(db, series)?.map(Arc::new);
        if self.0.len() >= KnownEdits::MOST {
            self.0.clear();
        }
        self.0.insert(series, edits.clone());
        Ok(edits)
    }
}

impl SeriesEdits {
    /// Reads the values shared by a series' events. Returns `None` if it has no events.
    pub fn of(db: &mut Db, series: i64) -> Result<Option<SeriesEdits>, DatabaseError> {
        let Some(known) = stored::find(db, series)? else { return Ok(None) };
        let Some(mut template) = series::template(db, series)? else { return Ok(None) };
        let held = subscribed_events::changed_in_series(db, series)?;
        let members = stored::members(db, series)?;
        let mut parts = Vec::new();
        // The status decides who sees the other values.
        let texts = Part::ALL.into_iter().filter(|part| !WITHOUT_TEXT.contains(part));
        for part in std::iter::once(Part::Status).chain(texts) {
            let is_shared = |one: &&Membership| !one.changed.iter().any(|name| is_of(name, part));
            let is_held = |one: &&Membership| held.get(&one.event).is_some_and(|it| it.has(part));
            let (holding, others): (Vec<&Membership>, Vec<&Membership>) =
                members.iter().filter(is_shared).partition(is_held);
            let Some(last) = holding.last().filter(|_| holding.len() >= others.len()) else {
                continue;
            };
            let source = match part {
                Part::Status => series::shared(db, last.event)?,
                _ => {
                    let holding: Vec<Membership> = holding.into_iter().cloned().collect();
                    series::last_visible(db, &holding, &Audience::of(&template.event), None)?
                }
            };
            if let Some(source) = source {
                FIELDS.iter().filter(|name| is_of(name, part)).for_each(|name| {
                    if !(part == Part::Status && source.event.status.is_trashed()) {
                        template.take(name, &source);
                    }
                });
                parts.push(part);
            }
        }
        let has_dates =
            |one: &&Membership| held.get(&one.event).is_some_and(|it| it.has(Part::Dates));
        let dated: Vec<&Membership> = members.iter().filter(has_dates).collect();
        // Only this date was moved.
        let is_moved = dated.len() > 1 && dated.len() * 2 > members.len();
        let dates = if is_moved { common_dates(db, &known, &dated)? } else { None };
        Ok(Some(SeriesEdits { template, parts: Parts::of(parts), dates }))
    }

    /// Returns the fields that the events of the series share.
    pub fn template(&self) -> &Shared {
        &self.template
    }

    /// Returns the distance of most events from the plan, if users changed their dates. The
    /// distance can be 0, for example before the next import, because users moved the plan too.
    pub fn dates(&self) -> Option<&Moved> {
        self.dates.as_ref()
    }

    /// Returns whether users changed a part for all events of the series.
    pub fn has(&self, part: Part) -> bool {
        self.parts.has(part)
    }

    /// Returns whether a new date gets a part from the series. A date that is private in its file
    /// does not become public just because users published the others.
    pub fn decides(&self, part: Part, is_private: bool) -> bool {
        self.has(part) && !(part == Part::Status && is_private)
    }

    /// Returns the fields of a changed part in which an event differs from the series.
    pub fn differing(&self, own: &Shared, part: Part) -> Vec<&'static str> {
        let mut fields = self.template.differing(own);
        let is_trashed = own.event.status.is_trashed();
        fields.retain(|name| is_of(name, part) && !(is_trashed && *name == STATUS));
        fields
    }

    /// Returns the fields that a new date gets from the series. `has_image` is whether the file
    /// contains a separate image for this date.
    pub fn fields(&self, has_image: bool, is_private: bool) -> TakenFields {
        let is_taken = |name: &&str| match (Part::of_field(name), *name) {
            // Subscriptions have an author for new events.
            (_, "author") => false,
            (None, "image") => !has_image,
            (Some(part), _) => self.decides(part, is_private),
            (None, _) => true,
        };
        let fields = FIELDS.into_iter().filter(is_taken).collect();
        TakenFields { from: self.template.clone(), fields }
    }

    /// Returns the parts of a new date that count as changed by users. `is_planned` is whether the
    /// date takes place at the rule's time.
    pub fn parts(&self, is_planned: bool, is_private: bool) -> Parts {
        let has_dates = |part| part == Part::Dates && is_planned && self.dates.is_some();
        let parts = Part::ALL.into_iter();
        Parts::of(parts.filter(|part| has_dates(*part) || self.decides(*part, is_private)))
    }

    /// Returns the schedule and the slug of a new date, if users moved the events of the series.
    pub fn moved(&self, series: &Series, occurrence: i64) -> Option<(Schedule, String)> {
        self.dates.as_ref()?.place(series, occurrence)
    }
}

fn is_of(field: &str, part: Part) -> bool {
    Part::of_field(field) == Some(part)
}

/// Returns the distance from the plan that is shared by more than half of the events whose dates users
/// changed.
fn common_dates(
    db: &mut Db,
    series: &Series,
    members: &[&Membership],
) -> Result<Option<Moved>, DatabaseError> {
    let ids: Vec<i64> = members.iter().map(|member| member.event).collect();
    let mut votes: Vec<(Moved, usize)> = Vec::new();
    for event in events::by_ids(db, &ids)? {
        let Some(member) = members.iter().find(|member| member.event == event.id) else { continue };
        for base in bases(series, &event.schedule) {
            let found = Moved::of(series, member.occurrence, base, &event.schedule);
            let Some(found) = found else { continue };
            match votes.iter_mut().find(|(known, _)| *known == found) {
                Some((_, number)) => *number += 1,
                None => votes.push((found, 1)),
            }
        }
    }
    let most = votes.into_iter().max_by_key(|(_, number)| *number);
    Ok(most.filter(|(_, number)| *number > 1 && number * 2 > members.len()).map(|(found, _)| found))
}
