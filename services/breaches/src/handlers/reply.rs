//! Answers as this API writes them.

use actix_web::body::MessageBody;
use actix_web::http::header::{self, ContentType, HeaderValue};
use actix_web::web::Bytes;
use actix_web::{HttpRequest, HttpResponse};

use crate::model::instant;
use crate::state::Snapshot;

/// An answer that is JSON already.
pub fn json(body: impl MessageBody + 'static) -> HttpResponse {
    let json = HeaderValue::from_static("application/json");
    HttpResponse::Ok().insert_header((header::CONTENT_TYPE, json)).body(body)
}

/// An answer from the catalogue with its cache headers, or 304 when the client has it.
pub fn catalogue(request: &HttpRequest, snapshot: &Snapshot, body: Bytes) -> HttpResponse {
    let known = is_known(request, snapshot);
    let changed_at = snapshot.answers.catalogue.changed_at;
    let mut response = if known { HttpResponse::NotModified() } else { HttpResponse::Ok() };
    response
        .insert_header((header::CACHE_CONTROL, "public, max-age=300"))
        .insert_header((header::ETAG, snapshot.answers.etag.as_str()))
        .insert_header((header::LAST_MODIFIED, instant::http_date(changed_at)));
    if known {
        return response.finish();
    }
    response.content_type(ContentType::json()).body(body)
}

/// Whether the client has this version; an entity tag counts more than a date.
fn is_known(request: &HttpRequest, snapshot: &Snapshot) -> bool {
    let answers = &snapshot.answers;
    let text = |name| request.headers().get(name).and_then(|value| value.to_str().ok());
    if let Some(tags) = text(header::IF_NONE_MATCH) {
        return tags
            .split(',')
            .map(str::trim)
            .any(|tag| tag == "*" || tag.strip_prefix("W/").unwrap_or(tag) == answers.etag);
    }
    text(header::IF_MODIFIED_SINCE)
        .and_then(instant::parse_http_date)
        .is_some_and(|since| answers.catalogue.changed_at <= since)
}
