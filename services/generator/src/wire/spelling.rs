//! Plain and grouped spellings of card numbers and IBANs.

use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

/// Format of a card number or IBAN.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize, Serialize, ToSchema)]
#[serde(rename_all = "lowercase")]
pub enum Spelling {
    /// Without spaces, as stored by computers.
    #[default]
    Plain,
    /// Split into groups, as printed.
    Pretty,
}

impl Spelling {
    /// Returns the text unchanged, or split into groups by `group`.
    pub fn apply(self, text: String, group: impl FnOnce(&str) -> String) -> String {
        match self {
            Self::Plain => text,
            Self::Pretty => group(&text),
        }
    }
}
