//! iCalendar import over HTTP.

use actix_web::web::{Data, Payload};
use actix_web::{HttpRequest, HttpResponse, post};

use super::reply;
use super::upload::{UploadForm, receive};
use crate::app::uploads;
use crate::error::Error;
use crate::model::role::Action;
use crate::state::State;
use crate::wire::import::ImportJson;

/// Maximum size of an uploaded file in bytes.
const LIMIT: usize = 5 << 20;

/// Import an iCalendar file
///
/// Creates the events in the file and updates those that differ. Other events are left unchanged.
/// Events are matched by UID. A series keeps its rule and gets an event for each date, up to
/// SERIES_AHEAD months ahead (24 by default). Send the file as a form field, or as the whole body
/// with the media type `text/calendar`. Files can have up to 5 MiB; use the `import` command for
/// larger ones.
#[utoipa::path(
    operation_id = "importIcal", tag = "iCalendar", path = "/calendar/events/v1/import/ical",
    security(("key" = []), ("bearer" = []), ("basic" = [])),
    request_body(content = UploadForm, content_type = "multipart/form-data"),
    responses((status = 200, body = ImportJson), (status = 400), (status = 403), (status = 413), (status = 415)),
)]
#[post("/calendar/events/v1/import/ical")]
pub async fn import_ical(
    request: HttpRequest,
    payload: Payload,
    state: Data<State>,
) -> Result<HttpResponse, Error> {
    let expected: fn(&str) -> bool = |kind| kind == "text/calendar";
    let upload = receive(&request, payload, &state, Action::Import, (LIMIT, expected)).await?;
    let fields = upload.input.fields;
    let urls = upload.input.request.urls;
    let report = uploads::import(&state, upload.user, urls, upload.bytes.to_vec()).await?;
    reply::ok(&report, fields.as_deref())
}
