//! Answers of the search by hash prefix.

use serde::Serialize;
use utoipa::ToSchema;

/// An address with the asked prefix.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(rename_all = "camelCase")]
pub struct RangeEntry {
    /// The 34 characters of the SHA-1 behind the prefix, upper-case.
    #[schema(pattern = "^[0-9A-F]{34}$", example = "22FFBB50B11B0EFD307BE358624A26EE00")]
    pub hash_suffix: String,
    /// Names of the breaches, in byte order.
    #[schema(example = json!(["Acmegram"]))]
    pub websites: Vec<String>,
}
