//! `/api/v2/crawls`

use actix_web::web::Data;
use actix_web::{HttpRequest, HttpResponse, delete, get, post};
use auth::{After, Caller};
use shell::params::Json;
use utoipa::IntoResponses;

use super::input::{check_query, id_of, key_of};
use super::reply::{created, json};
use crate::app::{self, CrawlChange};
use crate::error::{Error, ErrorBody, Failures, StoredFailures};
use crate::state::State;
use crate::wire::crawls::{CrawlRecord, CrawlsAnswer, NewCrawlBody};

/// The response of operations on a crawl.
#[derive(IntoResponses)]
#[response(status = 200, description = "The crawl.")]
#[expect(dead_code, reason = "documentation: it is never made")]
struct OneCrawl(CrawlRecord);

/// List crawls
///
/// Returns all crawls of the API key, sorted by ID. A crawl lists a public bucket at regular
/// intervals. If the package shows all crawls, those of the operator and of other keys are included. The
/// key cannot change them.
#[utoipa::path(
    operation_id = "listCrawls",
    tag = "crawls",
    responses((status = 200, description = "The crawls.", body = CrawlsAnswer), Failures),
    security(("bearer" = []), ("access_token" = []))
)]
#[get("/api/v2/crawls")]
pub async fn list_crawls(
    caller: Caller,
    request: HttpRequest,
    state: Data<State>,
) -> Result<HttpResponse, Error> {
    let key = key_of(&caller)?;
    check_query(&request)?;
    json(&app::list_crawls(&state, key).await?)
}

/// Create a crawl
///
/// The first run is due immediately and starts when a crawler is available. If the API key has crawled
/// the same prefix of the bucket within the last hour, the run is due an hour after that one. Every
/// complete listing replaces the bucket's files in the index. A listing with more files than the operator
/// permits is not published.
#[utoipa::path(
    operation_id = "addCrawl",
    tag = "crawls",
    request_body = NewCrawlBody,
    responses(
        (
            status = 201,
            description = "The new crawl.",
            body = CrawlRecord,
            headers(("Location" = String, description = "Path of the new crawl."))
        ),
        (
            status = 409,
            description = "The API key already crawls this prefix of the bucket, or has reached its limit.",
            body = ErrorBody
        ),
        Failures
    ),
    security(("bearer" = []), ("access_token" = []))
)]
#[post("/api/v2/crawls")]
pub async fn add_crawl(
    caller: Caller,
    request: HttpRequest,
    body: After<Json<NewCrawlBody>>,
    state: Data<State>,
) -> Result<HttpResponse, Error> {
    let key = key_of(&caller)?;
    check_query(&request)?;
    let added = app::add_crawl(&state, key, body.0.0).await?;
    created(&added, &format!("/api/v2/crawls/{}", added.id))
}

/// Get a crawl
#[utoipa::path(
    operation_id = "getCrawl",
    tag = "crawls",
    params(("id" = i64, Path, description = "ID of the crawl.")),
    responses(OneCrawl, StoredFailures, Failures),
    security(("bearer" = []), ("access_token" = []))
)]
#[get("/api/v2/crawls/{id}")]
pub async fn get_crawl(
    caller: Caller,
    request: HttpRequest,
    state: Data<State>,
) -> Result<HttpResponse, Error> {
    json(&app::get_crawl(&state, key_of(&caller)?, id_of(&request)?).await?)
}

/// Delete a crawl
///
/// The bucket's files are kept in the index.
#[utoipa::path(
    operation_id = "removeCrawl",
    tag = "crawls",
    params(("id" = i64, Path, description = "ID of the crawl.")),
    responses((status = 204, description = "The crawl was deleted."), StoredFailures, Failures),
    security(("bearer" = []), ("access_token" = []))
)]
#[delete("/api/v2/crawls/{id}")]
pub async fn remove_crawl(
    caller: Caller,
    request: HttpRequest,
    state: Data<State>,
) -> Result<HttpResponse, Error> {
    let id = id_of(&request)?;
    app::change_crawl(&state, key_of(&caller)?, id, CrawlChange::Remove).await?;
    Ok(HttpResponse::NoContent().finish())
}

/// Pause a crawl
///
/// The crawl does not start again until it is resumed. A listing that is already in progress
/// stops after its current page, unless that is the last one.
#[utoipa::path(
    operation_id = "pauseCrawl",
    tag = "crawls",
    params(("id" = i64, Path, description = "ID of the crawl.")),
    responses(OneCrawl, StoredFailures, Failures),
    security(("bearer" = []), ("access_token" = []))
)]
#[post("/api/v2/crawls/{id}/pause")]
pub async fn pause_crawl(
    caller: Caller,
    request: HttpRequest,
    state: Data<State>,
) -> Result<HttpResponse, Error> {
    changed(&caller, &request, &state, CrawlChange::Pause).await
}

/// Resume a crawl
///
/// The crawl runs again the next time it is due.
#[utoipa::path(
    operation_id = "resumeCrawl",
    tag = "crawls",
    params(("id" = i64, Path, description = "ID of the crawl.")),
    responses(OneCrawl, StoredFailures, Failures),
    security(("bearer" = []), ("access_token" = []))
)]
#[post("/api/v2/crawls/{id}/resume")]
pub async fn resume_crawl(
    caller: Caller,
    request: HttpRequest,
    state: Data<State>,
) -> Result<HttpResponse, Error> {
    changed(&caller, &request, &state, CrawlChange::Resume).await
}

/// Run a crawl
///
/// Makes the crawl due immediately, or one hour after its last run if that is later. It starts when
/// a crawler is available. A paused crawl remains paused.
#[utoipa::path(
    operation_id = "runCrawl",
    tag = "crawls",
    params(("id" = i64, Path, description = "ID of the crawl.")),
    responses(OneCrawl, StoredFailures, Failures),
    security(("bearer" = []), ("access_token" = []))
)]
#[post("/api/v2/crawls/{id}/run")]
pub async fn run_crawl(
    caller: Caller,
    request: HttpRequest,
    state: Data<State>,
) -> Result<HttpResponse, Error> {
    changed(&caller, &request, &state, CrawlChange::Run).await
}

async fn changed(
    caller: &Caller,
    request: &HttpRequest,
    state: &State,
    change: CrawlChange,
) -> Result<HttpResponse, Error> {
    let id = id_of(request)?;
    json(&app::change_crawl(state, key_of(caller)?, id, change).await?)
}
