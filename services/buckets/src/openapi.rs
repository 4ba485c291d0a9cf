//! The OpenAPI document, apart from the operations.

use utoipa::openapi::security::{ApiKey, ApiKeyValue, Http, HttpAuthScheme, SecurityScheme};
use utoipa::{Modify, OpenApi};

use crate::error::ErrorBody;

#[derive(OpenApi)]
#[openapi(
    info(
        title = "Bucket index search",
        description = "Searches an index of files in open cloud-storage buckets.",
        version = "2.0.0"
    ),
    components(schemas(ErrorBody)),
    tags(
        (name = "search", description = "Files, buckets and statistics"),
        (name = "crawls", description = "Public buckets that are listed regularly"),
        (name = "alerts", description = "Saved searches and their new files"),
        (name = "account", description = "The caller's own account")
    ),
    modifiers(&Keys)
)]
struct Document;

struct Keys;

impl Modify for Keys {
    fn modify(&self, document: &mut utoipa::openapi::OpenApi) {
        let components = document.components.get_or_insert_default();
        let bearer = SecurityScheme::Http(Http::new(HttpAuthScheme::Bearer));
        components.add_security_scheme("bearer", bearer);
        let query = SecurityScheme::ApiKey(ApiKey::Query(ApiKeyValue::new("access_token")));
        components.add_security_scheme("access_token", query);
    }
}

/// Returns the document without any paths.
pub fn document() -> utoipa::openapi::OpenApi {
    Document::openapi()
}
