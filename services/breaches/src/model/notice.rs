//! Messages to people and programs about new breaches.

/// What a message is about. In the outbox it is JSON; neither holds an address.
#[derive(Clone, Debug, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
#[serde(tag = "kind", rename_all = "kebab-case")]
pub enum Notice {
    /// The own address is in a breach.
    Breach {
        /// Name of the breach.
        breach: String,
    },
    /// The own address is in a paste.
    Paste {
        /// Where the paste is.
        source: String,
        /// Its number there.
        id: String,
    },
    /// Addresses of a verified domain are in a breach.
    Domain {
        /// The domain.
        domain: String,
        /// Name of the breach.
        breach: String,
        /// How many addresses are in it that were not before.
        new_accounts: i64,
        /// Version of the catalogue that tells of it.
        catalogue_version: i64,
    },
    /// Addresses of a verified domain are in pastes.
    DomainPastes {
        /// The domain.
        domain: String,
        /// In how many pastes addresses were found.
        count: i64,
        /// The last of them.
        last: Vec<FoundPaste>,
    },
}

impl Notice {
    /// The verified domain that it is about; none when it is about the own address of a subscriber.
    pub fn domain(&self) -> Option<&str> {
        match self {
            Self::Breach { .. } | Self::Paste { .. } => None,
            Self::Domain { domain, .. } | Self::DomainPastes { domain, .. } => Some(domain),
        }
    }

    /// The name of the breach that it is about.
    pub fn breach(&self) -> Option<&str> {
        match self {
            Self::Breach { breach } | Self::Domain { breach, .. } => Some(breach),
            Self::Paste { .. } | Self::DomainPastes { .. } => None,
        }
    }
}

/// A paste in which addresses of a domain were found.
#[derive(Clone, Debug, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub struct FoundPaste {
    /// Where the paste is.
    pub source: String,
    /// Its number there.
    pub id: String,
    /// How many addresses are in it that were not before.
    pub addresses: i64,
}

/// Whom a message is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Recipient {
    /// Number of the subscriber.
    pub subscriber: i64,
    /// Number of the webhook that is called; none for a mail.
    pub webhook: Option<i64>,
}

impl Recipient {
    /// A subscriber, by mail.
    pub fn mail(subscriber: i64) -> Self {
        Self { subscriber, webhook: None }
    }

    /// A webhook of a subscriber.
    pub fn webhook(subscriber: i64, webhook: i64) -> Self {
        Self { subscriber, webhook: Some(webhook) }
    }
}
