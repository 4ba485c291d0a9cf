//! Messages that are waiting for delivery.

/// The way in which a message is delivered.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Channel {
    /// A mail to the subscriber.
    Mail,
    /// A request to a webhook.
    Webhook,
}

impl Channel {
    /// All channels.
    pub const ALL: [Self; 2] = [Self::Mail, Self::Webhook];

    /// Returns the name used in metrics.
    pub fn label(self) -> &'static str {
        match self {
            Self::Mail => "mail",
            Self::Webhook => "webhook",
        }
    }
}

/// The messages of a channel that are waiting for delivery.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Waiting {
    /// Number of messages.
    pub messages: i64,
    /// Age of the oldest message in seconds.
    pub oldest: i64,
    /// Seconds since the earliest due attempt should have been made.
    pub overdue: i64,
}
