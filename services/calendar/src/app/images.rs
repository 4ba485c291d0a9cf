//! Images that writes name by URL.

use database::{DatabaseError, Db, off_worker};

use super::interrupt::Interrupt;
use super::write_context::WriteContext;
use crate::error::Error;
use crate::model::image::{self, ImageFile, ImageRef};
use crate::state::State;
use crate::store::images;
use crate::store::media::MediaError;
use crate::store::remote_images::{FetchError, ImageFetcher};
use crate::wire::parameter_errors::ParameterErrors;

/// Fetches the image at a URL and stores it in the media folder.
pub async fn fetch(state: &State, fetcher: &ImageFetcher, url: &str) -> Result<ImageFile, Error> {
    let invalid = |why: FetchError| ParameterErrors::one("image", &why.to_string());
    let bytes = fetcher.fetch(url).await.map_err(invalid)?;
    let media = state.media.clone();
    match off_worker(move || media.store(&bytes)).await? {
        Ok(file) => Ok(file),
        Err(MediaError::UnknownFormat) => Err(invalid(FetchError::MediaType).into()),
        Err(MediaError::Folder(error)) => Err(DatabaseError::of_file(&error).into()),
    }
}

/// Returns the id of the image that a resource has after a write.
pub fn resolve(
    db: &mut Db,
    sent: Option<&ImageRef>,
    current: Option<i64>,
    write: WriteContext<'_>,
) -> Result<Option<i64>, Interrupt> {
    let url = match sent {
        None => return Ok(current),
        Some(ImageRef::Clear) => return Ok(None),
        Some(ImageRef::Id(id)) => return Ok(Some(*id)),
        Some(ImageRef::Url(url)) => url,
    };
    let Some(fetched) = write.fetched else {
        let extension = image::image_url(url).map(|url| image::extension(&url)).unwrap_or_default();
        return Ok(Some(images::link(db, url, &extension, write.user.id, write.now)?));
    };
    if let Some(id) = images::fetched_from(db, url)? {
        return Ok(Some(id));
    }
    match fetched.get(url) {
        Some(file) => Ok(Some(images::insert(db, url, file, write.user.id, write.now)?)),
        None => Err(Interrupt::NeedsImage(url.clone())),
    }
}
