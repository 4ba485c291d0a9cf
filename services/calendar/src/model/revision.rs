//! Revisions of imported entries.

use std::cmp::Ordering;

/// The revision of an entry (RFC 5546, 2.1.5). Times are local times in Unix seconds.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Revision {
    /// SEQUENCE, or 0.
    pub sequence: i64,
    /// LAST-MODIFIED.
    pub modified: Option<i64>,
    /// DTSTAMP.
    pub stamped: Option<i64>,
}

impl Revision {
    /// Returns whether another revision of the same entry is later.
    pub fn is_older_than(&self, other: &Revision) -> bool {
        let order = self.sequence.cmp(&other.sequence);
        order.then(self.by_date(other)).is_lt()
    }

    /// Returns whether the revision of another entry of the same series is later. The numbers of
    /// two entries are only compared if they have no dates.
    pub fn is_before(&self, other: &Revision) -> bool {
        match self.by_date(other) {
            Ordering::Equal if self.stamped.or(self.modified).is_none() => {
                self.sequence < other.sequence
            }
            order => order.is_lt(),
        }
    }

    /// Compares the dates that both have.
    fn by_date(&self, other: &Revision) -> Ordering {
        let compare = |one: Option<i64>, other: Option<i64>| match (one, other) {
            (Some(one), Some(other)) => one.cmp(&other),
            _ => Ordering::Equal,
        };
        let order = compare(self.modified, other.modified);
        order.then(compare(self.stamped, other.stamped))
    }
}
