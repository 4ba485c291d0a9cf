//! The subscription of the caller.

use actix_web::web::Data;
use actix_web::{HttpRequest, HttpResponse, get};

use crate::caller::Asked;
use crate::error::Error;
use crate::model::plan::Operation;
use crate::state::State;
use crate::wire::{ErrorBody, SubscriptionStatus};

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
        (status = 401, description = "The key is missing, malformed or invalid", body = ErrorBody, example = json!({"statusCode": 401, "message": "Access denied due to missing breach-api-key."})),
        (status = 403, description = "No user agent, or no subscription", body = ErrorBody, example = json!({"statusCode": 403, "message": "Access denied, the subscription does not include this resource."})),
        (status = 429, description = "The rate limit is exceeded; `retry-after` has the seconds", body = ErrorBody, example = json!({"statusCode": 429, "message": "Rate limit is exceeded. Try again in 6 seconds."})),
        (status = 503, description = "The service is unavailable, or blocks the client", body = ErrorBody, example = json!({"statusCode": 503, "message": "The service is temporarily unavailable."})),
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
