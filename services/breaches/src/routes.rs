//! Every path of the service, in the order of the documentation.

use utoipa::OpenApi;
use utoipa::openapi::security::{ApiKey, ApiKeyValue, SecurityScheme};
use utoipa_actix_web::service_config::ServiceConfig;

use crate::handlers::{account, catalogue, domain, paste, range, stealer_log, subscription};
use crate::wire::ErrorBody;

/// Registers the paths; those that are asked for most come first, since a router tries them in turn.
pub fn register(config: &mut ServiceConfig<'_>) {
    config
        .service(account::breached_account)
        .service(range::breached_account_range)
        .service(paste::paste_account)
        .service(domain::breached_domain)
        .service(domain::subscribed_domains)
        .service(catalogue::breaches)
        .service(catalogue::breach)
        .service(catalogue::latest_breach)
        .service(catalogue::data_classes)
        .service(stealer_log::by_email)
        .service(stealer_log::by_website_domain)
        .service(stealer_log::by_email_domain)
        .service(subscription::subscription_status);
}

/// The document without its paths.
pub fn document() -> utoipa::openapi::OpenApi {
    #[derive(OpenApi)]
    #[openapi(
        info(
            title = "Breach lookup service",
            version = "3",
            description = "Tells in which data breaches and pastes an address appears, and, to those who verified a domain, which of its addresses appear.\n\nEvery request needs a `user-agent`. Keyed operations need the header `breach-api-key`: 32 hexadecimal characters. Any such value that is not on file is a test key and gives access to the test accounts only. Paths are case-insensitive, and so are the names of query parameters.\n\n**Attribution.** Whoever shows breach or paste data must name this service as their source, visibly and with a link; answers carry the link as `rel=\"license\"`.",
            license(name = "MIT OR Apache-2.0", identifier = "MIT OR Apache-2.0")
        ),
        tags(
            (name = "Accounts", description = "Searches by address"),
            (name = "Domains", description = "Searches by those who verified a domain"),
            (name = "Catalogue", description = "Breaches and data classes; no key needed"),
            (name = "Stealer logs", description = "Websites at which addresses were captured"),
            (name = "Subscription", description = "What the key's subscription covers")
        ),
        components(schemas(ErrorBody))
    )]
    struct Document;

    let mut document = Document::openapi();
    let key = ApiKeyValue::with_description(
        "breach-api-key",
        "32 hexadecimal characters, any case; the operator may configure further header names",
    );
    document
        .components
        .get_or_insert_default()
        .add_security_scheme("key", SecurityScheme::ApiKey(ApiKey::Header(key)));
    document
}
