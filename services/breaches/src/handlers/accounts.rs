//! Breaches by address.

use actix_web::web::Data;
use actix_web::{HttpRequest, HttpResponse, get};

use super::input::{Segment, keyed_request, query};
use super::reply;
use crate::app;
use crate::error::Error;
use crate::state::State;
use crate::wire::{AccountBreach, BreachedAccountQuery};

/// Breaches of an address
///
/// Sensitive, retired and inactive breaches are left out, and so are addresses whose owners opted
/// out. Plans: Core, Pro, High RPM; test keys for addresses at the test domain.
#[utoipa::path(
    operation_id = "breachedAccount",
    tag = "Accounts",
    security(("key" = [])),
    params(
        ("email" = String, Path, format = Email, description = "Address; trimmed, any letter case", example = "account-exists@breach-integration-tests.example"),
        BreachedAccountQuery,
    ),
    extensions(("x-failures" = json!(["email", "truncateResponse", "includeUnverified", "unreadable", "subscriptionEnded"]))),
    responses(
        (status = 200, description = "The breaches, by title", body = [AccountBreach], example = json!([{"Name": "Acmegram"}])),
        (status = 404, description = "The address is not in any breach; the body is empty"),
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
