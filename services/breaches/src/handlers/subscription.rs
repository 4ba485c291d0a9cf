//! The caller's subscription.

use actix_web::web::Data;
use actix_web::{HttpRequest, HttpResponse, get};

use super::input::keyed_request;
use crate::app;
use crate::error::Error;
use crate::state::State;
use crate::wire::SubscriptionStatus;

/// Get the subscription
///
/// Returns the subscription that the API key belongs to, even if it has ended. Available on the
/// Core, Pro and High RPM plans, and to the all-zero test key.
#[utoipa::path(
    operation_id = "subscriptionStatus",
    tag = "Subscription",
    security(("key" = [])),
    responses(
        (status = 200, description = "The subscription.", body = SubscriptionStatus),
    )
)]
#[get("/api/v3/subscription/status")]
pub async fn subscription_status(
    request: HttpRequest,
    state: Data<State>,
) -> Result<HttpResponse, Error> {
    let keyed = keyed_request(&request, &state)?;
    Ok(HttpResponse::Ok().json(app::subscription_status(&state, keyed).await?))
}
