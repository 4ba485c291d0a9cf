//! Pastes in which an address was found.

use actix_web::web::Data;
use actix_web::{HttpRequest, HttpResponse, get};

use super::input::Segment;
use crate::caller::Asked;
use crate::error::Error;
use crate::model::paste as rules;
use crate::model::plan::Operation;
use crate::state::State;
use crate::store::{account, paste};
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
        (status = 400, description = "The address breaks a rule", body = ErrorBody),
        (status = 401, description = "The key is missing, malformed or invalid", body = ErrorBody),
        (status = 403, description = "No user agent, or the subscription does not cover the request", body = ErrorBody),
        (status = 404, description = "The address is in no paste; the body is empty"),
        (status = 429, description = "The rate limit is exceeded; `retry-after` has the seconds", body = ErrorBody),
        (status = 503, description = "The service is unavailable, or blocks the client", body = ErrorBody),
    )
)]
#[get("/api/v3/pasteAccount/{email}")]
pub async fn paste_account(
    request: HttpRequest,
    state: Data<State>,
) -> Result<HttpResponse, Error> {
    let asked = Asked::read(&request, state.settings(), Operation::PasteAccount, "")?;
    let segment = Segment::of(&request);
    let pastes = state
        .keyed(asked, move |db, view, caller| {
            let address = segment.email()?;
            caller.check_scope(view, address.domain())?;
            let row = account::find(db, &address)?.ok_or(Error::NotFound)?;
            if view.opt_out(db, &address.sha1())?.is_some() {
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
