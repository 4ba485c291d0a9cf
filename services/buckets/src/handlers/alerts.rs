//! `/api/v2/alerts`

use actix_web::web::Data;
use actix_web::{HttpRequest, HttpResponse, delete, get, post, put};
use auth::{After, Caller};
use shell::params::Json;

use super::input::{check_query, id_of, key_of, parameters};
use super::reply::{created, json};
use crate::app;
use crate::error::{Error, ErrorBody, Failures, StoredFailures};
use crate::state::State;
use crate::wire::alerts::{
    AlertBody, AlertFilesAnswer, AlertFilesParameters, AlertRecord, AlertsAnswer,
};

/// List alerts
///
/// Returns all alerts of the API key, sorted by ID.
#[utoipa::path(
    operation_id = "listAlerts",
    tag = "alerts",
    responses((status = 200, description = "The alerts.", body = AlertsAnswer), Failures),
    security(("bearer" = []), ("access_token" = []))
)]
#[get("/api/v2/alerts")]
pub async fn list_alerts(
    caller: Caller,
    request: HttpRequest,
    state: Data<State>,
) -> Result<HttpResponse, Error> {
    let key = key_of(&caller)?;
    check_query(&request)?;
    json(&app::list_alerts(&state, key).await?)
}

/// Create an alert
///
/// Saves a search. The alert covers files that are added or changed from now on. If the alert has a
/// webhook, every publish that adds matching files sends one message, signed as specified by
/// Standard Webhooks. The response contains the signing secret.
#[utoipa::path(
    operation_id = "addAlert",
    tag = "alerts",
    request_body = AlertBody,
    responses(
        (
            status = 201,
            description = "The new alert.",
            body = AlertRecord,
            headers(("Location" = String, description = "Path of the new alert."))
        ),
        (
            status = 409,
            description = "The API key has reached its package's limit on alerts.",
            body = ErrorBody
        ),
        Failures
    ),
    security(("bearer" = []), ("access_token" = []))
)]
#[post("/api/v2/alerts")]
pub async fn add_alert(
    caller: Caller,
    request: HttpRequest,
    body: After<Json<AlertBody>>,
    state: Data<State>,
) -> Result<HttpResponse, Error> {
    let key = key_of(&caller)?;
    check_query(&request)?;
    let added = app::add_alert(&state, key, body.0.0).await?;
    created(&added, &format!("/api/v2/alerts/{}", added.id))
}

/// Get an alert
#[utoipa::path(
    operation_id = "getAlert",
    tag = "alerts",
    params(("id" = i64, Path, description = "ID of the alert.")),
    responses(
        (status = 200, description = "The alert.", body = AlertRecord),
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
/// If the search changes, the alert starts over and covers files that are added or changed from
/// then on. If the webhook changes, the response contains a new signing secret. In both cases,
/// undelivered messages are dropped.
#[utoipa::path(
    operation_id = "putAlert",
    tag = "alerts",
    params(("id" = i64, Path, description = "ID of the alert.")),
    request_body = AlertBody,
    responses(
        (status = 200, description = "The alert.", body = AlertRecord),
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

/// Delete an alert
#[utoipa::path(
    operation_id = "removeAlert",
    tag = "alerts",
    params(("id" = i64, Path, description = "ID of the alert.")),
    responses((status = 204, description = "The alert was deleted."), StoredFailures, Failures),
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

/// List the new files of an alert
///
/// Returns files that were added or changed after the alert was saved, or after the cursor `after`,
/// in the order they were added. Files that have been removed in the meantime are not included. If
/// the package shows new buckets only after a delay, their files follow when the delay ends. A
/// rebuild of the index changes all file IDs and invalidates earlier cursors: requests with such a
/// cursor return 400 (`after_expired`), and requests without a cursor return all files since the
/// alert was saved. If the index was rebuilt from its sources, only files added after the rebuild
/// are returned.
#[utoipa::path(
    operation_id = "getAlertFiles",
    tag = "alerts",
    params(("id" = i64, Path, description = "ID of the alert."), AlertFilesParameters),
    responses(
        (status = 200, description = "The new files.", body = AlertFilesAnswer),
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
