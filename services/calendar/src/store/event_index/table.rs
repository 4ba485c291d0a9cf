//! Columns of all events, by position. Positions are assigned in id order, without gaps.

use std::cmp::Ordering;
use std::collections::HashMap;

use super::columns::{Key, Times, Traits};
use super::titles::Titles;
use crate::model::window::SetBack;

/// The trait number for the position of a removed event.
const GONE: u32 = u32::MAX;

/// Unused traits are only dropped if there are more than this many.
const MAX_UNUSED: usize = 10_000;

/// Columns of all events, by position.
#[derive(Default)]
pub struct Table {
    ids: Vec<i64>,
    times: Vec<Times>,
    /// Index into `traits`, by position.
    numbers: Vec<u32>,
    titles: Titles,
    /// Clock changes during events, by position.
    set_backs: HashMap<u32, SetBack>,
    /// Series ids, by position. They are negative for cancelled events.
    series: HashMap<u32, i64>,
    /// The distinct combinations of traits.
    traits: Vec<Traits>,
    known: HashMap<Traits, u32>,
}

impl Table {
    pub fn len(&self) -> usize {
        self.ids.len()
    }

    /// Returns the approximate memory use in bytes. Doesn't include the traits, which are shared
    /// between events.
    pub fn bytes(&self) -> usize {
        const OF_AN_EVENT: usize = size_of::<i64>() + size_of::<Times>() + size_of::<u32>();
        self.ids.capacity() * OF_AN_EVENT + self.titles.bytes()
    }

    /// Returns the id at the last position, if any.
    pub fn last_id(&self) -> Option<i64> {
        self.ids.last().copied()
    }

    /// Returns an event's position, or `None` if the id is unknown.
    pub fn position(&self, id: i64) -> Option<u32> {
        self.ids.binary_search(&id).ok().map(number)
    }

    /// Returns the positions for a list of ids. Unknown ids are skipped.
    pub fn positions(&self, ids: impl IntoIterator<Item = i64>) -> impl Iterator<Item = u32> {
        ids.into_iter().filter_map(|id| self.position(id))
    }

    pub fn id(&self, at: u32) -> i64 {
        self.ids[at as usize]
    }

    pub fn times(&self, at: u32) -> &Times {
        &self.times[at as usize]
    }

    pub fn number(&self, at: u32) -> u32 {
        self.numbers[at as usize]
    }

    /// Returns all traits, indexed by trait number.
    pub fn traits(&self) -> &[Traits] {
        &self.traits
    }

    /// Returns the local times that are repeated during the event, if any.
    pub fn set_back(&self, at: u32) -> Option<&SetBack> {
        self.set_backs.get(&at)
    }

    /// Returns an event's series, if any, and whether the event is cancelled.
    pub fn series(&self, at: u32) -> Option<(i64, bool)> {
        self.series.get(&at).map(|id| (id.abs(), *id < 0))
    }

    pub fn set_series(&mut self, at: u32, series: Option<i64>) {
        match series {
            Some(series) => self.series.insert(at, series),
            None => self.series.remove(&at),
        };
    }

    /// Returns the positions of all existing events.
    pub fn all(&self) -> impl Iterator<Item = u32> {
        let all = (0..).zip(&self.numbers);
        all.filter(|(_, number)| **number != GONE).map(|(at, _)| at)
    }

    /// Returns the number of events per status. A status can appear more than once.
    pub fn statuses(&self) -> impl Iterator<Item = (&str, usize)> {
        let mut counts = vec![0; self.traits.len()];
        for at in self.all() {
            counts[self.number(at) as usize] += 1;
        }
        self.traits.iter().map(|traits| traits.status.as_str()).zip(counts)
    }

    /// Adds or replaces an event. Returns its position, or `None` if the id is new and smaller than
    /// an existing one.
    pub fn put(
        &mut self,
        id: i64,
        traits: &Traits,
        times: Times,
        title: &str,
        set_back: Option<SetBack>,
    ) -> Option<u32> {
        let at = match self.position(id) {
            Some(at) => at,
            None if self.last_id().is_none_or(|last| last < id) => {
                self.ids.push(id);
                self.times.push(times);
                self.numbers.push(GONE);
                number(self.ids.len() - 1)
            }
            None => return None,
        };
        let place = at as usize;
        self.times[place] = times;
        self.numbers[place] = self.intern(traits);
        self.titles.put(place, title);
        match set_back {
            Some(set_back) => self.set_backs.insert(at, set_back),
            None => self.set_backs.remove(&at),
        };
        Some(at)
    }

