//! Decides which entry to use if a file contains several for the same event.

use std::collections::hash_map::Entry as Slot;
use std::collections::{HashMap, HashSet};
use std::hash::{BuildHasher, RandomState};

use super::component::Component;
use super::moment::reading;
use crate::model::revision::Revision;
use crate::model::schedule::wall_seconds;

/// Reads CREATED as Unix seconds. Returns `None` if it is missing or malformed.
pub fn created_of(component: &Component) -> Option<i64> {
    component.find("CREATED").and_then(|date| reading(&date.value)).map(wall_seconds)
}

/// Reads the revision of an entry, if it has one.
pub fn revision_of(component: &Component) -> Option<Revision> {
    let date = |name: &str| {
        let date = component.find(name).and_then(|date| reading(&date.value));
        date.map(wall_seconds)
    };
    let sequence = component.find("SEQUENCE").and_then(|one| one.value.trim().parse().ok());
    let (modified, stamped) = (date("LAST-MODIFIED"), date("DTSTAMP"));
    let is_named = sequence.is_some() || modified.is_some() || stamped.is_some();
    is_named.then_some(Revision { sequence, modified, stamped })
}

/// Tracks the latest entry for each event in a file, using a constant amount of memory per event.
#[derive(Default)]
pub struct Revisions {
    /// Two hashers make collisions practically impossible.
    hashers: [RandomState; 2],
    /// The latest entries, keyed by both hashes of the UID and occurrence.
    latest: HashMap<[u64; 2], Latest>,
    superseded: HashSet<usize>,
    repeated: HashSet<usize>,
}

struct Latest {
    revision: Revision,
    /// The component's position in the file.
    number: usize,
    /// Hash of DTSTART.
    start: u64,
}

impl Revisions {
    /// Adds an entry. If two entries have the same revision, the later one in the file wins. If
    /// their starts differ, however, they are separate events, because some programs reuse UIDs.
    pub fn take(
        &mut self,
        (uid, replaced): (&str, Option<&str>),
        component: &Component,
        number: usize,
    ) {
        let revision = revision_of(component).unwrap_or_default();
        let name = component.text("DTSTART");
        let start = self.hashers[0].hash_one(&name);
        let latest = Latest { revision, number, start };
        let key = self.hashers.each_ref().map(|hasher| hasher.hash_one((uid, replaced)));
        let known = self.latest.get(&key);
        let is_other = |known: &Latest| known.revision.is_same(&revision) && known.start != start;
        if replaced.is_none() && known.is_some_and(is_other) {
            self.repeated.insert(number);
            return self.take((uid, Some(&name)), component, number);
        }
        let loser = match self.latest.entry(key) {
            Slot::Vacant(slot) => {
                slot.insert(latest);
                return;
            }
            Slot::Occupied(slot) if revision.is_older_than(&slot.get().revision) => number,
            Slot::Occupied(mut slot) => slot.insert(latest).number,
        };
        self.superseded.insert(loser);
    }

    /// Returns the positions of components that have been superseded, and of components that share
    /// their UID with a different event.
    pub fn into_numbers(self) -> (HashSet<usize>, HashSet<usize>) {
        (self.superseded, self.repeated)
    }
}
