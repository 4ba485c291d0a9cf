//! Revisions of imported entries.

use std::cmp::Ordering;

/// Returns the key under which to store the revisions of a separate entry that has an occurrence id
/// as its UID.
pub fn alone(uid: &str) -> String {
    format!("{uid}~")
}

/// An entry's revision (RFC 5546, 2.1.5). Times are local times expressed as Unix seconds.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Revision {
    /// The SEQUENCE property.
    pub sequence: Option<i64>,
    /// The LAST-MODIFIED property.
    pub modified: Option<i64>,
    /// The DTSTAMP property.
    pub stamped: Option<i64>,
}

impl Revision {
    /// Returns whether another revision of the same entry is later.
    pub fn is_older_than(&self, other: &Revision) -> bool {
        self.by_number(other).then(self.by_date(other)).is_lt()
    }

    /// Returns whether both have the same sequence number and dates. A missing number counts as 0.
    pub fn is_same(&self, other: &Revision) -> bool {
        let dates = |one: &Revision| (one.modified, one.stamped);
        self.sequence.unwrap_or(0) == other.sequence.unwrap_or(0) && dates(self) == dates(other)
    }

    /// Returns this revision. If it has no sequence number, takes over the number from `earlier`.
    #[must_use]
    pub fn after(self, earlier: Option<Revision>) -> Revision {
        let sequence = self.sequence.or(earlier.and_then(|earlier| earlier.sequence));
        Revision { sequence, ..self }
    }

    /// Returns whether this revision is earlier than the revision of another entry in the same
    /// series. If there are no dates to compare, falls back to the sequence numbers.
    pub fn is_before(&self, other: &Revision) -> bool {
        match self.by_date(other) {
            Ordering::Equal if self.stamped.or(self.modified).is_none() => {
                self.by_number(other).is_lt()
            }
            order => order.is_lt(),
        }
    }

    /// Returns whether this revision and the revision of another entry in the same series have the
    /// same dates or, if there are no dates to compare, the same sequence number. With a higher
    /// sequence number, this revision is later.
    pub fn is_simultaneous(&self, other: &Revision) -> bool {
        let is_shared = |one: Option<i64>, other: Option<i64>| one.is_some() && other.is_some();
        match is_shared(self.modified, other.modified) || is_shared(self.stamped, other.stamped) {
            true => self.by_date(other).is_eq() && self.by_number(other).is_le(),
            false => is_shared(self.sequence, other.sequence) && self.by_number(other).is_eq(),
        }
    }

    /// Compares sequence numbers if both revisions have one. Many applications write SEQUENCE in
    /// only some of their files.
    fn by_number(&self, other: &Revision) -> Ordering {
        compare(self.sequence, other.sequence)
    }

    /// Compares the dates that both revisions have.
    fn by_date(&self, other: &Revision) -> Ordering {
        let order = compare(self.modified, other.modified);
        order.then(compare(self.stamped, other.stamped))
    }
}

fn compare(one: Option<i64>, other: Option<i64>) -> Ordering {
    match (one, other) {
        (Some(one), Some(other)) => one.cmp(&other),
        _ => Ordering::Equal,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn missing_number_is_not_older() {
        let revision = |sequence, stamped| Revision { sequence, modified: None, stamped };
        let numbered = revision(Some(2), Some(10));
        assert!(!revision(None, Some(11)).is_older_than(&numbered));
        assert!(!revision(None, None).is_older_than(&numbered));
        assert!(revision(None, Some(9)).is_older_than(&numbered));
        assert!(revision(Some(1), Some(11)).is_older_than(&numbered));
        // The earlier revision's number isn't lost.
        let later = revision(None, Some(11)).after(Some(numbered));
        assert_eq!(later, revision(Some(2), Some(11)));
    }

    #[test]
    fn simultaneous_revisions_share_a_date_or_else_a_number() {
        let revision = |sequence, stamped| Revision { sequence, modified: None, stamped };
        let one = revision(Some(1), Some(10));
        assert!(one.is_simultaneous(&revision(Some(2), Some(10))));
        assert!(!one.is_simultaneous(&revision(Some(0), Some(10))));
        assert!(!one.is_simultaneous(&revision(Some(1), Some(11))));
        assert!(one.is_simultaneous(&revision(Some(1), None)));
        assert!(!one.is_simultaneous(&revision(None, None)));
        assert!(!revision(None, None).is_simultaneous(&revision(None, None)));
    }
}
