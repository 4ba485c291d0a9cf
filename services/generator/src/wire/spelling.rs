//! How cards and accounts are spelled.

use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

/// How a card number or an account is spelled.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize, Serialize, ToSchema)]
#[serde(rename_all = "lowercase")]
pub enum Spelling {
    /// Without blanks, as machines store it.
    #[default]
    Plain,
    /// In groups, as it is printed.
    Pretty,
}

impl Spelling {
    /// A text as it is, or grouped by `group`.
    pub fn apply(self, text: String, group: impl FnOnce(&str) -> String) -> String {
        match self {
            Self::Plain => text,
            Self::Pretty => group(&text),
        }
    }
}
