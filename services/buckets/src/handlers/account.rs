//! `GET /api/account`

use actix_web::web::Data;
use actix_web::{HttpRequest, HttpResponse, get};
use auth::Caller;
use shell::{Credentials, Fault};

use super::input::check_query;
use super::reply::json;
use crate::app;
use crate::error::{Error, Failures};
use crate::state::State;
use crate::wire::account::AccountAnswer;

/// Get the account
///
/// Returns the account that the API key belongs to. This request does not count against the rate
/// limit.
#[utoipa::path(
    operation_id = "getAccount",
    tag = "account",
    responses((status = 200, description = "The account.", body = AccountAnswer), Failures),
    security(("bearer" = []), ("access_token" = []))
)]
#[get("/api/account")]
pub async fn get_account(
    caller: Caller,
    request: HttpRequest,
    state: Data<State>,
) -> Result<HttpResponse, Error> {
    let missing = || Error::Fault(Fault::Unauthorized(Credentials::Missing));
    let key = caller.key.as_ref().ok_or_else(missing)?;
    check_query(&request)?;
    json(&app::get_account(&state, key))
}
