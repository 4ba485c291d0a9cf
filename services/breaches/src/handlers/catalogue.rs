//! The breach catalogue, open to everybody.

use actix_web::http::header::{self, ContentType};
use actix_web::web::{Bytes, Data};
use actix_web::{HttpRequest, HttpResponse, get};

use super::input::{Query, Segment};
use crate::error::Error;
use crate::model::instant;
use crate::snapshot::Snapshot;
use crate::state::State;
use crate::wire::Breach;

/// All breaches
///
/// By title; inactive breaches are left out, sensitive and retired ones are listed.
#[utoipa::path(
    path = "/api/v3/breaches",
    operation_id = "breaches",
    tag = "Catalogue",
    params(
        ("Domain" = Option<String>, Query, description = "Only breaches of this domain, ignoring case"),
        ("IsSpamList" = Option<bool>, Query, description = "Only spam lists, or only others"),
    ),
    responses(
        (status = 200, description = "The breaches; may be empty", body = [Breach]),
        (status = 304, description = "Not changed since the answer that the client has"),
        (status = 429, description = "The operator's limit per client address is exceeded"),
    )
)]
#[get("/api/v3/breaches")]
pub async fn breaches(request: HttpRequest, state: Data<State>) -> Result<HttpResponse, Error> {
    state.keyless(&request)?;
    let query = Query::parse(request.query_string())?;
    let (domain, spam_list) = (query.text("Domain").map(str::to_lowercase), spam_list(&query)?);
    let snapshot = state.view().snapshot;
    if domain.is_none() && spam_list.is_none() {
        return Ok(answer(&request, &snapshot, snapshot.listing.clone()));
    }
    let body = snapshot.list(|listed| {
        domain.as_ref().is_none_or(|domain| *domain == listed.domain)
            && spam_list.is_none_or(|wanted| wanted == listed.flags.spam_list)
    });
    Ok(answer(&request, &snapshot, body.into()))
}

/// An empty value is no filter.
fn spam_list(query: &Query) -> Result<Option<bool>, Error> {
    query.text("IsSpamList").map_or(Ok(None), |_| query.boolean("IsSpamList"))
}

/// One breach
///
/// The name is compared ignoring case.
#[utoipa::path(
    path = "/api/v3/breach/{name}",
    operation_id = "breach",
    tag = "Catalogue",
    params(("name" = String, Path, description = "Name of the breach", example = "Acmegram")),
    responses(
        (status = 200, description = "The breach", body = Breach),
        (status = 304, description = "Not changed since the answer that the client has"),
        (status = 404, description = "No listed breach has this name; the body is empty"),
        (status = 429, description = "The operator's limit per client address is exceeded"),
    )
)]
#[get("/api/v3/breach/{name}")]
pub async fn breach(request: HttpRequest, state: Data<State>) -> Result<HttpResponse, Error> {
    state.keyless(&request)?;
    let snapshot = state.view().snapshot;
    let segment = Segment::of(&request);
    let place = snapshot.catalogue.listed_place(segment.text()).ok_or(Error::NotFound)?;
    Ok(answer(&request, &snapshot, snapshot.one(place).into()))
}

/// The breach added last
///
/// Poll this one to learn of news; search domains only when it changes.
#[utoipa::path(
    path = "/api/v3/latestBreach",
    operation_id = "latestBreach",
    tag = "Catalogue",
    responses(
        (status = 200, description = "The breach", body = Breach),
        (status = 304, description = "Not changed since the answer that the client has"),
        (status = 404, description = "The catalogue is empty; the body is empty"),
        (status = 429, description = "The operator's limit per client address is exceeded"),
    )
)]
#[get("/api/v3/latestBreach")]
pub async fn latest_breach(
    request: HttpRequest,
    state: Data<State>,
) -> Result<HttpResponse, Error> {
    state.keyless(&request)?;
    let snapshot = state.view().snapshot;
    let place = snapshot.catalogue.latest().ok_or(Error::NotFound)?;
    Ok(answer(&request, &snapshot, snapshot.one(place).into()))
}

/// All data classes
///
/// Alphabetical; may hold classes that no listed breach has.
#[utoipa::path(
    path = "/api/v3/dataClasses",
    operation_id = "dataClasses",
    tag = "Catalogue",
    responses(
        (status = 200, description = "The classes", body = [String], example = json!(["Email addresses", "Passwords"])),
        (status = 304, description = "Not changed since the answer that the client has"),
        (status = 429, description = "The operator's limit per client address is exceeded"),
    )
)]
#[get("/api/v3/dataClasses")]
pub async fn data_classes(request: HttpRequest, state: Data<State>) -> Result<HttpResponse, Error> {
    state.keyless(&request)?;
    let snapshot = state.view().snapshot;
    let body = serde_json::to_vec(snapshot.catalogue.data_classes())
        .map_err(|error| Error::Internal(error.to_string()))?;
    Ok(answer(&request, &snapshot, body.into()))
}

/// The answer with its cache headers, or 304 when the client has it.
fn answer(request: &HttpRequest, snapshot: &Snapshot, body: Bytes) -> HttpResponse {
    let known = is_known(request, snapshot);
    let mut response = if known { HttpResponse::NotModified() } else { HttpResponse::Ok() };
    response
        .insert_header((header::CACHE_CONTROL, "public, max-age=300"))
        .insert_header((header::ETAG, snapshot.etag.as_str()))
        .insert_header((header::LAST_MODIFIED, instant::http_date(snapshot.catalogue.changed_at)));
    if known {
        return response.finish();
    }
    response.content_type(ContentType::json()).body(body)
}

/// Whether the client has this version; an entity tag counts more than a date.
fn is_known(request: &HttpRequest, snapshot: &Snapshot) -> bool {
    let text = |name| request.headers().get(name).and_then(|value| value.to_str().ok());
    if let Some(tags) = text(header::IF_NONE_MATCH) {
        return tags
            .split(',')
            .map(str::trim)
            .any(|tag| tag == "*" || tag.strip_prefix("W/").unwrap_or(tag) == snapshot.etag);
    }
    text(header::IF_MODIFIED_SINCE)
        .and_then(instant::parse_http_date)
        .is_some_and(|since| snapshot.catalogue.changed_at <= since)
}
