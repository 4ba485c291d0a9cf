//! Breaches of the addresses whose hash begins with a prefix.

use actix_web::web::Data;
use actix_web::{HttpRequest, HttpResponse, get};

use super::input::{Segment, keyed_request};
use super::reply;
use crate::app;
use crate::error::Error;
use crate::state::State;
use crate::wire::RangeEntry;

/// Breaches by hash prefix
///
/// The client sends the first 6 characters of the SHA-1 of the normalised address (trimmed,
/// lower-case) and looks for the other 34 in the answer. Entries that do not match must be
/// discarded at once and never be stored. An address whose suffix is absent is in no breach.
/// Plans with `IncludesKAnon`: Pro, High RPM; test keys see the test accounts.
#[utoipa::path(
    path = "/api/v3/breachedaccount/range/{prefix}",
    operation_id = "breachedAccountRange",
    tag = "Accounts",
    security(("key" = [])),
    params(("prefix" = String, Path, description = "The first 6 hexadecimal characters of the SHA-1 of the address, any case", pattern = "^[0-9A-Fa-f]{6}$", example = "567159")),
    responses(
        (status = 200, description = "The addresses with this prefix, by suffix; may be empty", body = [RangeEntry]),
    )
)]
#[get("/api/v3/breachedaccount/range/{prefix}")]
pub async fn breached_account_range(
    request: HttpRequest,
    state: Data<State>,
) -> Result<HttpResponse, Error> {
    let keyed = keyed_request(&request, &state)?;
    let prefix = Segment::of(&request).prefix();
    Ok(reply::json(app::breached_range(&state, keyed, prefix).await?))
}
