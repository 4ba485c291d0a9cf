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
    /// Whether it is about the own address of a subscriber.
    pub fn is_own(&self) -> bool {
        matches!(self, Self::Breach { .. } | Self::Paste { .. })
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
pub enum Recipient {
    /// A subscriber, by mail.
    Subscriber(i64),
    /// A webhook.
    Webhook(i64),
}

impl Recipient {
    /// The word in the database and the number.
    pub fn parts(self) -> (&'static str, i64) {
        match self {
            Self::Subscriber(id) => ("mail", id),
            Self::Webhook(id) => ("webhook", id),
        }
    }

    /// Reads what [`Recipient::parts`] writes.
    pub fn from_parts(word: &str, id: &str) -> Option<Self> {
        let id = id.parse().ok()?;
        match word {
            "mail" => Some(Self::Subscriber(id)),
            "webhook" => Some(Self::Webhook(id)),
            _ => None,
        }
    }
}
