//! The subscription of the caller.

use actix_web::web::Data;
use actix_web::{HttpRequest, HttpResponse, get};

use crate::caller::Asked;
use crate::error::Error;
use crate::model::plan::Operation;
use crate::state::State;
use crate::wire::SubscriptionStatus;

/// State of the subscription
///
/// Answers after its end as well. Plans: Core, Pro, High RPM; the all-zero test key.
#[utoipa::path(
    path = "/api/v3/subscription/status",
    operation_id = "subscriptionStatus",
    tag = "Subscription",
    security(("key" = [])),
    responses(
        (status = 200, description = "The subscription", body = SubscriptionStatus),
    )
)]
#[get("/api/v3/subscription/status")]
pub async fn subscription_status(
    request: HttpRequest,
    state: Data<State>,
) -> Result<HttpResponse, Error> {
    let asked = Asked::read(&request, state.settings(), Operation::SubscriptionStatus, "")?;
    let status = state
        .keyed(asked, |_, _, caller| Ok(SubscriptionStatus::new(&caller.plan, caller.until)))
        .await?;
    Ok(HttpResponse::Ok().json(status))
}
