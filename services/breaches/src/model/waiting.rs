//! Messages that wait for delivery.

/// The way by which a message is delivered.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Channel {
    /// A mail.
    Mail,
    /// A call of a webhook.
    Webhook,
}

impl Channel {
    /// All channels.
    pub const ALL: [Self; 2] = [Self::Mail, Self::Webhook];

    /// The name in metrics.
    pub fn label(self) -> &'static str {
        match self {
            Self::Mail => "mail",
            Self::Webhook => "webhook",
        }
    }
}

/// Messages of a channel that wait for delivery.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Waiting {
    /// Their number.
    pub messages: i64,
    /// Age of the oldest one in seconds.
    pub oldest: i64,
    /// Seconds since an attempt was due.
    pub overdue: i64,
}
