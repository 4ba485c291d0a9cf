//! Whether an event takes place as announced.

/// Whether an event takes place as announced.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Occurring {
    /// As announced.
    #[default]
    Scheduled,
    /// It does not take place.
    Cancelled,
    /// It takes place later; the new date is not known.
    Postponed,
    /// Its date has changed.
    Rescheduled,
}

impl Occurring {
    /// Parses a name. The recorded plugin writes `canceled`.
    pub fn parse(text: &str) -> Option<Occurring> {
        Some(match text.trim().to_ascii_lowercase().as_str() {
            "" | "scheduled" => Occurring::Scheduled,
            "canceled" | "cancelled" => Occurring::Cancelled,
            "postponed" => Occurring::Postponed,
            "rescheduled" => Occurring::Rescheduled,
            _ => return None,
        })
    }

    /// Returns the name.
    pub fn name(self) -> &'static str {
        match self {
            Occurring::Scheduled => "scheduled",
            Occurring::Cancelled => "cancelled",
            Occurring::Postponed => "postponed",
            Occurring::Rescheduled => "rescheduled",
        }
    }

    /// Returns the word that pages show; empty for an event that takes place as announced.
    pub fn word(self) -> &'static str {
        match self {
            Occurring::Scheduled => "",
            Occurring::Cancelled => "Cancelled",
            Occurring::Postponed => "Postponed",
            Occurring::Rescheduled => "Rescheduled",
        }
    }

    /// Returns the term of schema.org.
    pub fn schema(self) -> &'static str {
        match self {
            Occurring::Scheduled => "https://schema.org/EventScheduled",
            Occurring::Cancelled => "https://schema.org/EventCancelled",
            Occurring::Postponed => "https://schema.org/EventPostponed",
            Occurring::Rescheduled => "https://schema.org/EventRescheduled",
        }
    }
}

/// The status of an event, and the reason.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct EventStatus {
    /// Whether it takes place as announced.
    pub occurring: Occurring,
    /// The reason, without tags; may be empty.
    pub reason: String,
}

/// The fields of a write that concern it.
#[derive(Clone, Debug, Default)]
pub struct EventStatusChange {
    /// The new status.
    pub occurring: Option<Occurring>,
    /// The new reason.
    pub reason: Option<String>,
}

impl EventStatusChange {
    /// Returns the status after a write. An event that takes place as announced has no reason.
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
