//! Searches by hash prefix.

use actix_web::http::header::ContentType;
use actix_web::web::Data;
use actix_web::{HttpRequest, HttpResponse, get, post};

use super::input::{KeyedBody, Segment, keyed_request};
use super::reply;
use crate::app;
use crate::error::Error;
use crate::state::State;
use crate::wire::{RangeEntry, RangesRequest};

/// Breaches by hash prefix
///
/// The client sends the first 6 characters of the SHA-1 of the normalised address (trimmed,
/// lower-case) and looks for the other 34 in the answer. Entries that do not match must be
/// discarded at once and must not be stored. An address whose suffix is absent is not in any
/// breach. Plans with `IncludesKAnon`: Pro, High RPM; test keys see the test accounts.
#[utoipa::path(
    operation_id = "breachedAccountRange",
    tag = "Accounts",
    security(("key" = [])),
    params(("prefix" = String, Path, description = "The first 6 hexadecimal characters of the SHA-1 of the address, any case", pattern = "^[0-9A-Fa-f]{6}$", example = "567159")),
    extensions(("x-failures" = json!(["prefix", "subscriptionEnded"]))),
    responses(
        (status = 200, description = "The addresses with this prefix, by suffix; may be empty", body = [RangeEntry]),
    )
)]
#[get("/api/v3/breachedaccount/range/{prefix}")]
pub async fn breached_account_range(
    request: HttpRequest,
    state: Data<State>,
) -> Result<HttpResponse, Error> {
    let prefix = Segment::of(&request).prefix();
    let keyed = keyed_request(&request, &state)?.of_searches(prefix.as_ref().ok().map(|_| 1));
    Ok(reply::json(app::breached_range(&state, keyed, prefix).await?))
}

/// Breaches by several hash prefixes
///
/// An extension of this service: the answers of up to 1,000 range requests in one object, by
/// upper-case prefix. Each prefix costs one range request. If the total exceeds a full quota of the
/// plan, the request is refused with 400, and the message contains the maximum. The answer is
/// streamed; a truncated object means that it failed. Entries that do not match must be discarded
/// at once and must not be stored. Plans with `IncludesKAnon`: Pro, High RPM; test keys see the
/// test accounts.
#[utoipa::path(
    operation_id = "breachedAccountRanges",
    tag = "Accounts",
    security(("key" = [])),
    request_body(content = RangesRequest, description = "At most 16 KiB"),
    extensions(("x-failures" = json!(["prefixes", "tooManyPrefixes", "subscriptionEnded"]))),
    responses(
        (status = 200, description = "The addresses of each prefix, by suffix", body = BTreeMap<String, Vec<RangeEntry>>, example = json!({"567159": [{"hashSuffix": "22FFBB50B11B0EFD307BE358624A26EE00", "websites": ["Acmegram"]}], "D622FF": []})),
    )
)]
#[post("/api/v3/breachedaccount/ranges")]
pub async fn breached_account_ranges(
    KeyedBody(keyed, prefixes): KeyedBody<RangesRequest>,
    state: Data<State>,
) -> Result<HttpResponse, Error> {
    let prefixes = prefixes.ok_or(Error::Prefixes);
    let keyed = keyed.of_searches(prefixes.as_ref().ok().map(Vec::len));
    let pieces = app::breached_ranges(&state, keyed, prefixes).await?;
    Ok(HttpResponse::Ok().content_type(ContentType::json()).streaming(pieces))
}
