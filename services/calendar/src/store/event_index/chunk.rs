//! A chunk of consecutive events. It stores its date ranges and the number of events per trait
//! number, so most chunks can be counted or skipped without looking at individual events.

use roaring::RoaringBitmap;

use super::columns::Times;
use super::table::Table;
use crate::model::window::{Limits, Window};

/// A chunk's ranges are recomputed after this number of removals.
const REMOVALS: usize = 64;

/// Minimum duration of a long event, in seconds.
const LONG: i64 = 2 * 24 * 3600;

/// Maximum number of long events that a chunk keeps separately.
const MAX_LONG: usize = 16;

/// The minimum and maximum of a date column.
#[derive(Clone, Copy)]
struct Range {
    min: i64,
    max: i64,
}

const NOTHING: Range = Range { min: i64::MAX, max: i64::MIN };

impl Range {
    fn include(&mut self, value: i64) {
        self.min = self.min.min(value);
        self.max = self.max.max(value);
    }
}

/// Whether none, some or all of a chunk's events are in a window.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Overlap {
    None,
    Some,
    All,
}

/// A run of consecutive events in the sort order.
pub(super) struct Chunk {
    pub(super) events: Vec<u32>,
    /// The first few long events. They are checked individually, because they would make the ranges
    /// too wide. The fields below only cover the other events.
    long: Vec<u32>,
    /// Trait numbers, each with the number of events that have it.
    traits: Vec<(u32, u32)>,
    start_local: Range,
    end_local: Range,
    start_utc: Range,
    end_utc: Range,
    /// Whether clocks are set back during any of the events.
    has_set_back: bool,
    /// Number of removals since the ranges were computed, each of which can leave them wider than
    /// necessary.
    removals: usize,
}

impl Chunk {
    pub(super) fn new(events: Vec<u32>, table: &Table) -> Chunk {
        let mut chunk = Chunk {
            traits: Vec::new(),
            start_local: NOTHING,
            end_local: NOTHING,
            start_utc: NOTHING,
            end_utc: NOTHING,
            has_set_back: false,
            removals: 0,
            long: Vec::new(),
            events: Vec::new(),
        };
        events.iter().for_each(|at| chunk.note(*at, table));
        chunk.events = events;
        chunk
    }

    /// Adds an event to the ranges and counts.
    pub(super) fn note(&mut self, at: u32, table: &Table) {
        let Times { start_local, end_local, start_utc, end_utc, .. } = *table.times(at);
        let duration = (end_local - start_local).max(end_utc - start_utc);
        if duration >= LONG && self.long.len() < MAX_LONG {
            self.long.push(at);
            return;
        }
        let number = table.number(at);
        match self.traits.iter_mut().find(|(known, _)| *known == number) {
            Some((_, count)) => *count += 1,
            None => self.traits.push((number, 1)),
        }
        self.start_local.include(start_local);
        self.end_local.include(end_local);
        self.start_utc.include(start_utc);
        self.end_utc.include(end_utc);
        self.has_set_back |= table.set_back(at).is_some();
    }

    /// Removes an event from the counts. Its columns must be the same as when it was added.
    pub(super) fn forget(&mut self, at: u32, table: &Table) {
        let number = table.number(at);
        if let Some(place) = self.long.iter().position(|long| *long == at) {
            self.long.swap_remove(place);
        } else if let Some(place) = self.traits.iter().position(|(known, _)| *known == number) {
            self.traits[place].1 -= 1;
            if self.traits[place].1 == 0 {
                self.traits.swap_remove(place);
            }
        }
        self.removals += 1;
        if self.removals == REMOVALS {
            *self = Chunk::new(std::mem::take(&mut self.events), table);
        }
    }

    /// Checks the events that aren't kept separately against a window.
    fn overlap(&self, wanted: &Wanted<'_>) -> Overlap {
        if wanted.set.is_some() {
            return Overlap::Some;
        }
        let Window { wall, utc } = &wanted.window;
        let local = overlap(wall, self.start_local, self.end_local);
        let local = match wanted.depends_on_clock_changes && self.has_set_back {
            true => Overlap::Some,
            false => local,
        };
        match (local, overlap(utc, self.start_utc, self.end_utc)) {
            (Overlap::None, _) | (_, Overlap::None) => Overlap::None,
            (Overlap::All, Overlap::All) => Overlap::All,
            _ => Overlap::Some,
        }
    }

