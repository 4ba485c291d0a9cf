//! Error bodies for the OpenAPI document.

use std::collections::BTreeMap;

use serde::Serialize;
use serde_json::{Value, json};
use utoipa::ToSchema;

/// An error.
#[derive(Serialize, ToSchema)]
#[schema(as = Error, example = json!(json!({
    "code": "rest_invalid_param",
    "message": "Invalid parameter(s): page",
    "data": {"status": 400, "params": {"page": "must be a whole number above 0"}, "details": []},
})))]
pub struct ErrorJson {
    /// Machine-readable error code.
    pub code: String,
    /// Human-readable message.
    pub message: String,
    pub data: ErrorData,
}

/// Details of an error.
#[derive(Serialize, ToSchema)]
pub struct ErrorData {
    /// HTTP status code.
    pub status: u16,
    /// Additional fields, depending on the error code: `params`, `details`, `term_id`,
    /// `json_error_message`.
    #[serde(flatten)]
    pub more: BTreeMap<String, Value>,
}
