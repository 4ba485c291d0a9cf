//! The breach catalogue, which doesn't require a key.

use actix_web::web::Data;
use actix_web::{HttpRequest, HttpResponse, get};

use super::input::{Segment, charge_keyless, query_without_empty};
use super::reply;
use crate::error::Error;
use crate::model::entry;
use crate::state::State;
use crate::wire::{Breach, BreachesQuery};

/// List all breaches
///
/// Returns all breaches in the catalogue, sorted by title. Sensitive and retired breaches are
/// included; inactive breaches are not.
#[utoipa::path(
    operation_id = "breaches",
    tag = "Catalogue",
    params(BreachesQuery),
    extensions(("x-failures" = json!(["isSpamList", "unreadable"]))),
    responses(
        (status = 200, description = "The breaches. The list may be empty.", body = [Breach]),
        (status = 304, description = "The client's copy is up to date."),
        (status = 429, description = "The rate limit per client address is exceeded."),
    )
)]
#[get("/api/v3/breaches")]
pub async fn breaches(request: HttpRequest, state: Data<State>) -> Result<HttpResponse, Error> {
    charge_keyless(&request, &state)?;
    let BreachesQuery { domain, is_spam_list } = query_without_empty(&request)?;
    let snapshot = state.snapshot();
    if domain.is_none() && is_spam_list.is_none() {
        return Ok(reply::catalogue(&request, &state, &snapshot, snapshot.answers.listing.clone()));
    }
    let domain = domain.map(|domain| entry::a_labels(&domain));
    let body = snapshot.answers.list(|listed| {
        domain.as_ref().is_none_or(|domain| *domain == listed.domain)
            && is_spam_list.is_none_or(|wanted| wanted == listed.flags.spam_list)
    });
    Ok(reply::catalogue(&request, &state, &snapshot, body.into()))
}

/// Get a breach
///
/// Returns the breach with the given name.
#[utoipa::path(
    operation_id = "breach",
    tag = "Catalogue",
    params(
        ("name" = String, Path, description = "Name of the breach. Case is ignored.",
            example = "Acmegram"),
    ),
    responses(
        (status = 200, description = "The breach.", body = Breach),
        (status = 304, description = "The client's copy is up to date."),
        (status = 404, description = "No listed breach has this name. The body is empty."),
        (status = 429, description = "The rate limit per client address is exceeded."),
    )
)]
#[get("/api/v3/breach/{name}")]
pub async fn breach(request: HttpRequest, state: Data<State>) -> Result<HttpResponse, Error> {
    charge_keyless(&request, &state)?;
    let snapshot = state.snapshot();
    let segment = Segment::of(&request);
    let index = snapshot.answers.catalogue.listed_index(segment.text()).ok_or(Error::NotFound)?;
    Ok(reply::catalogue(&request, &state, &snapshot, snapshot.answers.one(index).into()))
}

/// Get the latest breach
///
/// Returns the breach that was added most recently. Poll this operation to detect new breaches, and
/// repeat domain searches only when the result changes.
#[utoipa::path(
    operation_id = "latestBreach",
    tag = "Catalogue",
    responses(
        (status = 200, description = "The breach.", body = Breach),
        (status = 304, description = "The client's copy is up to date."),
        (status = 404, description = "The catalogue is empty. The body is empty."),
        (status = 429, description = "The rate limit per client address is exceeded."),
    )
)]
#[get("/api/v3/latestBreach")]
pub async fn latest_breach(
    request: HttpRequest,
    state: Data<State>,
) -> Result<HttpResponse, Error> {
    charge_keyless(&request, &state)?;
    let snapshot = state.snapshot();
    let index = snapshot.answers.catalogue.latest().ok_or(Error::NotFound)?;
    Ok(reply::catalogue(&request, &state, &snapshot, snapshot.answers.one(index).into()))
}

/// List all data classes
///
/// Returns all data classes in alphabetical order. The list may include classes that are not used
/// by any listed breach.
#[utoipa::path(
    operation_id = "dataClasses",
    tag = "Catalogue",
    responses(
        (status = 200,
            description = "The data classes.",
            body = [String], example = json!(["Email addresses", "Passwords"])),
        (status = 304, description = "The client's copy is up to date."),
        (status = 429, description = "The rate limit per client address is exceeded."),
    )
)]
#[get("/api/v3/dataClasses")]
pub async fn data_classes(request: HttpRequest, state: Data<State>) -> Result<HttpResponse, Error> {
    charge_keyless(&request, &state)?;
    let snapshot = state.snapshot();
    let body = serde_json::to_vec(snapshot.answers.catalogue.data_classes())
        .map_err(|error| Error::Internal(error.to_string()))?;
    Ok(reply::catalogue(&request, &state, &snapshot, body.into()))
}
