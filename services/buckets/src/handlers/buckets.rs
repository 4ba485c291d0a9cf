//! `GET /api/v2/buckets`

use actix_web::web::Data;
use actix_web::{HttpRequest, HttpResponse, get};
use auth::Caller;

use super::input::{parameters, plan_of};
use super::reply::json;
use crate::app;
use crate::error::{Error, Failures};
use crate::state::State;
use crate::wire::buckets::{BucketParameters, BucketSearch, BucketsAnswer};

/// List buckets
///
/// Returns the buckets whose address contains every term in `keywords`, sorted by ID unless `order`
/// is set.
#[utoipa::path(
    operation_id = "listBuckets",
    tag = "search",
    params(BucketParameters),
    responses(
        (status = 200, description = "The matching buckets.", body = BucketsAnswer),
        Failures
    ),
    security(("bearer" = []), ("access_token" = []))
)]
#[get("/api/v2/buckets")]
pub async fn list_buckets(
    caller: Caller,
    request: HttpRequest,
    state: Data<State>,
) -> Result<HttpResponse, Error> {
    let search = BucketSearch::try_from(parameters::<BucketParameters>(&request)?)?;
    json(&app::list_buckets(&state, plan_of(&caller), search).await?)
}
