//! User edits that apply to a whole imported series: fields that files don't have, and fields that
//! users of a subscription changed for all events. Occurrences that are new in the file inherit
//! these edits.

use std::collections::HashMap;
use std::sync::Arc;

use database::{DatabaseError, Db};

use super::series::{self, Audience};
use super::series_dates::{Moved, bases};
use crate::model::change::TakenFields;
use crate::model::schedule::Schedule;
use crate::model::series::{Membership, Series};
use crate::model::series_fields::{FIELDS, STATUS, Shared};
use crate::model::subscription_parts::{Part, Parts};
use crate::store::{events, series as stored, series_events, subscribed_events};

/// Fields that don't reveal any text. Their values can come from events that readers of the series
/// can't see.
const WITHOUT_TEXT: [Part; 2] = [Part::Dates, Part::Status];

/// The values for occurrences that are new in a series.
#[derive(Clone, Debug)]
pub struct SeriesEdits {
    template: Shared,
    /// The fields, other than dates, that users changed for all events.
    parts: Parts,
    /// How far users have shifted most events from their scheduled times. `None` if they haven't
    /// moved them.
    dates: Option<Moved>,
}

/// Caches user edits by series, because a file can contain many overrides of the same series.
#[derive(Default)]
pub struct KnownEdits(HashMap<i64, Option<Arc<SeriesEdits>>>);

impl KnownEdits {
    /// Maximum number of series in the cache.
    const MOST: usize = 64;

    /// Returns the values for occurrences that are new in `series`.
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
    /// Reads the values shared by the events of `series`. `None` if it doesn't have any.
    pub fn of(db: &mut Db, series: i64) -> Result<Option<SeriesEdits>, DatabaseError> {
        let Some(known) = stored::find(db, series)? else { return Ok(None) };
        let Some(mut template) = series::template(db, series)? else { return Ok(None) };
        let held = subscribed_events::changed_in_series(db, series)?;
        let members = series_events::members(db, series)?;
        let mut parts = Vec::new();
        // Start with the status, because it decides who can see the other values.
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
        // A single moved event doesn't mean that the series was moved.
        let is_moved = dated.len() > 1 && dated.len() * 2 > members.len();
        let dates = if is_moved { common_dates(db, &known, &dated)? } else { None };
        Ok(Some(SeriesEdits { template, parts: Parts::of(parts), dates }))
    }

    /// Returns the fields that the series' events share.
    pub fn template(&self) -> &Shared {
        &self.template
    }

    /// Returns how far users have shifted most events from their scheduled times, or `None` if they
    /// haven't moved them. The offset can be 0, e.g. between moving the whole series, including its
    /// recurrence, and the next import.
    pub fn dates(&self) -> Option<&Moved> {
        self.dates.as_ref()
    }

    /// Returns whether users changed `part` for all events in the series.
    pub fn has(&self, part: Part) -> bool {
        self.parts.has(part)
    }

    /// Returns whether a new occurrence inherits `part` from the series. An occurrence that is
    /// private in the file doesn't become public just because users published the others.
    pub fn decides(&self, part: Part, is_private: bool) -> bool {
        self.has(part) && !(part == Part::Status && is_private)
    }

    /// Returns the fields belonging to `part` in which an event differs from the series.
    pub fn differing(&self, own: &Shared, part: Part) -> Vec<&'static str> {
        let mut fields = self.template.differing(own);
        let is_trashed = own.event.status.is_trashed();
        fields.retain(|name| is_of(name, part) && !(is_trashed && *name == STATUS));
        fields
    }

    /// Returns the fields that a new occurrence inherits from the series. `has_image` is whether
    /// the file has a separate image for it.
    pub fn fields(&self, has_image: bool, is_private: bool) -> TakenFields {
        let is_taken = |name: &&str| match (Part::of_field(name), *name) {
            // New events get their author from the subscription.
            (_, "author") => false,
            (None, "image") => !has_image,
            (Some(part), _) => self.decides(part, is_private),
            (None, _) => true,
        };
        let fields = FIELDS.into_iter().filter(is_taken).collect();
        TakenFields { from: self.template.clone(), fields }
    }

    /// Returns the fields of a new occurrence that count as changed by users. `is_planned` says
    /// whether it takes place at the time given by the rule.
    pub fn parts(&self, is_planned: bool, is_private: bool) -> Parts {
        let has_dates = |part| part == Part::Dates && is_planned && self.dates.is_some();
        let parts = Part::ALL.into_iter();
        Parts::of(parts.filter(|part| has_dates(*part) || self.decides(*part, is_private)))
    }

    /// Returns the schedule and slug for a new occurrence, or `None` if users haven't moved the
    /// series.
    pub fn moved(&self, series: &Series, occurrence: i64) -> Option<(Schedule, String)> {
        self.dates.as_ref()?.place(series, occurrence)
    }
}

fn is_of(field: &str, part: Part) -> bool {
    Part::of_field(field) == Some(part)
}

/// Returns the offset shared by more than half of `members`, which are the events that users have
/// moved.
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
