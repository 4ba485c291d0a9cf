//! The data that the index keeps for each event, and the orders of lists.

use std::cmp::Ordering;
use std::collections::{HashMap, HashSet};

use super::entries::{Change, Columns, Entry};
use super::event_set::EventSet;
use super::posting::Posting;
use super::vocabulary::Vocabulary;
use crate::model::list::EventOrder;
use crate::model::search;
use crate::model::status::{Stage, Status};
use crate::model::window::SetBack;

/// With more changes than this at once, the orders are sorted again.
const FEW: usize = 64;

/// Memory of a word, excluding its text, in bytes: its number, position and posting.
const WORD_BYTES: usize = 128;

/// Bytes of words without events that are always kept.
const MAX_UNUSED: usize = 4 << 20;

/// The columns of an event that lists filter by, in addition to its words.
#[derive(Clone, Debug, Default)]
pub struct Row {
    /// False if the id belongs to another kind of resource.
    pub exists: bool,
    /// An index into [`Index::statuses`].
    pub status: u16,
    pub columns: Columns,
}

/// All events at one state of the change log.
#[derive(Default)]
pub struct Index {
    /// The last applied change.
    pub seq: i64,
    /// By id.
    pub rows: Vec<Row>,
    /// Events during which the clock is set back, by id.
    pub set_backs: HashMap<u32, SetBack>,
    /// Folded titles by id.
    titles: Vec<Box<str>>,
    pub statuses: Vec<String>,
    vocabulary: Vocabulary,
    /// Postings by word number.
    postings: Vec<Posting>,
    /// Bytes of words that occur in events.
    used: usize,
    /// Bytes of words that no event contains any more.
    unused: usize,
    /// Ids by start, by publication date and by title.
    orders: [Vec<u32>; 3],
}

impl Index {
    /// Returns an empty index at a state of the log.
    pub fn at(seq: i64) -> Index {
        // The known statuses come first, so custom ones never take their numbers.
        let statuses = Stage::ALL.map(|stage| Status::of(stage).as_str().to_owned()).to_vec();
        Index { seq, statuses, ..Index::default() }
    }

    /// Adds an event. `fill_orders` sorts it into the orders later.
    pub fn add(&mut self, entry: Entry) {
        let Ok(id) = u32::try_from(entry.id) else { return };
        let status = self.status(&entry.status);
        let text = search::fold(&entry.search_ci);
        let words: HashSet<&str> = text.split_whitespace().collect();
        for word in words {
            let number = self.vocabulary.number(word) as usize;
            if number >= self.postings.len() {
                self.postings.resize_with(number + 1, Posting::default);
                self.used += bytes(word);
            } else if self.postings[number].len() == 0 {
                self.used += bytes(word);
                self.unused -= bytes(word);
            }
            self.postings[number].insert(id);
        }
        let place = id as usize;
        if place >= self.rows.len() {
            self.rows.resize_with(place + 1, Row::default);
            self.titles.resize_with(place + 1, Box::default);
        }
        match entry.set_back() {
            Some(set_back) => self.set_backs.insert(id, set_back),
            None => self.set_backs.remove(&id),
        };
        self.titles[place] = text.lines().next().unwrap_or_default().into();
        self.rows[place] = Row { exists: true, status, columns: entry.columns };
    }

    fn status(&mut self, status: &str) -> u16 {
        let known = self.statuses.iter().position(|known| known == status);
        let place = known.unwrap_or_else(|| {
            self.statuses.push(status.to_owned());
            self.statuses.len() - 1
        });
        u16::try_from(place).unwrap_or(u16::MAX)
    }

