//! Breaches by address.

use actix_web::web::Data;
use actix_web::{HttpRequest, HttpResponse, get};

use super::input::{Segment, keyed_request, query};
use super::reply;
use crate::app;
use crate::error::Error;
use crate::state::State;
use crate::wire::{AccountBreach, BreachedAccountQuery};

/// Get an address's breaches
///
/// Returns the breaches that contain an email address. Sensitive, retired and inactive breaches are
/// not included. Addresses whose owners have opted out are not found. Available on the Core, Pro
/// and High RPM plans, and to test keys for addresses at the test domain.
#[utoipa::path(
    operation_id = "breachedAccount",
    tag = "Accounts",
    security(("key" = [])),
    params(
        ("email" = String, Path, format = Email,
            description = "Email address. Case is ignored, and surrounding whitespace is trimmed.",
            example = "account-exists@breach-integration-tests.example"),
        BreachedAccountQuery,
    ),
    extensions(("x-failures" = json!(["email", "truncateResponse", "includeUnverified", "unreadable", "subscriptionEnded"]))),
    responses(
        (status = 200,
            description = "The breaches, sorted by title.",
            body = [AccountBreach], example = json!([{"Name": "Acmegram"}])),
        (status = 404, description = "The address is not in any breach. The body is empty."),
    )
)]
#[get("/api/v3/breachedAccount/{email}")]
pub async fn breached_account(
    request: HttpRequest,
    state: Data<State>,
) -> Result<HttpResponse, Error> {
    let keyed = keyed_request(&request, &state)?;
    let address = Segment::of(&request).email();
    let input =
        address.and_then(|address| Ok((address, query::<BreachedAccountQuery>(&request)?.into())));
    Ok(reply::json(app::breached_account(&state, keyed, input).await?))
}
