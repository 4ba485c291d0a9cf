//! One file per resource: read the request, ask once, convert.

pub mod account;
pub mod catalogue;
pub mod domain;
pub mod paste;
pub mod range;
pub mod stealer_log;
pub mod subscription;

mod input;

use actix_web::HttpResponse;
use actix_web::body::MessageBody;
use actix_web::http::header::{CONTENT_TYPE, HeaderValue};

/// An answer that is JSON already.
fn json(body: impl MessageBody + 'static) -> HttpResponse {
    let json = HeaderValue::from_static("application/json");
    HttpResponse::Ok().insert_header((CONTENT_TYPE, json)).body(body)
}
