//! External ids of events in series whose first dates were removed.
//!
//! A series takes its UID from the external id of its first event. If the dates before that event
//! were removed, this is an occurrence id, and the other events may still have ids with the shorter
//! UID.

use jiff::civil::{Date, DateTime};

use super::series::Series;

impl Series {
    /// Returns the external id that an occurrence's event had before the start of its series was
    /// moved to a later date. Returns `None` if the start was never moved.
    pub fn former_id(&self, occurrence: i64) -> Option<String> {
        let (uid, _) = occurrence_of(&self.uid)?;
        Some(format!("{uid}#{}", self.plan.key(occurrence)))
    }
}

/// Splits the external id of an occurrence's event into the UID of the series and the occurrence's
/// key. Returns `None` for other ids.
pub fn occurrence_of(id: &str) -> Option<(&str, &str)> {
    let (uid, key) = id.rsplit_once('#')?;
    let is_key = match key.len() {
        8 => Date::strptime("%Y%m%d", key).is_ok(),
        16 => DateTime::strptime("%Y%m%dT%H%M%SZ", key).is_ok(),
        _ => false,
    };
    (is_key && !uid.is_empty()).then_some((uid, key))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ids_of_occurrences_are_split() {
        for (id, expected) in [
            ("u#20270406T160000Z", Some(("u", "20270406T160000Z"))),
            ("u#1#20270406", Some(("u#1", "20270406"))),
            ("u#20271406", None),
            ("u#2027", None),
            ("#20270406", None),
            ("u", None),
        ] {
            assert_eq!(occurrence_of(id), expected, "{id}");
        }
    }
}
