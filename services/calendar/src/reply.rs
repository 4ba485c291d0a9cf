//! Answers: JSON with the headers of lists, creations and conditional reads.

use std::hash::{DefaultHasher, Hasher};

use actix_web::HttpResponse;
use actix_web::http::StatusCode;
use actix_web::http::header;
use jiff::Timestamp;
use jiff::fmt::rfc2822::{DateTimeParser, DateTimePrinter};
use serde::Serialize;

use crate::error::Error;
use crate::request::Conditions;
use crate::wire::envelope::Frame;
use crate::wire::fields;

/// The media type of every answer.
pub const JSON: &str = "application/json; charset=UTF-8";

/// Writes a value as JSON, cut down to the asked keys.
fn text<T: Serialize>(value: &T, cut: Option<&str>) -> Result<String, Error> {
    let broken = |error: serde_json::Error| Error::Internal(error.to_string());
    let json = serde_json::to_string(value).map_err(broken)?;
    match cut {
        Some(keys) => fields::cut(&json, keys).map_err(broken),
        None => Ok(json),
    }
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
    frame: &Frame,
    cut: Option<&str>,
) -> Result<HttpResponse, Error> {
    let mut response = HttpResponse::Ok();
    response.insert_header((header::CONTENT_TYPE, JSON));
    for prefix in ["X-TEC", "X-WP"] {
        response.insert_header((format!("{prefix}-Total"), frame.total.to_string()));
        response.insert_header((format!("{prefix}-TotalPages"), frame.total_pages.to_string()));
    }
    let links: Vec<String> = [("next", &frame.next_rest_url), ("prev", &frame.previous_rest_url)]
        .into_iter()
        .filter_map(|(rel, url)| Some(format!("<{}>; rel=\"{rel}\"", url.as_ref()?)))
        .collect();
    if !links.is_empty() {
        response.insert_header((header::LINK, links.join(", ")));
    }
    Ok(response.body(text(value, cut)?))
}

/// Answers a single read: 200 with its tag, or 304 when the client has the same already.
pub fn read<T: Serialize>(
    value: &T,
    modified: i64,
    conditions: &Conditions,
    cut: Option<&str>,
) -> Result<HttpResponse, Error> {
    let body = text(value, cut)?;
    let mut hasher = DefaultHasher::new();
    hasher.write(body.as_bytes());
    // Weak, as the same content also travels compressed.
    let tag = format!("W/\"{:016x}\"", hasher.finish());
    let same = match (&conditions.none_match, &conditions.modified_since) {
        (Some(tags), _) => {
            tags.split(',').any(|one| matches!(one.trim(), "*") || one.trim() == tag)
        }
        (None, Some(since)) => parse_date(since).is_some_and(|since| modified <= since),
        (None, None) => false,
    };
    let status = if same { StatusCode::NOT_MODIFIED } else { StatusCode::OK };
    let mut response = HttpResponse::build(status);
    response.insert_header((header::ETAG, tag));
    // What is shown depends on the caller, so that no shared cache may keep it.
    response.insert_header((header::CACHE_CONTROL, "private, no-cache"));
    if let Some(date) = http_date(modified) {
        response.insert_header((header::LAST_MODIFIED, date));
    }
    if same {
        return Ok(response.finish());
    }
    Ok(response.insert_header((header::CONTENT_TYPE, JSON)).body(body))
}

fn http_date(seconds: i64) -> Option<String> {
    let at = Timestamp::from_second(seconds).ok()?;
    DateTimePrinter::new().timestamp_to_rfc9110_string(&at).ok()
}

fn parse_date(text: &str) -> Option<i64> {
    DateTimeParser::new().parse_timestamp(text).ok().map(Timestamp::as_second)
}
