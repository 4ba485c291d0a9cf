//! Successful responses: JSON bodies and the headers for each kind of response.

use std::borrow::Cow;

use actix_web::body::BoxBody;
use actix_web::http::StatusCode;
use actix_web::http::header::{CACHE_CONTROL, CONTENT_TYPE, HeaderName, HeaderValue, VARY};
use actix_web::web::{Bytes, Data};
use actix_web::{HttpRequest, HttpResponse};
use jiff::civil::Date;
use serde::Serialize;
use sha2::{Digest, Sha256};
use shell::{EntityTag, Fault, Validators};
use utoipa::IntoResponses;

use super::list::{Sent, form, written};
use crate::model::{DATA_VERSION, Seed};
use crate::state::State;
use crate::wire::{Form, Record};

const JSON: HeaderValue = HeaderValue::from_static("application/json; charset=utf-8");
const NO_STORE: HeaderValue = HeaderValue::from_static("no-store");
const X_REF_DATE: HeaderName = HeaderName::from_static("x-ref-date");
const X_SEED: HeaderName = HeaderName::from_static("x-seed");
const X_DATA_VERSION: HeaderName = HeaderName::from_static("x-data-version");

/// Responds with JSON that must not be cached (`Cache-Control: no-store`).
pub fn fresh(body: impl Into<Vec<u8>>) -> HttpResponse {
    of_body(StatusCode::OK, BoxBody::new(body.into()))
}

/// Like [`fresh`], but with any status and body.
pub fn of_body(status: StatusCode, body: BoxBody) -> HttpResponse {
    let mut response = HttpResponse::with_body(status, body);
    let headers = response.headers_mut();
    headers.insert(CACHE_CONTROL, NO_STORE);
    headers.insert(CONTENT_TYPE, JSON);
    response
}

/// Responds with values generated from a seed.
pub fn generated(seed: &Seed, body: impl Into<Vec<u8>>) -> HttpResponse {
    let mut response = HttpResponse::with_body(StatusCode::OK, BoxBody::new(body.into()));
    response.headers_mut().insert(CONTENT_TYPE, JSON);
    marked(seed, response)
}

/// Adds the headers with the seed and the data version.
pub fn marked(seed: &Seed, mut response: HttpResponse) -> HttpResponse {
    let headers = response.headers_mut();
    headers.insert(CACHE_CONTROL, NO_STORE);
    if let Ok(value) = HeaderValue::from_str(&visible(seed.as_str())) {
        headers.insert(X_SEED, value);
    }
    headers.insert(X_DATA_VERSION, HeaderValue::from_static(DATA_VERSION));
    response
}

/// Responds with a list generated from a seed.
pub fn listed(seed: &Seed, made: Sent) -> HttpResponse {
    let mut response = marked(seed, HttpResponse::with_body(StatusCode::OK, made.body));
    let headers = response.headers_mut();
    headers.insert(CONTENT_TYPE, HeaderValue::from_static(made.form.content_type()));
    headers.insert(VARY, HeaderValue::from_static("Accept"));
    response
}

/// Adds the header with the reference date for card expiry dates and ages.
pub fn with_reference_day(mut response: HttpResponse, day: Date) -> HttpResponse {
    if let Ok(value) = HeaderValue::from_str(&day.to_string()) {
        response.headers_mut().insert(X_REF_DATE, value);
    }
    response
}

/// Encodes a value as JSON. Our own types can always be serialized.
pub fn json(value: &impl Serialize) -> Vec<u8> {
    serde_json::to_vec(value).unwrap_or_default()
}

/// Encodes the seed for use in a header. As in a query string, everything except visible ASCII is
/// percent-encoded.
fn visible(seed: &str) -> Cow<'_, str> {
    let plain = |byte: u8| byte.is_ascii_graphic() && byte != b'%';
    if seed.bytes().all(plain) {
        return Cow::Borrowed(seed);
    }
    let escaped = |byte| if plain(byte) { char::from(byte).into() } else { format!("%{byte:02X}") };
    seed.bytes().map(escaped).collect()
}

/// The client already has the current list.
#[derive(IntoResponses)]
#[response(status = 304, headers(
    ("ETag" = String, description = "Current version of the list"),
    ("Cache-Control" = String, description = "Cacheable for one hour; `private` if the server requires a key")
))]
pub struct Unchanged;

/// A cacheable list, which only changes along with the embedded data.
pub struct List([Written; 4]);

/// A list in one format.
struct Written {
    form: Form,
    /// The body with its validators, or the reason for which there is none.
    body: Result<(Bytes, Validators), String>,
}

impl List {
    /// Encodes a list in all formats.
    pub fn of<R: Record + Serialize>(items: &[R]) -> Self {
        Self([Form::Json, Form::Csv, Form::Ndjson, Form::Xlsx].map(|form| {
            let tagged = |body: Vec<u8>| {
                let digest = Sha256::digest(&body);
                // The tag is weak, because compressed and uncompressed bodies share it.
                (Bytes::from(body), Validators::weak(EntityTag::of_digest(&digest[..8])))
            };
            let body = written(items, form).map(tagged);
            Written { form, body: body.map_err(|cause| format!("{cause:#}")) }
        }))
    }

    /// Responds with the list in a format that the client accepts, or with 304 if the client
    /// already has the current version.
    pub fn answer(&self, request: &HttpRequest) -> HttpResponse {
        let wanted = form(request);
        let [json, others @ ..] = &self.0;
        let list = others.iter().find(|list| list.form == wanted).unwrap_or(json);
        let (body, validators) = match &list.body {
            Ok(made) => made,
            Err(cause) => return Fault::Internal(cause.clone()).response(request),
        };
        // If a key is required, keep the list out of shared caches, which might serve it to callers
        // without a key.
        let needs_key = request.app_data::<Data<State>>().is_some_and(|state| state.needs_key());
        let caching = if needs_key { "private, max-age=3600" } else { "public, max-age=3600" };
        let mut response = validators.answer(request, caching, |mut ok| {
            ok.content_type(wanted.content_type()).body(body.clone())
        });
        response.headers_mut().insert(VARY, HeaderValue::from_static("Accept"));
        response
    }
}

#[cfg(test)]
mod tests {
    use actix_web::http::header::ACCEPT;
    use actix_web::test::TestRequest;

    use super::*;
    use crate::wire::{TypeName, WORKBOOK};

    #[test]
    fn list_too_large_for_a_workbook_is_an_error() {
        let list = List::of(&[TypeName(String::leak("x".repeat(32_768)))]);
        for (accept, status) in [(WORKBOOK, 500), ("text/csv", 200)] {
            let request = TestRequest::default().insert_header((ACCEPT, accept));
            assert_eq!(list.answer(&request.to_http_request()).status(), status, "{accept}");
        }
    }

    #[test]
    fn seeds_are_valid_in_a_header() {
        assert_eq!(visible("demo-1"), "demo-1");
        assert_eq!(visible("ü\n%"), "%C3%BC%0A%25");
    }
}
