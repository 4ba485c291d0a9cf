//! Every documented path of the service.

use utoipa::openapi::{InfoBuilder, LicenseBuilder, OpenApi, OpenApiBuilder};
use utoipa_actix_web::service_config::ServiceConfig;

use crate::config::INFO;
use crate::handlers::{page, range};

/// Registers the paths.
///
/// [`crate::handlers::around`] answers ranges before routing; the route makes the document.
pub fn routes(config: &mut ServiceConfig<'_>) {
    config.service(range::get_password_range);
    config.route("/", actix_web::web::get().to(page::check_page));
    page::SITE.register(config);
}

/// The OpenAPI document without its paths.
pub fn document() -> OpenApi {
    let info = InfoBuilder::new()
        .title(INFO.title)
        .version(INFO.version)
        .description(Some(
            "Tells how often a password hash appears in a corpus of exposed passwords. The client \
             sends only the first 5 characters of the SHA-1 or NTLM hash and looks for the rest \
             of it in the answer. No key, no rate limit.",
        ))
        .license(Some(
            LicenseBuilder::new()
                .name("MIT OR Apache-2.0")
                .identifier(Some("MIT OR Apache-2.0"))
                .build(),
        ))
        .build();
    OpenApiBuilder::new().info(info).build()
}
