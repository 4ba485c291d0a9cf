//! Answers as this API writes them.

use actix_web::body::MessageBody;
use actix_web::http::header::{self, ContentType, HeaderValue};
use actix_web::web::Bytes;
use actix_web::{HttpRequest, HttpResponse};
use shell::{EntityTag, Validators};

use crate::state::Snapshot;

/// Answers of the catalogue may be kept for five minutes.
const CATALOGUE_CACHE: &str = "public, max-age=300";

/// An answer that is JSON already.
pub fn json(body: impl MessageBody + 'static) -> HttpResponse {
    let json = HeaderValue::from_static("application/json");
    HttpResponse::Ok().insert_header((header::CONTENT_TYPE, json)).body(body)
}

/// An answer from the catalogue with its cache headers, or 304 when the client has it.
pub fn catalogue(request: &HttpRequest, snapshot: &Snapshot, body: Bytes) -> HttpResponse {
    let tag = EntityTag::new(&snapshot.answers.version_tag);
    let changed_at = snapshot.answers.catalogue.changed_at;
    let validators = Validators::strong(tag).modified(changed_at);
    validators.answer(request, CATALOGUE_CACHE, |mut response| {
        response.content_type(ContentType::json()).body(body)
    })
}