    pub fn remove(&mut self, at: u32) {
        self.numbers[at as usize] = GONE;
    }

    fn intern(&mut self, traits: &Traits) -> u32 {
        if let Some(known) = self.known.get(traits) {
            return *known;
        }
        let new = number(self.traits.len());
        self.traits.push(traits.clone());
        self.known.insert(traits.clone(), new);
        new
    }

    /// Drops unused traits if there are many of them. Returns whether trait numbers have changed.
    pub fn drop_unused_traits(&mut self) -> bool {
        if self.traits.len() <= self.len() + MAX_UNUSED {
            return false;
        }
        let old = std::mem::take(&mut self.traits);
        self.known.clear();
        for place in 0..self.numbers.len() {
            if let Some(traits) = old.get(self.numbers[place] as usize) {
                self.numbers[place] = self.intern(traits);
            }
        }
        true
    }

    pub fn compare(&self, key: Key, a: u32, b: u32) -> Ordering {
        let primary = match key {
            Key::Title => self.titles.get(a as usize).cmp(self.titles.get(b as usize)),
            key => key.compare(self.times(a), self.times(b)),
        };
        primary.then(a.cmp(&b))
    }

    /// Returns whether two events tie. Descending order doesn't reverse ties.
    pub fn ties(&self, key: Key, a: u32, b: u32) -> bool {
        match key {
            Key::Start => self.times(a).start_local == self.times(b).start_local,
            Key::Title => self.titles.get(a as usize) == self.titles.get(b as usize),
            Key::Id => a == b,
            key => key.compare(self.times(a), self.times(b)) == Ordering::Equal,
        }
    }

    /// Returns all events, sorted by a key.
    pub fn sorted(&self, key: Key) -> Vec<u32> {
        match key {
            Key::Start => self.sorted_by(|at| {
                let times = self.times(at);
                (times.start_local, times.published_utc)
            }),
            Key::Date => self.sorted_by(|at| self.times(at).published_utc),
            Key::Modified => self.sorted_by(|at| self.times(at).modified_utc),
            Key::Id => self.all().collect(),
            Key::Title => {
                let head = |at: u32| self.titles.head(at as usize);
                let mut all: Vec<(u64, u32)> = self.all().map(|at| (head(at), at)).collect();
                all.sort_unstable_by(|a, b| {
                    a.0.cmp(&b.0).then_with(|| self.compare(Key::Title, a.1, b.1))
                });
                all.into_iter().map(|(_, at)| at).collect()
            }
        }
    }

    fn sorted_by<K: Ord>(&self, key: impl Fn(u32) -> K) -> Vec<u32> {
        let mut all: Vec<(K, u32)> = self.all().map(|at| (key(at), at)).collect();
        all.sort_unstable();
        all.into_iter().map(|(_, at)| at).collect()
    }
}

fn number(place: usize) -> u32 {
    u32::try_from(place).unwrap_or(GONE)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn traits(status: String) -> Traits {
        Traits { status, ..Traits::default() }
    }

    #[test]
    fn many_custom_statuses_keep_their_numbers_until_they_are_unused() {
        let mut table = Table::default();
        for id in 0..70_000 {
            table.put(id, &traits(format!("free {id}")), Times::default(), "", None);
        }
        assert_eq!(table.traits()[table.number(69_999) as usize].status, "free 69999");
        assert!(!table.drop_unused_traits());
        for id in 0..70_000 {
            table.put(id, &traits(format!("later {}", id % 3)), Times::default(), "", None);
            table.put(id, &traits(format!("other {id}")), Times::default(), "", None);
        }
        assert!(table.drop_unused_traits());
        assert_eq!(table.traits().len(), 70_000);
        assert_eq!(table.traits()[table.number(69_999) as usize].status, "other 69999");
    }

    #[test]
    fn new_id_below_another_one_is_refused() {
        let mut table = Table::default();
        let none = Traits::default();
        assert_eq!(table.put(7, &none, Times::default(), "", None), Some(0));
        assert_eq!(table.put(5_000_000_000, &none, Times::default(), "", None), Some(1));
        assert_eq!(table.put(9, &none, Times::default(), "", None), None);
        assert_eq!((table.len(), table.position(5_000_000_000)), (2, Some(1)));
    }
}
