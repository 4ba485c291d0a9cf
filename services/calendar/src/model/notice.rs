//! Webhook notices about events or series that were created, changed, published or deleted.

use serde_json::json;

use super::event::Event;
use super::schedule::instant_from_seconds;

/// How an event changed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Notice {
    /// The event was created.
    Created,
    /// The event was changed.
    Changed,
    /// The event was published.
    Published,
    /// The event was trashed.
    Deleted,
}

impl Notice {
    /// Returns the notices for a change. `old` is the event before the change, if it existed.
    pub fn of(old: Option<&Event>, new: &Event) -> Vec<Notice> {
        let was_published = old.is_some_and(|old| old.status.is_published());
        let was_trashed = old.is_some_and(|old| old.status.is_trashed());
        let published = new.status.is_published() && !was_published;
        let mut notices = Vec::new();
        match old {
            None => notices.push(Notice::Created),
            Some(_) if new.status.is_trashed() && !was_trashed => notices.push(Notice::Deleted),
            Some(_) if !published => notices.push(Notice::Changed),
            Some(_) => {}
        }
        notices.extend(published.then_some(Notice::Published));
        notices
    }

    fn name(self) -> &'static str {
        match self {
            Notice::Created => "event.created",
            Notice::Changed => "event.changed",
            Notice::Published => "event.published",
            Notice::Deleted => "event.deleted",
        }
    }

    /// Returns the message. It contains the type of change and the event id, but nothing private.
    pub fn body(self, event: &Event) -> String {
        let at = instant_from_seconds(event.modified_utc).to_string();
        let data = json!({"id": event.id, "status": event.status.as_str(), "modified_utc": at});
        json!({"type": self.name(), "timestamp": at, "data": data}).to_string()
    }
}

/// Returns a message about a change to a series. It contains the series id and the id of one of its
/// events.
pub fn series_body(kind: &str, series: i64, event: i64, now: i64) -> String {
    let at = instant_from_seconds(now).to_string();
    let data = json!({"id": series, "event": event, "modified_utc": at});
    json!({"type": kind, "timestamp": at, "data": data}).to_string()
}

#[cfg(test)]
mod tests {
    use super::super::schedule::Schedule;
    use super::super::status::{Stage, Status};
    use super::super::zone::Zone;
    use super::*;

    fn event(stage: Stage) -> Event {
        let (start_local, end_local, start_utc, end_utc) = (0, 0, 0, 0);
        let zone = Zone::utc();
        let schedule =
            Schedule { zone, all_day: false, start_local, end_local, start_utc, end_utc };
        Event { id: 7, status: Status::of(stage), ..Event::draft(1, schedule, 60, 60) }
    }

    #[test]
    fn notices_follow_from_old_and_new_status() {
        use Notice::{Changed, Created, Deleted, Published};
        let (draft, published) = (event(Stage::Draft), event(Stage::Publish));
        let trash = event(Stage::Trash);
        for (old, new, expected) in [
            (None, &draft, vec![Created]),
            (None, &published, vec![Created, Published]),
            (Some(&draft), &draft, vec![Changed]),
            (Some(&draft), &published, vec![Published]),
            (Some(&published), &published, vec![Changed]),
            (Some(&published), &draft, vec![Changed]),
            (Some(&published), &trash, vec![Deleted]),
            (Some(&trash), &trash, vec![Changed]),
            (Some(&trash), &published, vec![Published]),
        ] {
            assert_eq!(Notice::of(old, new), expected);
        }
        assert_eq!(
            Deleted.body(&trash),
            r#"{"data":{"id":7,"modified_utc":"1970-01-01T00:01:00Z","status":"trash"},"timestamp":"1970-01-01T00:01:00Z","type":"event.deleted"}"#
        );
    }
}
