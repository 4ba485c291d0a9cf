//! Selection among several entries for the same event.

use std::collections::hash_map::Entry as Slot;
use std::collections::{HashMap, HashSet};
use std::hash::{BuildHasher, RandomState};

use jiff::civil::DateTime;

use super::moment::reading;
use super::reader::Component;

/// The revision of an entry. The later one has the higher SEQUENCE, else the later LAST-MODIFIED or
/// DTSTAMP (RFC 5546, 2.1.5).
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Revision {
    sequence: u64,
    modified: Option<DateTime>,
    stamped: Option<DateTime>,
}

impl Revision {
    /// Reads the revision of an entry. Without SEQUENCE it is 0.
    pub fn read(component: &Component) -> Revision {
        let date = |name: &str| component.find(name).and_then(|date| reading(&date.value));
        let stamped = date("DTSTAMP");
        Revision {
            sequence: component.text("SEQUENCE").parse().unwrap_or(0),
            modified: date("LAST-MODIFIED").or(stamped),
            stamped,
        }
    }
}

/// The latest entry for each event of a file, with a fixed amount of memory per event.
#[derive(Default)]
pub struct Revisions {
    /// Two hashers, so the hashes of two events practically never collide.
    hashers: [RandomState; 2],
    /// The revision and component number, by hashes of UID and occurrence.
    latest: HashMap<[u64; 2], (Revision, usize)>,
    superseded: HashSet<usize>,
}

impl Revisions {
    /// Adds an entry. If two revisions are equal, the later entry wins.
    pub fn take(
        &mut self,
        (uid, replaced): (&str, Option<&str>),
        revision: Revision,
        number: usize,
    ) {
        let key = self.hashers.each_ref().map(|hasher| hasher.hash_one((uid, replaced)));
        let loser = match self.latest.entry(key) {
            Slot::Vacant(slot) => {
                slot.insert((revision, number));
                return;
            }
            Slot::Occupied(slot) if revision < slot.get().0 => number,
            Slot::Occupied(mut slot) => slot.insert((revision, number)).1,
        };
        self.superseded.insert(loser);
    }

    /// Returns the numbers of the superseded components.
    pub fn into_superseded(self) -> HashSet<usize> {
        self.superseded
    }
}
