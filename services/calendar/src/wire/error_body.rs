//! The body of errors, for the OpenAPI document.

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
    /// A word for machines.
    pub code: String,
    /// A sentence for people.
    pub message: String,
    pub data: ErrorData,
}

/// What is known of an error.
#[derive(Serialize, ToSchema)]
pub struct ErrorData {
    /// The status of the answer.
    pub status: u16,
    /// Further members, by code: `params`, `details`, `term_id`, `json_error_message`.
    #[serde(flatten)]
    pub more: BTreeMap<String, Value>,
}
