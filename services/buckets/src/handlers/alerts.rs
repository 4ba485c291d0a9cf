//! `/api/v2/alerts`

use actix_web::web::Data;
use actix_web::{HttpRequest, HttpResponse, delete, get, post, put};
use auth::{After, Caller};
use shell::params::Json;

use super::input::{id_of, key_of, parameters};
use super::reply::{created, json};
use crate::app;
use crate::error::{Error, ErrorBody, Failures, StoredFailures};
use crate::state::State;
use crate::wire::alerts::{
    AlertBody, AlertFilesAnswer, AlertFilesParameters, AlertRecord, AlertsAnswer,
};

/// List alerts
///
/// The searches that the caller's key has saved, in the order of their ids.
#[utoipa::path(
    operation_id = "listAlerts",
    tag = "alerts",
    responses((status = 200, description = "The alerts", body = AlertsAnswer), Failures),
    security(("bearer" = []), ("access_token" = []))
)]
#[get("/api/v2/alerts")]
pub async fn list_alerts(caller: Caller, state: Data<State>) -> Result<HttpResponse, Error> {
    json(&app::list_alerts(&state, key_of(&caller)?).await?)
}

/// Save a search
///
/// Files are new from now on. With a webhook, each publish with new files sends one signed message
/// (Standard Webhooks); the answer has the secret that signs them.
#[utoipa::path(
    operation_id = "addAlert",
    tag = "alerts",
    request_body = AlertBody,
    responses(
        (
            status = 201,
            description = "The new alert",
            body = AlertRecord,
            headers(("Location" = String, description = "Its path"))
        ),
        (
            status = 409,
            description = "The key has as many alerts as its package allows",
            body = ErrorBody
        ),
        Failures
    ),
    security(("bearer" = []), ("access_token" = []))
)]
#[post("/api/v2/alerts")]
pub async fn add_alert(
    caller: Caller,
    body: After<Json<AlertBody>>,
    state: Data<State>,
) -> Result<HttpResponse, Error> {
    let added = app::add_alert(&state, key_of(&caller)?, body.0.0).await?;
    created(&added, &format!("/api/v2/alerts/{}", added.id))
}

/// Get an alert
#[utoipa::path(
    operation_id = "getAlert",
    tag = "alerts",
    params(("id" = i64, Path, description = "Identifier of the alert")),
    responses(
        (status = 200, description = "The alert", body = AlertRecord),
        StoredFailures,
        Failures
    ),
    security(("bearer" = []), ("access_token" = []))
)]
#[get("/api/v2/alerts/{id}")]
pub async fn get_alert(
    caller: Caller,
    request: HttpRequest,
    state: Data<State>,
) -> Result<HttpResponse, Error> {
    json(&app::get_alert(&state, key_of(&caller)?, id_of(&request)?).await?)
}

/// Replace an alert
///
/// If the search changes, files are new from now on. If the webhook changes, the answer has its new
/// secret. In both cases, messages that were not delivered yet are dropped.
#[utoipa::path(
    operation_id = "putAlert",
    tag = "alerts",
    params(("id" = i64, Path, description = "Identifier of the alert")),
    request_body = AlertBody,
    responses(
        (status = 200, description = "The alert", body = AlertRecord),
        StoredFailures,
        Failures
    ),
    security(("bearer" = []), ("access_token" = []))
)]
#[put("/api/v2/alerts/{id}")]
pub async fn put_alert(
    caller: Caller,
    request: HttpRequest,
    body: After<Json<AlertBody>>,
    state: Data<State>,
) -> Result<HttpResponse, Error> {
    json(&app::put_alert(&state, key_of(&caller)?, id_of(&request)?, body.0.0).await?)
}

/// Remove an alert
#[utoipa::path(
    operation_id = "removeAlert",
    tag = "alerts",
    params(("id" = i64, Path, description = "Identifier of the alert")),
    responses((status = 204, description = "It is removed"), StoredFailures, Failures),
    security(("bearer" = []), ("access_token" = []))
)]
#[delete("/api/v2/alerts/{id}")]
pub async fn remove_alert(
    caller: Caller,
    request: HttpRequest,
    state: Data<State>,
) -> Result<HttpResponse, Error> {
    app::remove_alert(&state, key_of(&caller)?, id_of(&request)?).await?;
    Ok(HttpResponse::NoContent().finish())
}

/// New files of an alert
///
/// Files that were added or changed since the alert was saved, or since a later `after`, in the order in
/// which they were added. Files that were removed since are absent. A rebuild of the index gives files other
/// ids. Then an earlier `after` is 400 (`after_expired`), and a request without it returns all files since
/// the alert was saved. If the index was rebuilt from its sources, files are new from then on.
#[utoipa::path(
    operation_id = "getAlertFiles",
    tag = "alerts",
    params(("id" = i64, Path, description = "Identifier of the alert"), AlertFilesParameters),
    responses(
        (status = 200, description = "The files", body = AlertFilesAnswer),
        StoredFailures,
        Failures
    ),
    security(("bearer" = []), ("access_token" = []))
)]
#[get("/api/v2/alerts/{id}/files")]
pub async fn get_alert_files(
    caller: Caller,
    request: HttpRequest,
    state: Data<State>,
) -> Result<HttpResponse, Error> {
    let (key, id) = (key_of(&caller)?, id_of(&request)?);
    let (answer, permit) = app::get_alert_files(&state, key, id, parameters(&request)?).await?;
    let mut response = json(&answer)?;
    // As in `search_files`, the permit is dropped after the body has been compressed.
    response.extensions_mut().insert(permit);
    Ok(response)
}
