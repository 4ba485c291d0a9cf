//! Answers: JSON with the headers of lists, creations and conditional reads.

use actix_web::http::header;
use actix_web::{HttpRequest, HttpResponse};
use serde::Serialize;
use shell::Validators;

use crate::error::Error;
use crate::wire::envelope::ListMeta;
use crate::wire::fields;

/// The media type of every answer.
pub const JSON: &str = "application/json; charset=UTF-8";

/// Writes a value as JSON, cut down to the asked keys.
fn text<T: Serialize>(value: &T, cut: Option<&str>) -> Result<String, Error> {
    fields::written(value, cut).map_err(|error| Error::Internal(error.to_string()))
}

/// Answers 200 with a value.
pub fn ok<T: Serialize>(value: &T, cut: Option<&str>) -> Result<HttpResponse, Error> {
    Ok(HttpResponse::Ok().insert_header((header::CONTENT_TYPE, JSON)).body(text(value, cut)?))
}

/// Answers 201 with a new resource and its address.
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

/// Answers 200 with a page of a list.
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

/// Answers a single read: 200 with its tag, or 304 when the client has the same already.
///
/// The tag alone decides. What an answer shows of other resources, and what the clock publishes,
/// changes without a newer date of the resource itself, so `If-Modified-Since` is not asked.
pub fn read<T: Serialize>(
    value: &T,
    modified: Option<i64>,
    request: &HttpRequest,
    cut: Option<&str>,
) -> Result<HttpResponse, Error> {
    let body = text(value, cut)?;
    // Weak, as the same content also travels compressed.
    let validators = Validators::weak(fields::tag(&body));
    let validators = modified.map_or(validators, |seconds| validators.dated(seconds));
    // What is shown depends on the caller, so that no shared cache may keep it.
    Ok(validators.answer(request, "private, no-cache", |mut response| {
        response.insert_header((header::CONTENT_TYPE, JSON)).body(body)
    }))
}
