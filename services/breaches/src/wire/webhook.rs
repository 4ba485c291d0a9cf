//! Bodies of webhook calls.

use serde::Serialize;

use crate::model::notice::{FoundPaste, Notice};

/// The body of a webhook call. Its members are in the documented order.
#[derive(Debug, Serialize)]
#[serde(tag = "event", rename_all = "lowercase", rename_all_fields = "camelCase")]
pub enum WebhookEvent<'a> {
    /// Addresses at a verified domain are in a breach.
    Breach {
        breach_name: &'a str,
        domain: &'a str,
        new_accounts: i64,
        catalogue_version: i64,
        /// When the call was made.
        sent_at: String,
    },
    /// Addresses at a verified domain are in pastes.
    Paste {
        domain: &'a str,
        new_pastes: i64,
        /// The most recent of these pastes.
        pastes: Vec<PasteCount<'a>>,
        /// When the call was made.
        sent_at: String,
    },
}

/// A paste, with the number of addresses at the domain that it contains.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct PasteCount<'a> {
    source: &'a str,
    id: &'a str,
    new_accounts: i64,
}

impl<'a> From<&'a FoundPaste> for PasteCount<'a> {
    fn from(found: &'a FoundPaste) -> Self {
        Self { source: &found.source, id: &found.id, new_accounts: found.addresses }
    }
}

impl<'a> WebhookEvent<'a> {
    /// Converts a notice about a domain. Returns `None` for other notices.
    pub fn of(notice: &'a Notice, sent_at: String) -> Option<Self> {
        match notice {
            Notice::Domain { domain, breach, new_accounts, catalogue_version } => {
                Some(Self::Breach {
                    breach_name: breach,
                    domain,
                    new_accounts: *new_accounts,
                    catalogue_version: *catalogue_version,
                    sent_at,
                })
            }
            Notice::DomainPastes { domain, count, last } => Some(Self::Paste {
                domain,
                new_pastes: *count,
                pastes: last.iter().map(PasteCount::from).collect(),
                sent_at,
            }),
            Notice::Breach { .. } | Notice::Paste { .. } | Notice::DomainReport(_) => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn members_are_in_the_documented_order() {
        let text = |notice: &Notice| {
            let event = WebhookEvent::of(notice, "2026-11-22T17:00:00Z".to_owned()).unwrap();
            serde_json::to_string(&event).unwrap()
        };
        let domain = || "corp.example".to_owned();
        let breach = Notice::Domain {
            domain: domain(),
            breach: "FenwayGames".to_owned(),
            new_accounts: 2,
            catalogue_version: 9,
        };
        assert_eq!(
            text(&breach),
            r#"{"event":"breach","breachName":"FenwayGames","domain":"corp.example","newAccounts":2,"catalogueVersion":9,"sentAt":"2026-11-22T17:00:00Z"}"#
        );
        let paste =
            FoundPaste { source: "Pastebin".to_owned(), id: "8Q0BvKD8".to_owned(), addresses: 3 };
        let pastes = Notice::DomainPastes { domain: domain(), count: 1, last: vec![paste] };
        assert_eq!(
            text(&pastes),
            r#"{"event":"paste","domain":"corp.example","newPastes":1,"pastes":[{"source":"Pastebin","id":"8Q0BvKD8","newAccounts":3}],"sentAt":"2026-11-22T17:00:00Z"}"#
        );
    }
}
