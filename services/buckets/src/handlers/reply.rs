//! Builds responses.

use actix_web::HttpResponse;
use actix_web::http::header::LOCATION;
use serde::Serialize;

use crate::error::Error;

const JSON: &str = "application/json; charset=utf-8";

/// Builds a JSON response with an explicit charset.
pub(super) fn json(answer: &impl Serialize) -> Result<HttpResponse, Error> {
    Ok(HttpResponse::Ok().content_type(JSON).body(text(answer)?))
}

/// Builds a 201 response with the new resource and its location.
pub(super) fn created(answer: &impl Serialize, path: &str) -> Result<HttpResponse, Error> {
    let mut response = HttpResponse::Created();
    Ok(response.content_type(JSON).insert_header((LOCATION, path)).body(text(answer)?))
}

fn text(answer: &impl Serialize) -> Result<String, Error> {
    serde_json::to_string(answer).map_err(|error| Error::Internal(error.to_string()))
}
