//! `/api/Schemas`.

use serde::{Deserialize, Serialize};
use serde_json::Value;
use shell::Violation;
use utoipa::{IntoParams, ToSchema};

use super::body::{BodyRequest, members};

/// The path of a saved schema.
#[derive(Deserialize, IntoParams)]
#[into_params(parameter_in = Path)]
pub struct SchemaPath {
    /// Schema name: 1 to 64 characters, without slashes and control characters.
    #[param(min_length = 1, max_length = 64, example = "shop")]
    pub name: String,
}

/// A saved schema.
#[derive(Serialize, ToSchema)]
pub struct SavedSchema {
    /// Schema name.
    #[schema(example = "shop")]
    pub name: String,
    /// Time of the last change, in RFC 3339 format (UTC).
    #[schema(example = "2026-11-28T09:30:00Z", format = DateTime)]
    pub changed: String,
}

/// A request to save a schema.
pub struct SchemaRequest(pub Value);

impl BodyRequest for SchemaRequest {
    fn read(_: &str, body: &[u8]) -> Result<Self, Vec<Violation>> {
        let members = members(body).map_err(|violation| vec![violation])?;
        Ok(Self(Value::Object(members.into_iter().collect())))
    }
}
