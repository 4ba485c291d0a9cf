//! Every operation of the service, and what the log shows of requests.

use std::borrow::Cow;

use actix_web::http::Uri;
use actix_web::{HttpRequest, web};
use utoipa_actix_web::service_config::ServiceConfig;

use crate::handlers;
use crate::model::Kind;

pub use crate::handlers::{add_worker, around};

/// Registers every operation.
///
/// [`handlers::around`] answers ranges before routing; the route makes the document.
pub fn register(config: &mut ServiceConfig<'_>) {
    config.service(handlers::get_password_range);
    // The page is for people: it is no part of the document.
    config.route("/", web::get().to(handlers::check_page));
    handlers::SITE.register(config);
}

/// What the access log shows: never a prefix, nor anything that could be one.
pub fn redact(uri: &Uri) -> Cow<'_, str> {
    let path = uri.path();
    let shown = match path {
        "/" | "/openapi.json" | "/docs" => path,
        _ if path.starts_with("/docs/") => "/docs/",
        _ if path.starts_with("/range/") => match handlers::kind(uri.query()) {
            Kind::Sha1 => handlers::RANGE,
            Kind::Ntlm => "/range/{prefix}?mode=ntlm",
        },
        _ if handlers::SITE.has(path) => path,
        _ => "(other)",
    };
    shown.into()
}

/// What else the access log shows: whether padding was asked for.
pub fn note(request: &HttpRequest) -> &'static str {
    if handlers::wants_padding(request) { ", padded" } else { ", not padded" }
}