    /// Applies changes up to `seq`, given the current rows of the changed events.
    pub fn apply(&mut self, seq: i64, changes: &[Change], now: Vec<Entry>) {
        let changed: HashSet<u32> =
            changes.iter().filter_map(|change| u32::try_from(change.event_id).ok()).collect();
        if changed.len() <= FEW {
            changed.iter().for_each(|id| self.leave_orders(*id));
        } else {
            for order in &mut self.orders {
                order.retain(|id| !changed.contains(id));
            }
        }
        for id in &changed {
            if let Some(row) = self.rows.get_mut(*id as usize) {
                row.exists = false;
            }
        }
        for change in changes {
            self.forget(change);
        }
        now.into_iter().for_each(|entry| self.add(entry));
        let present = changed.into_iter().filter(|id| self.exists(*id)).collect::<Vec<_>>();
        if present.len() <= FEW {
            present.into_iter().for_each(|id| self.enter_orders(id));
        } else {
            self.orders.iter_mut().for_each(|order| order.extend(&present));
            self.sort();
        }
        if self.unused > self.used.max(MAX_UNUSED) {
            self.drop_unused_words();
        }
        self.seq = seq;
    }

    /// Drops the words that no event contains any more and renumbers the others.
    fn drop_unused_words(&mut self) {
        let (mut vocabulary, mut postings) = (Vocabulary::default(), Vec::new());
        for (word, posting) in self.vocabulary.words().zip(std::mem::take(&mut self.postings)) {
            if posting.len() > 0 {
                vocabulary.number(word);
                postings.push(posting);
            }
        }
        (self.vocabulary, self.postings, self.unused) = (vocabulary, postings, 0);
    }

    /// Removes an event from the words that it had before a change.
    fn forget(&mut self, change: &Change) {
        let (Some(was), Ok(id)) = (&change.was, u32::try_from(change.event_id)) else { return };
        for word in search::fold(was).split_whitespace() {
            let Some(number) = self.vocabulary.find(word) else { continue };
            let posting = &mut self.postings[number as usize];
            let before = posting.len();
            posting.remove(id);
            if before > 0 && posting.len() == 0 {
                self.used -= bytes(word);
                self.unused += bytes(word);
            }
        }
    }

    fn columns(&self, id: u32) -> &Columns {
        &self.rows[id as usize].columns
    }

    fn exists(&self, id: u32) -> bool {
        self.rows.get(id as usize).is_some_and(|row| row.exists)
    }

    /// Builds all orders.
    pub fn fill_orders(&mut self) {
        let ids: Vec<u32> =
            (0..).zip(&self.rows).filter(|(_, row)| row.exists).map(|(id, _)| id).collect();
        self.orders = [ids.clone(), ids.clone(), ids];
        self.sort();
    }

    fn sort(&mut self) {
        let mut orders = std::mem::take(&mut self.orders);
        for (order, ids) in ORDERS.into_iter().zip(&mut orders) {
            ids.sort_by(|a, b| self.compare(order, *a, *b).then(a.cmp(b)));
        }
        self.orders = orders;
    }

    /// Returns the position of an event in an order, or where it would be inserted.
    fn place(&self, at: usize, id: u32) -> Result<usize, usize> {
        self.orders[at]
            .binary_search_by(|other| self.compare(ORDERS[at], *other, id).then(other.cmp(&id)))
    }

    fn leave_orders(&mut self, id: u32) {
        for at in 0..ORDERS.len() {
            if self.exists(id)
                && let Ok(place) = self.place(at, id)
            {
                self.orders[at].remove(place);
            }
        }
    }

    fn enter_orders(&mut self, id: u32) {
        for at in 0..ORDERS.len() {
            if let Err(place) = self.place(at, id) {
                self.orders[at].insert(place, id);
            }
        }
    }

    /// Compares two events by the primary key of an order. Ties are left to the later keys.
    fn compare(&self, order: EventOrder, a: u32, b: u32) -> Ordering {
        let (x, y) = (self.columns(a), self.columns(b));
        match order {
            EventOrder::Start => {
                x.start_local.cmp(&y.start_local).then(x.published_utc.cmp(&y.published_utc))
            }
            EventOrder::Date => x.published_utc.cmp(&y.published_utc),
            EventOrder::Title => self.titles[a as usize].cmp(&self.titles[b as usize]),
            EventOrder::Id => a.cmp(&b),
        }
    }

    /// Returns whether two events are equal in the key that a descending order reverses.
    fn ties(&self, order: EventOrder, a: u32, b: u32) -> bool {
        match order {
            EventOrder::Start => self.columns(a).start_local == self.columns(b).start_local,
            order => self.compare(order, a, b) == Ordering::Equal,
        }
    }

