//! Pastes in which an address was found.

use actix_web::web::Data;
use actix_web::{HttpRequest, HttpResponse, get};

use super::input::Segment;
use crate::caller::Asked;
use crate::error::Error;
use crate::model::paste as rules;
use crate::model::plan::Operation;
use crate::state::State;
use crate::store::paste;
use crate::wire::{ErrorBody, Paste};

/// Pastes of an address
///
/// Newest first, pastes without a date last. Plans: Core, Pro, High RPM; test keys for addresses
/// at the test domain.
#[utoipa::path(
    path = "/api/v3/pasteAccount/{email}",
    operation_id = "pasteAccount",
    tag = "Accounts",
    security(("key" = [])),
    params(("email" = String, Path, description = "Address; trimmed, any letter case", example = "account-exists@breach-integration-tests.example")),
    responses(
        (status = 200, description = "The pastes", body = [Paste]),
        (status = 400, description = "The address breaks a rule", body = ErrorBody, example = json!({"statusCode": 400, "message": "The email address is not in an acceptable format."})),
        (status = 401, description = "The key is missing, malformed or invalid", body = ErrorBody, example = json!({"statusCode": 401, "message": "Access denied due to missing breach-api-key."})),
        (status = 403, description = "No user agent, or the subscription does not cover the request", body = ErrorBody, example = json!({"statusCode": 403, "message": "Access denied, the subscription does not include this resource."})),
        (status = 404, description = "The address is in no paste; the body is empty"),
        (status = 429, description = "The rate limit is exceeded; `retry-after` has the seconds", body = ErrorBody, example = json!({"statusCode": 429, "message": "Rate limit is exceeded. Try again in 6 seconds."})),
        (status = 503, description = "The service is unavailable, or blocks the client", body = ErrorBody, example = json!({"statusCode": 503, "message": "The service is temporarily unavailable."})),
    )
)]
#[get("/api/v3/pasteAccount/{email}")]
pub async fn paste_account(
    request: HttpRequest,
    state: Data<State>,
) -> Result<HttpResponse, Error> {
    let asked = Asked::read(&request, state.settings(), Operation::PasteAccount, "")?;
    let input = Segment::of(&request).email().map(|address| (address, ()));
    let pastes = state
        .keyed_search(asked, input, |db, view, caller, mut sought, ()| {
            caller.check_scope(view, sought.address.domain())?;
            let row = sought.account(db)?;
            if view.opt_out(db, &sought.digest)?.is_some() {
                return Err(Error::NotFound);
            }
            let mut pastes = paste::of_account(db, (row.k, row.seq))?;
            pastes.retain(|paste| !rules::is_opt_out_mark(&paste.source));
            rules::sort(&mut pastes);
            Ok(pastes)
        })
        .await?;
    if pastes.is_empty() {
        return Err(Error::NotFound);
    }
    Ok(HttpResponse::Ok().json(pastes.into_iter().map(Paste::from).collect::<Vec<_>>()))
}