    pub(super) fn count(&self, wanted: &Wanted<'_>) -> usize {
        let count = |events: &[u32]| events.iter().filter(|at| wanted.has(**at)).count();
        match self.overlap(wanted) {
            Overlap::None => count(&self.long),
            Overlap::All => {
                let traits = self.traits.iter().filter(|(number, _)| wanted.has_traits(*number));
                traits.map(|(_, count)| *count as usize).sum::<usize>() + count(&self.long)
            }
            Overlap::Some => count(&self.events),
        }
    }

    pub(super) fn wanted<'a>(&'a self, wanted: &'a Wanted<'_>) -> impl Iterator<Item = u32> + 'a {
        let events: &[u32] = match self.overlap(wanted) {
            Overlap::None if !self.long.iter().any(|at| wanted.has(*at)) => &[],
            Overlap::None | Overlap::Some | Overlap::All => &self.events,
        };
        events.iter().copied().filter(|at| wanted.has(*at))
    }
}

/// Compares a window's limits with the ranges of starts and ends.
fn overlap(limits: &Limits, start: Range, end: Range) -> Overlap {
    let Limits { start_min, start_max, end_min, end_max, touching, is_overlap: _ } = limits;
    let is_outside = start_min.is_some_and(|bound| start.max < bound)
        || start_max.is_some_and(|bound| start.min > bound)
        || end_min.is_some_and(|bound| end.max < bound)
        || end_max.is_some_and(|bound| end.min > bound);
    let is_inside = start_min.is_none_or(|bound| start.min >= bound)
        && start_max.is_none_or(|bound| start.max <= bound)
        && end_min.is_none_or(|bound| end.min >= bound)
        && end_max.is_none_or(|bound| end.max <= bound)
        && touching.is_none_or(|at| at < end.min || at > end.max || start.min >= at);
    match (is_outside, is_inside) {
        (true, _) => Overlap::None,
        (_, true) => Overlap::All,
        _ => Overlap::Some,
    }
}

/// A list request's condition, prepared for checking many events.
pub struct Wanted<'a> {
    pub(super) table: &'a Table,
    /// For each trait number, whether its events are wanted.
    traits: Vec<bool>,
    pub(super) window: Window,
    pub(super) depends_on_clock_changes: bool,
    /// The exact set of matching events, if known. If it is set, nothing else is checked.
    pub(super) set: Option<RoaringBitmap>,
}

impl<'a> Wanted<'a> {
    /// Matches events in a window with certain trait numbers.
    pub fn new(table: &'a Table, traits: Vec<bool>, window: Window) -> Wanted<'a> {
        let depends_on_clock_changes = window.depends_on_clock_changes();
        Wanted { table, traits, window, depends_on_clock_changes, set: None }
    }

    /// Matches a known set of events.
    pub fn set(table: &'a Table, set: RoaringBitmap) -> Wanted<'a> {
        Wanted { set: Some(set), ..Wanted::new(table, Vec::new(), Window::default()) }
    }

    fn has_traits(&self, number: u32) -> bool {
        self.traits.get(number as usize).is_some_and(|wanted| *wanted)
    }

    /// Returns whether an event matches.
    pub fn has(&self, at: u32) -> bool {
        if let Some(set) = &self.set {
            return set.contains(at);
        }
        if !self.has_traits(self.table.number(at)) {
            return false;
        }
        let Times { start_local, end_local, start_utc, end_utc, .. } = *self.table.times(at);
        let Window { wall, utc } = &self.window;
        let set_back = match self.depends_on_clock_changes {
            true => self.table.set_back(at),
            false => None,
        };
        let is_local = match set_back {
            Some(set_back) => wall.contains_across_set_back(start_local, end_local, *set_back),
            None => wall.contains(start_local, end_local),
        };
        is_local && utc.contains(start_utc, end_utc)
    }
}
