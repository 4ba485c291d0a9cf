//! JSON responses, with the headers for lists, created resources and conditional requests.

use actix_web::http::header;
use actix_web::{HttpRequest, HttpResponse};
use serde::Serialize;
use shell::Validators;

use crate::error::Error;
use crate::wire::envelope::ListMeta;
use crate::wire::fields;

/// The media type of JSON responses.
pub const JSON: &str = "application/json; charset=UTF-8";

/// Serializes a value, keeping only the requested keys.
fn text<T: Serialize>(value: &T, cut: Option<&str>) -> Result<String, Error> {
    fields::written(value, cut).map_err(|error| Error::Internal(error.to_string()))
}

/// Returns 200 with a value.
pub fn ok<T: Serialize>(value: &T, cut: Option<&str>) -> Result<HttpResponse, Error> {
    Ok(HttpResponse::Ok().insert_header((header::CONTENT_TYPE, JSON)).body(text(value, cut)?))
}

/// Returns 201 with a new resource and its URL.
pub fn created<T: Serialize>(
    value: &T,
    location: String,
    cut: Option<&str>,
) -> Result<HttpResponse, Error> {
    Ok(HttpResponse::Created()
        .insert_header((header::CONTENT_TYPE, JSON))
        .insert_header((header::LOCATION, location))
        .body(text(value, cut)?))
}

/// Returns 200 with a page of a list.
pub fn list<T: Serialize>(
    value: &T,
    meta: &ListMeta,
    cut: Option<&str>,
) -> Result<HttpResponse, Error> {
    let mut response = HttpResponse::Ok();
    response.insert_header((header::CONTENT_TYPE, JSON));
    for prefix in ["X-TEC", "X-WP"] {
        response.insert_header((format!("{prefix}-Total"), meta.total.to_string()));
        response.insert_header((format!("{prefix}-TotalPages"), meta.total_pages.to_string()));
    }
    let links: Vec<String> = [("next", &meta.next_rest_url), ("prev", &meta.previous_rest_url)]
        .into_iter()
        .filter_map(|(rel, url)| Some(format!("<{}>; rel=\"{rel}\"", url.as_ref()?)))
        .collect();
    if !links.is_empty() {
        response.insert_header((header::LINK, links.join(", ")));
    }
    Ok(response.body(text(value, cut)?))
}

/// Returns 200 and an entity tag for a single resource, or 304 if the client already has that tag.
///
/// We ignore `If-Modified-Since`, because embedded resources and scheduled publication can change a
/// response without changing its date.
pub fn read<T: Serialize>(
    value: &T,
    modified: Option<i64>,
    request: &HttpRequest,
    cut: Option<&str>,
) -> Result<HttpResponse, Error> {
    let body = text(value, cut)?;
    // Use a weak tag, because the same content may be sent with or without compression.
    let validators = Validators::weak(fields::tag(&body));
    let validators = modified.map_or(validators, |seconds| validators.dated(seconds));
    // The content depends on the caller, so keep it out of shared caches.
    Ok(validators.answer(request, "private, no-cache", |mut response| {
        response.insert_header((header::CONTENT_TYPE, JSON)).body(body)
    }))
}
