//! Searches by hash prefix.

use actix_web::http::header::ContentType;
use actix_web::web::Data;
use actix_web::{HttpRequest, HttpResponse, get, post};

use super::input::{KeyedJson, Segment, keyed_request};
use super::reply;
use crate::app;
use crate::error::Error;
use crate::state::State;
use crate::wire::{RangeEntry, RangesRequest};

/// Search breaches by hash prefix
///
/// Returns the breaches of every address whose SHA-1 hash starts with `prefix`. The client hashes
/// the normalised address (trimmed, lower case), sends the first 6 characters of the hash, and
/// searches the response for the other 34. If the suffix is absent, the address is not in any
/// breach. Clients must discard all other entries immediately and must not store them. Available on
/// plans with `IncludesKAnon` (Pro, High RPM). Test keys can search the test accounts.
#[utoipa::path(
    operation_id = "breachedAccountRange",
    tag = "Accounts",
    security(("key" = [])),
    params(("prefix" = String, Path, description = "First 6 hexadecimal characters of the address's SHA-1 hash, in upper or lower case.", pattern = "^[0-9A-Fa-f]{6}$", example = "567159")),
    extensions(("x-failures" = json!(["prefix", "subscriptionEnded"]))),
    responses(
        (status = 200,
            description = "The entries with this prefix, sorted by suffix. The list may be empty.",
            body = [RangeEntry]),
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

/// Search breaches by several hash prefixes
///
/// Returns the results of up to 1,000 range requests in one object, keyed by upper-case prefix.
/// This operation is an extension of this service. Each prefix costs as much as one range request.
/// If the total cost exceeds the plan's full quota, the request fails with 400, and the message
/// contains the maximum number of prefixes. The response is streamed, so a truncated object means
/// that the request failed. Clients must discard entries that do not match immediately and must not
/// store them. Available on plans with `IncludesKAnon` (Pro, High RPM). Test keys can search the
/// test accounts.
#[utoipa::path(
    operation_id = "breachedAccountRanges",
    tag = "Accounts",
    security(("key" = [])),
    request_body(content = RangesRequest,
        description = "The prefixes. The body can be up to 16 KiB in size."),
    extensions(("x-failures" = json!(["bodyTooLarge", "prefixes", "tooManyPrefixes", "subscriptionEnded"]))),
    responses(
        (status = 200, description = "The entries of each prefix, sorted by suffix.", body = BTreeMap<String, Vec<RangeEntry>>, example = json!({"567159": [{"hashSuffix": "22FFBB50B11B0EFD307BE358624A26EE00", "websites": ["Acmegram"]}], "D622FF": []})),
    )
)]
#[post("/api/v3/breachedaccount/ranges")]
pub async fn breached_account_ranges(
    KeyedJson(keyed, prefixes): KeyedJson<RangesRequest>,
    state: Data<State>,
) -> Result<HttpResponse, Error> {
    let prefixes = prefixes.and_then(|content| content.ok_or(Error::Prefixes));
    let keyed = keyed.of_searches(prefixes.as_ref().ok().map(Vec::len));
    let pieces = app::breached_ranges(&state, keyed, prefixes).await?;
    Ok(HttpResponse::Ok().content_type(ContentType::json()).streaming(pieces))
}
