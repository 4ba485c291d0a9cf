//! `GET /api/v2/stats`

use actix_web::web::Data;
use actix_web::{HttpRequest, HttpResponse, get};
use auth::Caller;

use super::input::{check_query, plan_of};
use super::reply::json;
use crate::app;
use crate::error::{Error, Failures};
use crate::state::State;
use crate::wire::stats::StatsAnswer;

/// Get index statistics
///
/// Returns the number of files and the number of buckets per type. If the package restricts what
/// the caller can search, the restricted counts are returned separately.
#[utoipa::path(
    operation_id = "getStats",
    tag = "search",
    responses((status = 200, description = "The statistics.", body = StatsAnswer), Failures),
    security(("bearer" = []), ("access_token" = []))
)]
#[get("/api/v2/stats")]
pub async fn get_stats(
    caller: Caller,
    request: HttpRequest,
    state: Data<State>,
) -> Result<HttpResponse, Error> {
    check_query(&request)?;
    json(&app::get_stats(&state, plan_of(&caller)).await?)
}
