//! Pastes.

use serde::Serialize;
use utoipa::ToSchema;

use crate::model::{self, instant};

/// A paste that contains the address.
#[derive(Clone, Debug, Serialize, ToSchema)]
#[serde(rename_all = "PascalCase")]
#[schema(rename_all = "PascalCase")]
pub struct Paste {
    /// Site where the paste was published. New sources can be added.
    #[schema(example = "Pastebin")]
    pub source: String,
    /// ID of the paste at the source.
    #[schema(example = "T3stP4st")]
    pub id: String,
    /// Title of the paste. Absent if unknown.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false, example = "fixture")]
    pub title: Option<String>,
    /// When the paste was published. `null` if unknown.
    #[schema(format = DateTime, required = true, example = "2014-11-28T06:11:00Z")]
    pub date: Option<String>,
    /// Number of email addresses in the paste.
    #[schema(example = 245)]
    pub email_count: i64,
}

impl From<model::paste::Paste> for Paste {
    fn from(paste: model::paste::Paste) -> Self {
        Self {
            source: paste.source,
            id: paste.id,
            title: paste.title,
            date: paste.date.map(instant::with_zone),
            email_count: paste.email_count,
        }
    }
}
