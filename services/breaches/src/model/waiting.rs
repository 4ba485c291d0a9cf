//! Delivery backlog.

/// How a message is delivered.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Channel {
    /// Email to the subscriber.
    Mail,
    /// Webhook call.
    Webhook,
}

impl Channel {
    /// Every channel.
    pub const ALL: [Self; 2] = [Self::Mail, Self::Webhook];

    /// Returns the label used in metrics.
    pub fn label(self) -> &'static str {
        match self {
            Self::Mail => "mail",
            Self::Webhook => "webhook",
        }
    }
}

/// A channel's backlog.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Waiting {
    /// Number of messages.
    pub messages: i64,
    /// Age of the oldest message in seconds.
    pub oldest: i64,
    /// How many seconds the most overdue attempt is late.
    pub overdue: i64,
}
