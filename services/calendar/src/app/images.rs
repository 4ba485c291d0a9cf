//! Images specified by URL.

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

/// Downloads an image and stores it in the media folder.
pub async fn fetch(
    state: &State,
    fetcher: &ImageFetcher,
    url: &str,
    traceparent: Option<&str>,
) -> Result<ImageFile, Error> {
    let fetched = try_fetch(state, fetcher, url, traceparent).await?;
    fetched.map_err(|why| ParameterErrors::one("image", &why.to_string()).into())
}

/// Like [`fetch`], but returns the reason if the image can't be fetched.
pub async fn try_fetch(
    state: &State,
    fetcher: &ImageFetcher,
    url: &str,
    traceparent: Option<&str>,
) -> Result<Result<ImageFile, FetchError>, Error> {
    let bytes = match fetcher.fetch(url, traceparent).await {
        Ok(bytes) => bytes,
        Err(why) => return Ok(Err(why)),
    };
    let media = state.media.clone();
    match off_worker(move || media.store(&bytes)).await? {
        Ok(file) => Ok(Ok(file)),
        Err(MediaError::UnknownFormat) => Ok(Err(FetchError::MediaType)),
        Err(MediaError::TooManyPixels) => Ok(Err(FetchError::TooManyPixels)),
        Err(MediaError::Folder(error)) => Err(DatabaseError::of_file(&error).into()),
    }
}

/// The image that a resource will have after a change.
pub enum PlannedImage<'a> {
    /// A stored image, or no image.
    Known(Option<i64>),
    /// A URL to record.
    Linked(&'a str),
    /// A downloaded file, recorded together with its URL.
    Fetched(&'a str, &'a ImageFile),
}

/// Decides which image a resource will have after a change.
pub fn plan<'a>(
    db: &mut Db,
    sent: Option<&'a ImageRef>,
    current: Option<i64>,
    write: WriteContext<'a>,
) -> Result<PlannedImage<'a>, Interrupt> {
    let url = match sent {
        None => return Ok(PlannedImage::Known(current)),
        Some(ImageRef::Clear) => return Ok(PlannedImage::Known(None)),
        Some(ImageRef::Id(id)) => return Ok(PlannedImage::Known(Some(*id))),
        Some(ImageRef::Url(url)) => url,
    };
    let Some(fetched) = write.fetched else { return Ok(PlannedImage::Linked(url)) };
    if let Some(id) = images::fetched_from(db, url)? {
        return Ok(PlannedImage::Known(Some(id)));
    }
    let file = fetched.get(url).ok_or_else(|| Interrupt::NeedsImage(url.clone()))?;
    Ok(PlannedImage::Fetched(url, file))
}

/// Records a planned image and returns its id, or `None` if the resource has no image.
pub fn store(
    db: &mut Db,
    image: &PlannedImage<'_>,
    write: WriteContext<'_>,
) -> Result<Option<i64>, DatabaseError> {
    let (author, now) = (write.user.id, write.now);
    match image {
        PlannedImage::Known(id) => Ok(*id),
        PlannedImage::Linked(url) => {
            let extension = image::image_url(url).map(|url| image::extension(&url));
            images::link(db, url, &extension.unwrap_or_default(), author, now).map(Some)
        }
        // This request might already have stored the image for another resource.
        PlannedImage::Fetched(url, file) => match images::fetched_from(db, url)? {
            Some(id) => Ok(Some(id)),
            None => images::insert(db, url, file, author, now).map(Some),
        },
    }
}
