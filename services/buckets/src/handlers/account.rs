//! `GET /api/account`.

use actix_web::web::Data;
use actix_web::{HttpResponse, get};
use auth::Caller;
use shell::{Credentials, Fault};

use super::{json, package_of};
use crate::error::{Error, Failures};
use crate::state::State;
use crate::wire::account::{Account, AccountAnswer};

/// The caller's own account
///
/// Costs nothing of the rate.
#[utoipa::path(
    operation_id = "getAccount",
    tag = "account",
    responses((status = 200, description = "The account", body = AccountAnswer), Failures),
    security(("bearer" = []), ("access_token" = []))
)]
#[get("/api/account")]
pub async fn get(caller: Caller, state: Data<State>) -> Result<HttpResponse, Error> {
    let package = package_of(&caller, &state.catalog());
    let missing = || Error::Fault(Fault::Unauthorized(Credentials::Missing));
    let key = caller.key.as_ref().ok_or_else(missing)?;
    Ok(json(&AccountAnswer {
        account: Account {
            name: key.owner.clone(),
            package: package.code,
            depth: package.depth,
            scrolling: package.scrolling,
            valid_until: key.expires_at,
        },
    }))
}
