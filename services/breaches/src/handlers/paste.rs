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
use crate::wire::Paste;

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
        (status = 404, description = "The address is in no paste; the body is empty"),
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
