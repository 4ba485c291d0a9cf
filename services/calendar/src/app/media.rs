//! Image files.

use database::off_worker;

use super::request::Request;
use super::transactions::read;
use crate::error::Error;
use crate::state::State;
use crate::store::images;

/// A stored image file.
pub struct MediaFile {
    /// The file name, which is a hash of the content.
    pub name: String,
    pub media_type: String,
    pub bytes: Vec<u8>,
}

/// Reads an image file, given the image id and the file name.
pub async fn file(
    state: &State,
    request: Request,
    id: i64,
    name: String,
) -> Result<MediaFile, Error> {
    // Stored names contain only these characters. PostgreSQL would reject a NUL.
    if !name.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'.') {
        return Err(Error::NoRoute);
    }
    let (media_type, name) = read(state, request, move |context, _| {
        let media_type = images::media_type(context.db, id, &name)?.ok_or(Error::NoRoute)?;
        Ok((media_type, name))
    })
    .await?;
    let media = state.media.clone();
    let wanted = name.clone();
    let bytes = off_worker(move || media.read(&wanted)).await?;
    let broken =
        |error: std::io::Error| Error::Internal(format!("a stored image cannot be read: {error}"));
    let bytes = bytes.map_err(broken)?;
    Ok(MediaFile { name, media_type, bytes })
}
