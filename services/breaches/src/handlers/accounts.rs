//! Breaches of an address.

use actix_web::web::Data;
use actix_web::{HttpRequest, HttpResponse, get};

use super::input::{Query, Segment, keyed_request};
use super::reply;
use crate::app::{self, AccountFilter};
use crate::error::Error;
use crate::model::plan::Operation;
use crate::state::State;
use crate::wire::AccountBreach;

/// Breaches of an address
///
/// Sensitive, retired and inactive breaches are left out, and so are addresses whose owners opted
/// out. Plans: Core, Pro, High RPM; test keys for addresses at the test domain.
#[utoipa::path(
    path = "/api/v3/breachedAccount/{email}",
    operation_id = "breachedAccount",
    tag = "Accounts",
    security(("key" = [])),
    params(
        ("email" = String, Path, description = "Address; trimmed, any letter case", example = "account-exists@breach-integration-tests.example"),
        ("truncateResponse" = Option<bool>, Query, description = "`false` answers with the full breach model; default `true`"),
        ("Domain" = Option<String>, Query, description = "Only breaches of this domain, ignoring case"),
        ("IncludeUnverified" = Option<bool>, Query, description = "`false` leaves unverified breaches out; default `true`"),
    ),
    responses(
        (status = 200, description = "The breaches, by title", body = [AccountBreach], example = json!([{"Name": "Acmegram"}])),
        (status = 404, description = "The address is in no breach; the body is empty"),
    )
)]
#[get("/api/v3/breachedAccount/{email}")]
pub async fn breached_account(
    request: HttpRequest,
    state: Data<State>,
) -> Result<HttpResponse, Error> {
    let keyed = keyed_request(&request, &state, Operation::BreachedAccount)?;
    let address = Segment::of(&request).email();
    let input = address.and_then(|address| Ok((address, filter(request.query_string())?)));
    Ok(reply::json(app::breached_account(&state, keyed, input).await?))
}

fn filter(query: &str) -> Result<AccountFilter, Error> {
    let query = Query::parse(query)?;
    Ok(AccountFilter {
        truncated: query.boolean("truncateResponse")?.unwrap_or(true),
        domain: query.text("Domain").map(str::to_lowercase),
        unverified: query.boolean("IncludeUnverified")?.unwrap_or(true),
    })
}
