//! Notices about new breaches and pastes.

/// The content of a message. It does not contain addresses. The outbox stores it as JSON.
#[derive(Clone, Debug, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
#[serde(tag = "kind", rename_all = "kebab-case")]
pub enum Notice {
    /// The subscriber's own address is in a breach.
    Breach {
        /// Name of the breach.
        breach: String,
    },
    /// The subscriber's own address is in a paste.
    Paste {
        /// Source of the paste.
        source: String,
        /// Id of the paste at its source.
        id: String,
    },
    /// Addresses of a verified domain are in a breach.
    Domain {
        /// Name of the domain.
        domain: String,
        /// Name of the breach.
        breach: String,
        /// Number of addresses that are new in the breach.
        new_accounts: i64,
        /// Version of the catalogue that contains the new addresses.
        catalogue_version: i64,
    },
    /// The monthly counts of a verified domain.
    DomainReport(DomainReport),
    /// Addresses of a verified domain are in pastes.
    DomainPastes {
        /// Name of the domain.
        domain: String,
        /// Number of pastes that contain addresses of the domain.
        count: i64,
        /// The last of them.
        last: Vec<FoundPaste>,
    },
}

impl Notice {
    /// Returns the verified domain that the notice is about, or `None` if it is about the
    /// subscriber's own address.
    pub fn domain(&self) -> Option<&str> {
        match self {
            Self::Breach { .. } | Self::Paste { .. } => None,
            Self::Domain { domain, .. }
            | Self::DomainPastes { domain, .. }
            | Self::DomainReport(DomainReport { domain, .. }) => Some(domain),
        }
    }

    /// Returns the name of the breach that the notice is about, if any.
    pub fn breach(&self) -> Option<&str> {
        match self {
            Self::Breach { breach } | Self::Domain { breach, .. } => Some(breach),
            Self::Paste { .. } | Self::DomainPastes { .. } | Self::DomainReport(_) => None,
        }
    }
}

/// The first word of the keys of monthly reports.
pub const REPORT_KEY: &str = "report";

/// The monthly counts of a verified domain.
#[derive(Clone, Debug, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub struct DomainReport {
    /// Name of the domain.
    pub domain: String,
    /// The first second of the reported months.
    pub since: i64,
    /// The end of the reported months, exclusive.
    pub until: i64,
    /// Number of addresses in breaches that were added in these months.
    pub exposed: i64,
    /// Those of them that were in no breach before.
    pub first: i64,
    /// Those of them that are in several breaches.
    pub repeated: i64,
    /// Whether only breaches that do not need a subscription are counted.
    pub limited: bool,
    /// Number of these breaches.
    pub count: usize,
    /// The breaches with the most addresses.
    pub breaches: Vec<BreachCount>,
}

/// The number of addresses of a domain in a breach.
#[derive(Clone, Debug, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub struct BreachCount {
    /// Name of the breach.
    pub breach: String,
    /// Number of addresses of the domain in the breach.
    pub addresses: i64,
}

/// A paste that contains addresses of a domain.
#[derive(Clone, Debug, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub struct FoundPaste {
    /// Source of the paste.
    pub source: String,
    /// Id of the paste at its source.
    pub id: String,
    /// Number of addresses that are new in the paste.
    pub addresses: i64,
}

/// The recipient of a message.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Recipient {
    /// Number of the subscriber.
    pub subscriber: i64,
    /// Id of the webhook, or `None` for a mail.
    pub webhook: Option<i64>,
}

impl Recipient {
    /// Returns a subscriber as the recipient of mails.
    pub fn mail(subscriber: i64) -> Self {
        Self { subscriber, webhook: None }
    }

    /// Returns a webhook of a subscriber as the recipient.
    pub fn webhook(subscriber: i64, webhook: i64) -> Self {
        Self { subscriber, webhook: Some(webhook) }
    }
}
