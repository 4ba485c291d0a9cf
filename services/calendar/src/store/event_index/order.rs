//! A sort order of all events, split into chunks. Each chunk stores its date ranges and the number
//! of events per trait number, so most chunks can be counted or skipped without looking at
//! individual events.

use roaring::RoaringBitmap;

use super::columns::{Key, Times};
use super::table::Table;
use crate::model::list::Slice;
use crate::model::window::{Limits, Window};
use crate::store::conditions::start_range;

/// Number of events in a new chunk.
const CHUNK: usize = 512;

/// Chunks are split when they reach this number of events.
const FULL: usize = 2 * CHUNK;

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
struct Chunk {
    events: Vec<u32>,
    /// The first few long events. They would make the ranges too wide, so they are checked
    /// individually. The fields below only cover the other events.
    long: Vec<u32>,
    /// Trait numbers and how many events have each.
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
    fn new(events: Vec<u32>, table: &Table) -> Chunk {
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
    fn note(&mut self, at: u32, table: &Table) {
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
    fn forget(&mut self, at: u32, table: &Table) {
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

    fn count(&self, wanted: &Wanted<'_>) -> usize {
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

    fn wanted<'a>(&'a self, wanted: &'a Wanted<'_>) -> impl Iterator<Item = u32> + 'a {
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

/// The condition of a list request, prepared for checking many events.
pub struct Wanted<'a> {
    table: &'a Table,
    /// For each trait number, whether its events are wanted.
    traits: Vec<bool>,
    window: Window,
    depends_on_clock_changes: bool,
    /// The exact set of matching events, if known. In that case, nothing else is checked.
    set: Option<RoaringBitmap>,
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

/// All events in a sort order.
pub struct Order {
    key: Key,
    chunks: Vec<Chunk>,
}

impl Order {
    /// Sorts all events.
    pub fn new(key: Key, table: &Table) -> Order {
        let sorted = table.sorted(key);
        let chunks = sorted.chunks(CHUNK).map(|events| Chunk::new(events.to_vec(), table));
        Order { key, chunks: chunks.collect() }
    }

    /// Returns the approximate memory use in bytes.
    pub fn bytes(&self) -> usize {
        let of_a_chunk =
            |chunk: &Chunk| size_of::<Chunk>() + chunk.events.capacity() * size_of::<u32>();
        self.chunks.iter().map(of_a_chunk).sum()
    }

    /// Returns the index of the chunk that contains an event or should contain it, and the position
    /// within that chunk.
    fn find(&self, at: u32, table: &Table) -> (usize, Result<usize, usize>) {
        let before = |other: &u32| table.compare(self.key, *other, at).is_lt();
        let chunk = self.chunks.partition_point(|chunk| chunk.events.last().is_some_and(before));
        let chunk = chunk.min(self.chunks.len().saturating_sub(1));
        let Some(Chunk { events, .. }) = self.chunks.get(chunk) else { return (0, Err(0)) };
        (chunk, events.binary_search_by(|other| table.compare(self.key, *other, at)))
    }

    pub fn insert(&mut self, at: u32, table: &Table) {
        let (place, Err(inside)) = self.find(at, table) else { return };
        let Some(chunk) = self.chunks.get_mut(place) else {
            self.chunks.push(Chunk::new(vec![at], table));
            return;
        };
        chunk.events.insert(inside, at);
        if chunk.events.len() < FULL {
            chunk.note(at, table);
            return;
        }
        let later = chunk.events.split_off(CHUNK);
        *chunk = Chunk::new(std::mem::take(&mut chunk.events), table);
        self.chunks.insert(place + 1, Chunk::new(later, table));
    }

    /// Removes an event. Its columns must be the same as when it was inserted.
    pub fn remove(&mut self, at: u32, table: &Table) {
        let (place, Ok(inside)) = self.find(at, table) else { return };
        let chunk = &mut self.chunks[place];
        chunk.events.remove(inside);
        chunk.forget(at, table);
        if chunk.events.is_empty() {
            self.chunks.remove(place);
        }
    }

    /// Returns the chunks that may contain matches.
    fn chunks(&self, wanted: &Wanted<'_>) -> &[Chunk] {
        if self.key != Key::Start || wanted.set.is_some() || wanted.depends_on_clock_changes {
            return &self.chunks;
        }
        let start = |at: &u32| wanted.table.times(*at).start_local;
        let (min, max) = start_range(&wanted.window);
        let from = min.map_or(0, |min| {
            self.chunks.partition_point(|one| one.events.last().is_some_and(|at| start(at) < min))
        });
        let to = max.map_or(self.chunks.len(), |max| {
            self.chunks.partition_point(|one| one.events.first().is_some_and(|at| start(at) <= max))
        });
        &self.chunks[from.min(to)..to]
    }

    pub fn count(&self, wanted: &Wanted<'_>) -> usize {
        self.chunks(wanted).iter().map(|chunk| chunk.count(wanted)).sum()
    }

    /// Returns all matching events.
    pub fn all(&self, wanted: &Wanted<'_>) -> Vec<u32> {
        self.chunks(wanted).iter().flat_map(|chunk| chunk.wanted(wanted)).collect()
    }

    /// Returns a slice of the matching events. Ties keep their order even if the list is
    /// descending.
    pub fn slice(&self, wanted: &Wanted<'_>, descending: bool, slice: Slice) -> Vec<u32> {
        let (mut skip, mut take) = (size(slice.skip), size(slice.take));
        let chunks = self.chunks(wanted);
        let is_cut =
            |before: &Chunk, after: &Chunk| match (before.events.last(), after.events.first()) {
                (Some(last), Some(first)) => !wanted.table.ties(self.key, *last, *first),
                _ => true,
            };
        // In descending order, chunks that share a tie must be processed together.
        let runs = chunks.chunk_by(|before, after| descending && !is_cut(before, after));
        let runs: Box<dyn Iterator<Item = &[Chunk]>> = match descending == slice.backwards {
            true => Box::new(runs),
            false => Box::new(runs.rev()),
        };
        let mut found = Vec::new();
        for run in runs {
            if take == 0 {
                break;
            }
            let count: usize = run.iter().map(|chunk| chunk.count(wanted)).sum();
            if skip >= count {
                skip -= count;
                continue;
            }
            let mut events: Vec<u32> = run.iter().flat_map(|chunk| chunk.wanted(wanted)).collect();
            if descending != slice.backwards {
                events.reverse();
            }
            if descending {
                let ties = |a: &u32, b: &u32| wanted.table.ties(self.key, *a, *b);
                events.chunk_by_mut(ties).for_each(<[u32]>::reverse);
            }
            let before = found.len();
            found.extend(events.into_iter().skip(skip).take(take));
            (skip, take) = (0, take - (found.len() - before));
        }
        if slice.backwards {
            found.reverse();
        }
        found
    }

    /// Returns the first matching events after a position, and the total number of matches after
    /// it.
    pub fn after(
        &self,
        wanted: &Wanted<'_>,
        is_after: impl Fn(u32) -> bool,
        most: usize,
    ) -> (Vec<u32>, usize) {
        let after = |chunk: &Chunk| chunk.events.last().is_none_or(|at| is_after(*at));
        let first = self.chunks.partition_point(|chunk| !after(chunk));
        let (mut found, mut total) = (Vec::new(), 0);
        for (place, chunk) in self.chunks[first..].iter().enumerate() {
            if place > 0 && found.len() >= most {
                total += chunk.count(wanted);
                continue;
            }
            for at in chunk.wanted(wanted).filter(|at| is_after(*at)) {
                total += 1;
                if found.len() < most {
                    found.push(at);
                }
            }
        }
        (found, total)
    }
}

fn size(rows: i64) -> usize {
    usize::try_from(rows).unwrap_or(usize::MAX)
}

#[cfg(test)]
mod tests {
    use super::super::columns::Traits;
    use super::*;
    use crate::model::window::SetBack;

    /// A simple pseudorandom number generator.
    struct Dice(u64);

    impl Dice {
        fn roll(&mut self, sides: u64) -> i64 {
            self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
            i64::try_from((self.0 >> 33) % sides).unwrap()
        }
    }

    fn put(table: &mut Table, id: i64, dice: &mut Dice) -> u32 {
        let start = dice.roll(300);
        let end = start + if dice.roll(10) == 0 { dice.roll(2 * 200_000) } else { dice.roll(10) };
        let traits = Traits { author_id: dice.roll(4), ..Traits::default() };
        let times = Times {
            start_local: start,
            end_local: end,
            start_utc: start + 1,
            end_utc: end + 1,
            published_utc: dice.roll(20),
            modified_utc: dice.roll(1000),
        };
        let title = format!("title {}", dice.roll(50));
        let set_back = (dice.roll(100) == 0).then_some(SetBack { from: start + 5, to: start + 3 });
        table.put(id, &traits, times, &title, set_back).unwrap()
    }

    fn windows(dice: &mut Dice) -> [Window; 4] {
        let (first, second) = (Some(dice.roll(300)), Some(dice.roll(300)));
        let inside = Limits { start_min: first, end_max: second, ..Limits::default() };
        let across =
            Limits { end_min: first, start_max: second, touching: first, ..Limits::default() };
        let strict = Limits { is_overlap: true, ..across };
        let utc = Window { utc: inside, ..Window::default() };
        [Window::on_wall(inside), Window::on_wall(across), Window::on_wall(strict), utc]
    }

    #[test]
    fn changed_order_matches_a_sorted_list() {
        const EVENTS: i64 = 3000;
        let mut dice = Dice(7);
        let mut table = Table::default();
        for id in 0..EVENTS {
            put(&mut table, 2 * id, &mut dice);
        }
        let mut orders = Key::ALL.map(|key| Order::new(key, &table));
        for round in 0..2000 {
            let id = if round % 4 == 0 { 2 * (EVENTS + round) } else { 2 * dice.roll(3000) };
            let known = table.position(id);
            for order in &mut orders {
                known.into_iter().for_each(|at| order.remove(at, &table));
            }
            known.into_iter().for_each(|at| table.remove(at));
            if round % 7 != 0 {
                let at = put(&mut table, id, &mut dice);
                orders.iter_mut().for_each(|order| order.insert(at, &table));
            }
            if round % 100 > 0 {
                continue;
            }
            for window in windows(&mut dice) {
                let traits: Vec<bool> =
                    table.traits().iter().map(|one| one.author_id != round % 4).collect();
                let wanted = Wanted::new(&table, traits, window);
                for order in &orders {
                    let mut all: Vec<u32> = table.all().filter(|at| wanted.has(*at)).collect();
                    all.sort_by(|a, b| table.compare(order.key, *a, *b));
                    assert_eq!(order.count(&wanted), all.len(), "{:?} {window:?}", order.key);
                    assert_eq!(order.all(&wanted), all, "{:?} {window:?}", order.key);
                    let mut down: Vec<&[u32]> =
                        all.chunk_by(|a, b| table.ties(order.key, *a, *b)).collect();
                    down.reverse();
                    let down = down.concat();
                    for (list, descending) in [(&all, false), (&down, true)] {
                        let (skip, take) = (dice.roll(700), 1 + dice.roll(40));
                        let from = size(skip).min(list.len());
                        let to = size(skip + take).min(list.len());
                        let slice = Slice { skip, take, backwards: false };
                        assert_eq!(order.slice(&wanted, descending, slice), list[from..to]);
                        let slice = Slice { backwards: true, ..slice };
                        let wanted_rows = &list[list.len() - to..list.len() - from];
                        assert_eq!(order.slice(&wanted, descending, slice), wanted_rows);
                    }
                }
            }
        }
    }
}
