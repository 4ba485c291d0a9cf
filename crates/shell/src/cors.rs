//! CORS rules, which services choose per request.
//!
//! The `actix-cors` middleware doesn't let a service choose the preflight status, the header
//! values, or a different rule per operation (docs/decisions/0102).

use actix_web::HttpResponse;
use actix_web::dev::{ServiceRequest, ServiceResponse};
use actix_web::http::header::{self, HeaderMap, HeaderName, HeaderValue};
use actix_web::http::{Method, StatusCode};

/// A CORS rule that lets pages from any origin read responses.
///
/// All strings are header values. Headers whose value is empty aren't sent.
#[derive(Clone, Copy, Debug)]
pub struct CorsRule {
    /// Value of `access-control-allow-methods` (preflight).
    pub methods: &'static str,
    /// Value of `access-control-allow-headers` (preflight).
    pub request_headers: &'static str,
    /// Value of `access-control-expose-headers`.
    pub expose: &'static str,
    /// Value of `access-control-max-age` in seconds (preflight).
    pub max_age: Option<u32>,
    /// Status for preflight responses.
    pub preflight: u16,
}

impl CorsRule {
    /// Returns whether a request is a preflight request, i.e. `OPTIONS` with
    /// `Access-Control-Request-Method`.
    pub(crate) fn is_preflight(request: &ServiceRequest) -> bool {
        request.method() == Method::OPTIONS
            && request.headers().contains_key(header::ACCESS_CONTROL_REQUEST_METHOD)
    }

    pub(crate) fn answer_preflight(&self, request: ServiceRequest) -> ServiceResponse {
        let status = StatusCode::from_u16(self.preflight).unwrap_or(StatusCode::NO_CONTENT);
        let mut response = HttpResponse::build(status).finish();
        let headers = response.headers_mut();
        self.mark(headers);
        put(headers, header::ACCESS_CONTROL_ALLOW_METHODS, self.methods);
        put(headers, header::ACCESS_CONTROL_ALLOW_HEADERS, self.request_headers);
        if let Some(seconds) = self.max_age {
            headers.insert(header::ACCESS_CONTROL_MAX_AGE, seconds.into());
        }
        request.into_response(response)
    }

    /// Adds the headers that this rule prescribes for every response.
    pub(crate) fn mark(&self, headers: &mut HeaderMap) {
        put(headers, header::ACCESS_CONTROL_ALLOW_ORIGIN, "*");
        put(headers, header::ACCESS_CONTROL_EXPOSE_HEADERS, self.expose);
    }
}

fn put(headers: &mut HeaderMap, name: HeaderName, value: &'static str) {
    if !value.is_empty() {
        headers.insert(name, HeaderValue::from_static(value));
    }
}
