//! Image uploads and metadata.

use actix_web::web::{Data, Path as InPath, Payload};
use actix_web::{HttpRequest, HttpResponse, get, post};

use super::input::Input;
use super::path::{Id, parse_id};
use super::reply;
use super::reuse::{Lasting, Reuse};
use super::upload::{UploadForm, receive};
use crate::app::uploads::{self, IMAGE_BYTES};
use crate::error::Error;
use crate::model::role::Action;
use crate::state::State;
use crate::wire::image::ImageJson;

/// Upload an image
///
/// Stores a JPEG, PNG, GIF or WebP image of up to 10 MiB and 100 million pixels, and returns the id
/// for the `image` field of events, venues and organizers. The format is detected from the content.
/// Send the file as a form field, or as the whole body with its own media type.
#[utoipa::path(
    operation_id = "createImage", tag = "images", path = "/calendar/events/v1/images",
    security(("key" = []), ("bearer" = []), ("basic" = [])),
    request_body(content = UploadForm, content_type = "multipart/form-data"),
    responses((status = 201, body = ImageJson, example = json!({"url": "https://events.example/media/7/hall.jpg", "id": 7, "extension": "jpg", "width": 1200, "height": 800, "filesize": 184320})), (status = 400), (status = 403), (status = 413), (status = 415)),
)]
#[post("/calendar/events/v1/images")]
pub async fn create_image(
    request: HttpRequest,
    payload: Payload,
    state: Data<State>,
) -> Result<HttpResponse, Error> {
    let expected: fn(&str) -> bool = |kind| kind.starts_with("image/");
    let upload =
        receive(&request, payload, &state, Action::Images, (IMAGE_BYTES, expected)).await?;
    let fields = upload.input.fields;
    let urls = upload.input.request.urls;
    let json = uploads::image(&state, upload.user, &urls, upload.bytes.to_vec()).await?;
    let location = urls.item("images", json.id);
    reply::created(&json, location, fields.as_deref())
}

/// Get an image
///
/// Returns the image's metadata: URL, type, size and dimensions.
#[utoipa::path(
    operation_id = "getImage", tag = "images", path = "/calendar/events/v1/images/{id}",
    params(Id), responses((status = 200, body = ImageJson, example = json!({"url": "https://events.example/media/7/hall.jpg", "id": 7, "extension": "jpg", "width": 1200, "height": 800, "filesize": 184320})), (status = 304), (status = 400), (status = 404)),
)]
#[get("/calendar/events/v1/images/{id:[0-9]+}")]
pub async fn get_image(
    input: Input,
    digits: InPath<String>,
    request: HttpRequest,
    state: Data<State>,
) -> Result<HttpResponse, Error> {
    let reuse = Reuse::of(&request, &state, &input.request, |_| Lasting::Always);
    reuse
        .answer(async {
            let json = uploads::find_image(&state, input.request, parse_id(&digits)).await?;
            reply::read(&json, None, &request, input.fields.as_deref())
        })
        .await
}