    /// Returns a slice of a set of events in an order. A descending order keeps the order of ties.
    pub fn in_order(
        &self,
        set: &EventSet,
        (order, descending): (EventOrder, bool),
        skip: usize,
        take: usize,
    ) -> Vec<i64> {
        let all = || 0..u32::try_from(self.rows.len()).unwrap_or(u32::MAX);
        let wanted = |id: &u32| set.contains(*id);
        let ids = match ORDERS.iter().position(|known| *known == order) {
            None if descending => page(all().rev().filter(wanted), skip, take),
            None => page(all().filter(wanted), skip, take),
            Some(at) if descending => {
                let groups = self.orders[at].chunk_by(|a, b| self.ties(order, *a, *b)).rev();
                page(groups.flatten().copied().filter(wanted), skip, take)
            }
            Some(at) => page(self.orders[at].iter().copied().filter(wanted), skip, take),
        };
        ids.into_iter().map(i64::from).collect()
    }

    /// Returns the numbers of the words that contain a substring, and how many events have them.
    pub fn words_with(&self, part: &str) -> (Vec<usize>, usize) {
        let words = self.vocabulary.with_part(part);
        let events = words.iter().map(|word| self.postings[*word].len()).sum();
        (words, events)
    }

    /// Returns the events that have one of these words.
    pub fn events_with(&self, words: &[usize]) -> EventSet {
        let mut set = EventSet::with_room(self.rows.len());
        for word in words {
            self.postings[*word].add_to(&mut set);
        }
        set
    }
}

/// The orders that are stored. The order by id needs no storage.
const ORDERS: [EventOrder; 3] = [EventOrder::Start, EventOrder::Date, EventOrder::Title];

/// Returns the memory that a word takes in the index.
fn bytes(word: &str) -> usize {
    word.len() + WORD_BYTES
}

fn page(ids: impl Iterator<Item = u32>, skip: usize, take: usize) -> Vec<u32> {
    ids.skip(skip).take(take).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn entry(id: i64, text: &str) -> Entry {
        let (status, search_ci) = ("draft".to_owned(), text.to_owned());
        Entry { id, status, search_ci, set_back_zone: None, columns: Columns::default() }
    }

    fn found(index: &Index, word: &str) -> Vec<u32> {
        index.events_with(&index.words_with(word).0).iter().collect()
    }

    #[test]
    fn words_without_events_are_dropped() {
        let mut index = Index::at(0);
        index.add(entry(1, "kept shared"));
        index.add(entry(2, "old shared"));
        index.fill_orders();
        let text = |round: i64| {
            let words = (0..20_000).map(|word| format!("w{round}x{word}y"));
            words.chain(["shared".to_owned()]).collect::<Vec<_>>().join(" ")
        };
        let mut was = "old shared".to_owned();
        let mut most = 0;
        for round in 1..=20 {
            let now = text(round);
            let change = Change { event_id: 2, was: Some(was) };
            index.apply(round, &[change], vec![entry(2, &now)]);
            most = most.max(index.vocabulary.words().count());
            assert_eq!(found(&index, "shared"), [1, 2]);
            assert_eq!(found(&index, "kept"), [1]);
            assert_eq!(found(&index, &format!("w{round}x7y")), [2]);
            assert_eq!(found(&index, &format!("w{}x7y", round - 1)), [0_u32; 0]);
            was = now;
        }
        assert!(most < 100_000, "{most}");
        // A word that returns before it is dropped counts as used again.
        let change = Change { event_id: 2, was: Some(was) };
        index.apply(21, &[change], vec![entry(2, "old shared")]);
        let words = ["kept", "shared", "old"];
        assert_eq!(index.used, words.map(bytes).iter().sum::<usize>());
        assert_eq!(found(&index, "old"), [2]);
    }

    #[test]
    fn known_statuses_keep_their_numbers_among_many_custom_ones() {
        let mut index = Index::at(0);
        for id in 0..70_000 {
            let status = format!("free {id}");
            index.statuses.push(status);
        }
        assert!(index.status("trash") < 6);
    }
}
