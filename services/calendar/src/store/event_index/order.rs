//! A sort order of all events, split into chunks.

use super::chunk::{Chunk, Wanted};
use super::columns::Key;
use super::table::Table;
use crate::model::list::Slice;
use crate::store::conditions::start_range;

/// Number of events in a new chunk.
const CHUNK: usize = 512;

/// Chunks are split when they reach this number of events.
const FULL: usize = 2 * CHUNK;

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

    /// Returns the index of the chunk that contains an event, or that it would be inserted into,
    /// and the position within that chunk.
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

    /// Returns the chunks that might contain matches.
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
        // In descending order, chunks with events that tie must be processed together.
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
    use super::super::columns::{Times, Traits};
    use super::*;
    use crate::model::window::{Limits, SetBack, Window};

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
