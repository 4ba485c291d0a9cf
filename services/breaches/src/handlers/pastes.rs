//! Pastes by address.

use actix_web::web::Data;
use actix_web::{HttpRequest, HttpResponse, get};

use super::input::{Segment, keyed_request};
use crate::app;
use crate::error::Error;
use crate::state::State;
use crate::wire::Paste;

/// Get an address's pastes
///
/// Returns the pastes that contain an email address, newest first. Pastes without a date come last.
/// Available on the Core, Pro and High RPM plans, and to test keys for addresses at the test
/// domain.
#[utoipa::path(
    operation_id = "pasteAccount",
    tag = "Accounts",
    security(("key" = [])),
    params(("email" = String, Path, format = Email, description = "Email address. Case is ignored, and surrounding whitespace is trimmed.", example = "account-exists@breach-integration-tests.example")),
    extensions(("x-failures" = json!(["email", "subscriptionEnded"]))),
    responses(
        (status = 200, description = "The pastes.", body = [Paste]),
        (status = 404, description = "The address is not in any paste. The body is empty."),
    )
)]
#[get("/api/v3/pasteAccount/{email}")]
pub async fn paste_account(
    request: HttpRequest,
    state: Data<State>,
) -> Result<HttpResponse, Error> {
    let keyed = keyed_request(&request, &state)?;
    let address = Segment::of(&request).email();
    Ok(HttpResponse::Ok().json(app::pastes_of_account(&state, keyed, address).await?))
}
