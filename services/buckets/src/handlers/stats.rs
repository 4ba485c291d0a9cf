//! `GET /api/v2/stats`.

use actix_web::web::Data;
use actix_web::{HttpResponse, get};
use auth::Caller;

use super::{json, package_of};
use crate::error::{Error, Failures};
use crate::state::State;
use crate::wire::stats::{StatsAnswer, StatsMeta};

/// Statistics of the index
///
/// Files, and buckets by type. What the package hides is told apart.
#[utoipa::path(
    operation_id = "getStats",
    tag = "search",
    responses((status = 200, description = "The statistics", body = StatsAnswer), Failures),
    security(("bearer" = []), ("access_token" = []))
)]
#[get("/api/v2/stats")]
pub async fn get(caller: Caller, state: Data<State>) -> Result<HttpResponse, Error> {
    let catalog = state.catalog();
    let package = package_of(&caller, &catalog);
    let now = state.clock().unix();
    let meta = match package.hidden_since(now) {
        None => StatsMeta::default(),
        Some(since) => StatsMeta {
            notice: package.delay_notice(now),
            restricted_stats: Some(catalog.counts(Some(since)).into()),
        },
    };
    let published = &catalog.snapshot.journal.published;
    Ok(json(&StatsAnswer {
        meta,
        stats: catalog.counts(None).into(),
        last_updated: published.as_ref().map_or(0, |published| published.at),
    }))
}
