//! A snapshot of all events, at one point in the change log.

use std::collections::{HashMap, HashSet};
use std::sync::OnceLock;

use parking_lot::Mutex;

use super::change_log::{Change, LINKS_REMOVED};
use super::columns::Key;
use super::entries::Entry;
use super::links::LinkSets;
use super::order::Order;
use super::table::Table;
use super::words::WordIndex;
use crate::model::event::Links;
use crate::model::search;

/// If more than this number of events have changed, the orders are sorted again rather than
/// updated.
const FEW: usize = 2000;

/// A snapshot of all events, at one point in the change log.
#[derive(Default)]
pub struct Index {
    /// Number of the last change that has been applied.
    pub seq: i64,
    pub table: Table,
    pub words: WordIndex,
    /// Sort orders, indexed by key. Each is created when a list request first needs it.
    orders: [OnceLock<Order>; Key::ALL.len()],
    pub links: Mutex<LinkSets>,
}

impl Index {
    /// Creates an empty index at a point in the change log.
    pub fn at(seq: i64) -> Index {
        Index { seq, ..Index::default() }
    }

    /// Adds or replaces an event, without updating the orders and links. Returns its position, or
    /// `None` if the event is new and doesn't have the greatest id.
    pub fn put(&mut self, entry: &Entry) -> Option<u32> {
        let text = search::fold(&entry.search_ci);
        let title = text.lines().next().unwrap_or_default();
        let Entry { id, traits, times, .. } = entry;
        let at = self.table.put(*id, traits, *times, title, entry.set_back())?;
        self.table.set_series(at, entry.series);
        self.words.add(at, &text);
        Some(at)
    }

    /// Returns the events sorted by a key.
    pub fn order(&self, key: Key) -> &Order {
        self.orders[key as usize].get_or_init(|| Order::new(key, &self.table))
    }

    /// Returns the approximate memory use of columns, titles, words and orders, in bytes.
    pub fn bytes(&self) -> usize {
        let orders: usize = self.orders.iter().filter_map(OnceLock::get).map(Order::bytes).sum();
        self.table.bytes() + self.words.bytes() + orders
    }

    /// Applies the changes up to `seq`, given the current rows of the changed events. `links`
    /// contains their links if any link sets have been loaded.
    ///
    /// Returns `None` if the index must be rebuilt.
    pub fn apply(
        mut self,
        seq: i64,
        changes: &[Change],
        now: &[Entry],
        links: Option<&HashMap<i64, Links>>,
    ) -> Option<Index> {
        let changed: HashSet<i64> = changes.iter().map(|change| change.event_id).collect();
        let known: Vec<u32> = self.table.positions(changed.iter().copied()).collect();
        let is_few = changed.len() <= FEW;
        if !is_few {
            self.orders = Default::default();
        }
        for at in &known {
            self.each_order(|order, table| order.remove(*at, table));
            self.table.remove(*at);
        }
        for Change { event_id, was, .. } in changes {
            if let (Some(was), Some(at)) = (was, self.table.position(*event_id)) {
                self.words.remove(at, &search::fold(was));
            }
        }
        let mut present = Vec::with_capacity(now.len());
        for entry in now {
            present.push((self.put(entry)?, entry.id));
        }
        if self.table.drop_unused_traits() {
            self.orders = Default::default();
        }
        for (at, _) in &present {
            self.each_order(|order, table| order.insert(*at, table));
        }
        let sets = self.links.get_mut();
        match links {
            Some(links) if !changed.contains(&LINKS_REMOVED) => {
                let none = Links::default();
                let links_of = |(at, id): (u32, i64)| (at, links.get(&id).unwrap_or(&none));
                let linked: Vec<(u32, &Links)> = present.into_iter().map(links_of).collect();
                sets.replace_all(&linked);
            }
            _ => sets.clear(),
        }
        self.words.drop_unused();
        self.seq = seq;
        Some(self)
    }

    fn each_order(&mut self, mut change: impl FnMut(&mut Order, &Table)) {
        for order in self.orders.iter_mut().filter_map(OnceLock::get_mut) {
            change(order, &self.table);
        }
    }
}
