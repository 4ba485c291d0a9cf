//! The OpenAPI document, apart from the operations.

use utoipa::openapi::security::{ApiKey, ApiKeyValue, Http, HttpAuthScheme, SecurityScheme};
use utoipa::{Modify, OpenApi};

use crate::error::ErrorBody;

#[derive(OpenApi)]
#[openapi(
    info(
        title = "Bucket index search",
        description = "Search an index of files in open cloud-storage buckets. Requests are authenticated with an API key, sent as a bearer token or in the `access_token` parameter.",
        version = "2.0.0"
    ),
    components(schemas(ErrorBody)),
    tags(
        (name = "search", description = "Search files and buckets, and get statistics."),
        (name = "crawls", description = "Crawl public buckets at regular intervals."),
        (name = "alerts", description = "Save searches and retrieve new matching files."),
        (name = "account", description = "Get the account of the API key.")
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
