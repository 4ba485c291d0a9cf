//! Whether an event is going ahead as announced.

use super::language::Words;

/// Whether an event is going ahead as announced and, if not, what happened to it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Occurring {
    /// The event is going ahead as announced.
    #[default]
    Scheduled,
    /// The event won't take place.
    Cancelled,
    /// The event will take place later, but the new date isn't known yet.
    Postponed,
    /// The event has a new date.
    Rescheduled,
}

impl Occurring {
    /// Parses a name. Also accepts `canceled`, which some clients use. Returns `None` for unknown
    /// names.
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

    /// Returns the label to show on pages, or an empty string if the event is going ahead as
    /// announced.
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

/// Whether an event is going ahead as announced, with an optional reason.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct EventStatus {
    /// Whether the event is going ahead as announced.
    pub occurring: Occurring,
    /// The reason, without tags. May be empty.
    pub reason: String,
}

/// Changes to an event's [`EventStatus`].
#[derive(Clone, Debug, Default)]
pub struct EventStatusChange {
    /// The new status, or `None` to keep the current one.
    pub occurring: Option<Occurring>,
    /// The new reason, or `None` to keep the current one.
    pub reason: Option<String>,
}

impl EventStatusChange {
    /// Returns the status after a change. The reason is dropped if the event is going ahead as
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
