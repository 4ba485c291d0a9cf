//! JSON responses, with headers for lists, new resources and conditional requests.

use actix_web::http::header;
use actix_web::{HttpRequest, HttpResponse};
use serde::Serialize;
use shell::Validators;

use crate::error::Error;
use crate::wire::envelope::ListMeta;
use crate::wire::fields;

/// The media type of JSON responses.
pub const JSON: &str = "application/json; charset=UTF-8";

/// Serializes `value`, keeping only the keys in `cut`.
fn text<T: Serialize>(value: &T, cut: Option<&str>) -> Result<String, Error> {
    fields::written(value, cut).map_err(|error| Error::Internal(error.to_string()))
}

/// Responds with 200 and a value.
pub fn ok<T: Serialize>(value: &T, cut: Option<&str>) -> Result<HttpResponse, Error> {
    Ok(HttpResponse::Ok().insert_header((header::CONTENT_TYPE, JSON)).body(text(value, cut)?))
}

/// Responds with 201, a new resource and its URL.
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

/// Responds with 200 and a page of a list.
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

/// Responds with 200, a single resource and its entity tag, or with 304 if the client already has
/// it.
///
/// `If-Modified-Since` is ignored, because embedded resources and scheduled publication can change
/// a response without affecting its modification date.
pub fn read<T: Serialize>(
    value: &T,
    modified: Option<i64>,
    request: &HttpRequest,
    cut: Option<&str>,
) -> Result<HttpResponse, Error> {
    let body = text(value, cut)?;
    // The same content can be sent with or without compression, so the tag is weak.
    let validators = Validators::weak(fields::tag(&body));
    let validators = modified.map_or(validators, |seconds| validators.dated(seconds));
    // The content depends on the caller, so shared caches must not store it.
    Ok(validators.answer(request, "private, no-cache", |mut response| {
        response.insert_header((header::CONTENT_TYPE, JSON)).body(body)
    }))
}
