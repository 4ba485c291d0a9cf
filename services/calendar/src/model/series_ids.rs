//! External ids of events in series, and their UIDs in calendar files.
//!
//! In a file that contains an occurrence but not its series, the event has its own UID, so that the
//! UID stays the same when the event moves. The series UID is reserved for the entry with the rule.
//! There is an exception if an event became a series and passed its UID on to the series: it is now
//! the first occurrence and keeps that UID even in such files, along with a RECURRENCE-ID. Without
//! the RECURRENCE-ID, the file would replace the whole series.
//!
//! A series takes its UID from the external id of its first event. If earlier occurrences had been
//! removed before that, the UID is an occurrence id, and the other events might still have ids
//! based on the shorter, original UID.

use jiff::civil::{Date, DateTime};

use super::schedule::{instant_from_seconds, wall_seconds};
use super::series::Series;
use super::zone::Zone;

/// Length of UIDs generated for series, in characters.
const NEW_UID: usize = 32;

impl Series {
    /// Returns whether the UID was generated for the series, rather than taken from an event or a
    /// file.
    pub fn has_new_uid(&self) -> bool {
        let is_digit = |byte: u8| matches!(byte, b'0'..=b'9' | b'a'..=b'f');
        self.uid.len() == NEW_UID && self.uid.bytes().all(is_digit)
    }

    /// Returns the external id that an occurrence's event had before the start of its series was
    /// moved to a later date. `None` if the start was never moved.
    pub fn former_id(&self, occurrence: i64) -> Option<String> {
        let (uid, _) = occurrence_of(&self.uid)?;
        Some(format!("{uid}#{}", self.plan.key(occurrence)))
    }
}

/// Splits the external id of an occurrence's event into the series UID and the occurrence's key.
/// Returns `None` for other ids.
pub fn occurrence_of(id: &str) -> Option<(&str, &str)> {
    let (uid, key) = id.rsplit_once('#')?;
    let is_key = match key.len() {
        8 => Date::strptime("%Y%m%d", key).is_ok(),
        16 => DateTime::strptime("%Y%m%dT%H%M%SZ", key).is_ok(),
        _ => false,
    };
    (is_key && !uid.is_empty()).then_some((uid, key))
}

/// Returns the UID that feeds give an event without an external id.
pub fn plain_uid(event: i64, host: &str) -> String {
    format!("{event}@{host}")
}

/// Returns an event's UID in files that don't contain its series.
pub fn single_uid(calendar: &str, event: i64) -> String {
    format!("event-{event}@{calendar}")
}

/// Returns the event identified by a [`single_uid`]. `None` if the UID has another form or comes
/// from another calendar.
pub fn event_of_single(uid: &str, calendar: &str) -> Option<i64> {
    let (name, host) = uid.split_once('@')?;
    name.strip_prefix("event-")?.parse().ok().filter(|_| host == calendar)
}

/// Returns the key in an occurrence id, or an empty string if `id` isn't one.
pub fn key_of(id: &str) -> &str {
    occurrence_of(id).map_or("", |(_, key)| key)
}

/// Converts an occurrence's key to the key of its local day in `zone`. Returns `None` if `key` isn't
/// a time in UTC.
pub fn local_day(key: &str, zone: &Zone) -> Option<String> {
    let at = wall_seconds(DateTime::strptime("%Y%m%dT%H%M%SZ", key).ok()?);
    Some(zone.wall(instant_from_seconds(at)).strftime("%Y%m%d").to_string())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn uids_of_single_dates_return_to_their_events() {
        let uid = single_uid("c1", 7);
        assert_eq!(event_of_single(&uid, "c1"), Some(7));
        for (uid, calendar) in [(&*uid, "c2"), ("7@c1", "c1"), ("event-x@c1", "c1"), ("u", "u")] {
            assert_eq!(event_of_single(uid, calendar), None, "{uid}");
        }
        assert_eq!(occurrence_of(&uid), None);
    }

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
