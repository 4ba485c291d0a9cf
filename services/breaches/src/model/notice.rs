//! Notices about new breaches and pastes.

/// Content of a message, stored as JSON in the outbox. Never contains addresses.
#[derive(Clone, Debug, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
#[serde(tag = "kind", rename_all = "kebab-case")]
pub enum Notice {
    /// The subscriber's own address is in a breach.
    Breach {
        /// Breach name.
        breach: String,
    },
    /// The subscriber's own address is in a paste.
    Paste {
        /// Paste site.
        source: String,
        /// Paste id on that site.
        id: String,
    },
    /// Addresses at a verified domain are in a breach.
    Domain {
        /// Domain name.
        domain: String,
        /// Breach name.
        breach: String,
        /// Number of addresses newly linked to the breach.
        new_accounts: i64,
        /// The catalogue version that added these addresses.
        catalogue_version: i64,
    },
    /// A verified domain's monthly counts.
    DomainReport(DomainReport),
    /// Addresses at a verified domain are in pastes.
    DomainPastes {
        /// Domain name.
        domain: String,
        /// Number of pastes that contain addresses at the domain.
        count: i64,
        /// The most recent of these pastes.
        last: Vec<FoundPaste>,
    },
}

impl Notice {
    /// Returns the verified domain that this notice is about, or `None` if it's about the
    /// subscriber's own address.
    pub fn domain(&self) -> Option<&str> {
        match self {
            Self::Breach { .. } | Self::Paste { .. } => None,
            Self::Domain { domain, .. }
            | Self::DomainPastes { domain, .. }
            | Self::DomainReport(DomainReport { domain, .. }) => Some(domain),
        }
    }

    /// Returns the name of the breach that this notice is about, if any.
    pub fn breach(&self) -> Option<&str> {
        match self {
            Self::Breach { breach } | Self::Domain { breach, .. } => Some(breach),
            Self::Paste { .. } | Self::DomainPastes { .. } | Self::DomainReport(_) => None,
        }
    }
}

/// Prefix of the deduplication keys of monthly reports.
pub const REPORT_KEY: &str = "report";

/// A verified domain's monthly counts.
#[derive(Clone, Debug, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub struct DomainReport {
    /// Domain name.
    pub domain: String,
    /// First second of the reported months.
    pub since: i64,
    /// End of the reported months, exclusive.
    pub until: i64,
    /// Number of addresses in breaches added in these months.
    pub exposed: i64,
    /// Number of exposed addresses that had never been breached before.
    pub first: i64,
    /// Number of exposed addresses that are in more than one breach.
    pub repeated: i64,
    /// Whether breaches that need a subscription were left out.
    pub limited: bool,
    /// Number of breaches added in these months.
    pub count: usize,
    /// The breaches that affect the most addresses.
    pub breaches: Vec<BreachCount>,
}

/// A breach and the number of addresses at the domain that are in it.
#[derive(Clone, Debug, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub struct BreachCount {
    /// Breach name.
    pub breach: String,
    /// Number of addresses at the domain.
    pub addresses: i64,
}

/// A paste that contains addresses at a domain.
#[derive(Clone, Debug, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub struct FoundPaste {
    /// Paste site.
    pub source: String,
    /// Paste id on that site.
    pub id: String,
    /// Number of addresses newly found in this paste.
    pub addresses: i64,
}

/// The destination of a message.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Recipient {
    /// Subscriber id.
    pub subscriber: i64,
    /// Webhook id, or `None` for email.
    pub webhook: Option<i64>,
}

impl Recipient {
    /// Sends to a subscriber by email.
    pub fn mail(subscriber: i64) -> Self {
        Self { subscriber, webhook: None }
    }

    /// Sends to one of a subscriber's webhooks.
    pub fn webhook(subscriber: i64, webhook: i64) -> Self {
        Self { subscriber, webhook: Some(webhook) }
    }
}
