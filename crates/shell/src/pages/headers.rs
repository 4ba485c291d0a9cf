//! The headers that keep a page to itself.

use actix_web::HttpResponseBuilder;
use actix_web::http::header::{self, HeaderValue};

/// What a page may load and do: files of its own service, nothing inline, nothing from elsewhere.
const POLICY: &str = "default-src 'none'; style-src 'self'; script-src 'self'; \
    connect-src 'self'; img-src 'self' data:; base-uri 'none'; form-action 'self'; \
    frame-ancestors 'none'";

/// Adds the headers that keep a page to itself.
pub(super) fn protect(response: &mut HttpResponseBuilder) {
    for (name, value) in [
        (header::CONTENT_SECURITY_POLICY, POLICY),
        (header::REFERRER_POLICY, "no-referrer"),
        (header::X_CONTENT_TYPE_OPTIONS, "nosniff"),
    ] {
        response.insert_header((name, HeaderValue::from_static(value)));
    }
}
