//! Files of stored images.

use actix_web::http::header;
use actix_web::web::{self, Data, Path as InPath};
use actix_web::{HttpResponse, get};

use super::parse_id;
use crate::error::Error;
use crate::request::Input;
use crate::state::State;
use crate::store::images;

/// Answers with the file of an image; it never changes.
#[get("/media/{id:[0-9]+}/{name}")]
pub async fn get_media(
    input: Input,
    path: InPath<(String, String)>,
    state: Data<State>,
) -> Result<HttpResponse, Error> {
    let (digits, name) = path.into_inner();
    let id = parse_id(&digits);
    let (mime, name) = state
        .read(input, move |scene, _| {
            let mime = images::media_type(scene.db, id, &name)?.ok_or(Error::NoRoute)?;
            Ok((mime, name))
        })
        .await?;
    let media = state.media.clone();
    let read = web::block(move || media.read(&name)).await;
    let broken = |error: String| Error::Internal(format!("a stored image cannot be read: {error}"));
    let bytes = read
        .map_err(|error| broken(error.to_string()))?
        .map_err(|error| broken(error.to_string()))?;
    Ok(HttpResponse::Ok()
        .insert_header((header::CONTENT_TYPE, mime))
        .insert_header((header::CACHE_CONTROL, "public, max-age=31536000, immutable"))
        .insert_header((header::X_CONTENT_TYPE_OPTIONS, "nosniff"))
        .insert_header((header::CONTENT_SECURITY_POLICY, "default-src 'none'; sandbox"))
        .body(bytes))
}
