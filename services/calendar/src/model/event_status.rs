//! Whether an event takes place as announced.

use super::language::Words;

/// Whether an event takes place as announced, and if not, what happened to it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Occurring {
    /// The event takes place as announced.
    #[default]
    Scheduled,
    /// The event does not take place.
    Cancelled,
    /// The event takes place later; the new date is not known.
    Postponed,
    /// The date of the event has changed.
    Rescheduled,
}

impl Occurring {
    /// Parses a name. The recorded plugin writes `canceled`. Returns `None` for an unknown name.
    pub fn parse(text: &str) -> Option<Occurring> {
        Some(match text.trim().to_ascii_lowercase().as_str() {
            "" | "scheduled" => Occurring::Scheduled,
            "canceled" | "cancelled" => Occurring::Cancelled,
            "postponed" => Occurring::Postponed,
            "rescheduled" => Occurring::Rescheduled,
            _ => return None,
        })
    }

    /// Returns the name used in requests and responses.
    pub fn name(self) -> &'static str {
        match self {
            Occurring::Scheduled => "scheduled",
            Occurring::Cancelled => "cancelled",
            Occurring::Postponed => "postponed",
            Occurring::Rescheduled => "rescheduled",
        }
    }

    /// Returns the word shown on pages, or an empty string if the event takes place as announced.
    pub fn word(self, words: &Words) -> &'static str {
        match self {
            Occurring::Scheduled => "",
            Occurring::Cancelled => words.cancelled,
            Occurring::Postponed => words.postponed,
            Occurring::Rescheduled => words.rescheduled,
        }
    }

    /// Returns the corresponding schema.org term.
    pub fn schema(self) -> &'static str {
        match self {
            Occurring::Scheduled => "https://schema.org/EventScheduled",
            Occurring::Cancelled => "https://schema.org/EventCancelled",
            Occurring::Postponed => "https://schema.org/EventPostponed",
            Occurring::Rescheduled => "https://schema.org/EventRescheduled",
        }
    }
}

/// Whether an event takes place as announced, with a reason if it does not.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct EventStatus {
    /// Whether it takes place as announced.
    pub occurring: Occurring,
    /// The reason, without tags; may be empty.
    pub reason: String,
}

/// The fields of a write that change an event's [`EventStatus`].
#[derive(Clone, Debug, Default)]
pub struct EventStatusChange {
    /// The new status; `None` keeps the current one.
    pub occurring: Option<Occurring>,
    /// The new reason; `None` keeps the current one.
    pub reason: Option<String>,
}

impl EventStatusChange {
    /// Returns the status after a write. The reason is dropped if the event takes place as
    /// announced.
    pub fn over(&self, old: &EventStatus) -> EventStatus {
        let occurring = self.occurring.unwrap_or(old.occurring);
        let reason = match (occurring, &self.reason) {
            (Occurring::Scheduled, _) => String::new(),
            (_, Some(reason)) => reason.clone(),
            (_, None) => old.reason.clone(),
        };
        EventStatus { occurring, reason }
    }
}
