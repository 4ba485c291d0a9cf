//! Error bodies.

use serde::Serialize;
use utoipa::ToSchema;

/// An error.
#[derive(Clone, Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(rename_all = "camelCase")]
pub struct ErrorBody {
    /// Status of the answer.
    #[schema(example = 401)]
    pub status_code: u16,
    /// Description of the error.
    #[schema(example = "Access denied due to missing breach-api-key.")]
    pub message: String,
}

/// The body of a failed verification.
#[derive(Clone, Debug, PartialEq, Eq, serde::Serialize, utoipa::ToSchema)]
pub struct MessageBody {
    /// Description of the error.
    pub message: String,
}
