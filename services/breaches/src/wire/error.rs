//! The body of failures.

use serde::Serialize;
use utoipa::ToSchema;

/// A failure.
#[derive(Clone, Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(rename_all = "camelCase")]
pub struct ErrorBody {
    /// Status of the answer.
    #[schema(example = 401)]
    pub status_code: u16,
    /// What went wrong.
    #[schema(example = "Access denied due to missing breach-api-key.")]
    pub message: String,
}

/// The body of a failed verification.
#[derive(Clone, Debug, PartialEq, Eq, serde::Serialize, utoipa::ToSchema)]
pub struct MessageBody {
    /// What is wrong.
    pub message: String,
}
