//! Error bodies.

use serde::Serialize;
use utoipa::ToSchema;

/// An error response.
#[derive(Clone, Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(rename_all = "camelCase")]
pub struct ErrorBody {
    /// HTTP status code.
    #[schema(example = 401)]
    pub status_code: u16,
    /// A message that explains the error.
    #[schema(example = "Access denied due to missing breach-api-key.")]
    pub message: String,
}

/// The response to a failed verification request.
#[derive(Clone, Debug, PartialEq, Eq, serde::Serialize, utoipa::ToSchema)]
pub struct MessageBody {
    /// A message that explains the error.
    pub message: String,
}
