//! Serves image files.

use actix_web::http::header;
use actix_web::web::{Data, Path as InPath};
use actix_web::{HttpRequest, HttpResponse, get};
use shell::{EntityTag, Validators};

use super::input::Input;
use super::path::parse_id;
use crate::app::media;
use crate::error::Error;
use crate::state::State;

/// Returns an image file, whose content never changes.
#[get("/media/{id:[0-9]+}/{name}")]
pub async fn get_media(
    input: Input,
    path: InPath<(String, String)>,
    request: HttpRequest,
    state: Data<State>,
) -> Result<HttpResponse, Error> {
    let (digits, name) = path.into_inner();
    let file = media::file(&state, input.request, parse_id(&digits), name).await?;
    let validators = Validators::strong(EntityTag::of_digest(file.name.as_bytes()));
    Ok(validators.answer(&request, "public, max-age=31536000, immutable", |mut response| {
        response
            .insert_header((header::CONTENT_TYPE, file.media_type))
            .insert_header((header::X_CONTENT_TYPE_OPTIONS, "nosniff"))
            .insert_header((header::CONTENT_SECURITY_POLICY, "default-src 'none'; sandbox"))
            .body(file.bytes)
    }))
}
