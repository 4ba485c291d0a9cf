//! Every path of the service, in the order of the documentation.

use utoipa::Modify;
use utoipa::OpenApi;
use utoipa::openapi::security::{ApiKey, ApiKeyValue, Http, HttpAuthScheme, SecurityScheme};
use utoipa_actix_web::service_config::ServiceConfig;

use crate::handlers::{account, buckets, files, page, stats};

/// Path of the own account, which costs nothing.
pub const ACCOUNT: &str = "/api/account";

#[derive(OpenApi)]
#[openapi(
    info(
        title = "Bucket index search",
        description = "Searches an index of files in open cloud-storage buckets.",
        version = "2.0.0",
        license(name = "MIT OR Apache-2.0", identifier = "MIT OR Apache-2.0")
    ),
    tags(
        (name = "search", description = "Files, buckets and statistics"),
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

/// The document without its paths.
pub fn document() -> utoipa::openapi::OpenApi {
    Document::openapi()
}

/// Registers every path.
pub fn register(config: &mut ServiceConfig<'_>) {
    // The page is for people: it is no part of the document.
    config.route("/", actix_web::web::get().to(page::page));
    config.service(files::find).service(buckets::list).service(stats::get).service(account::get);
}
