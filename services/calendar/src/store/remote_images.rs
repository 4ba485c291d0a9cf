//! Downloads images using the guarded HTTP client from `outbound`.

use std::time::Duration;

use outbound::{Download, FetchRules, Fetcher, Reach};
use reqwest::header::RETRY_AFTER;

use crate::model::image::Format;

/// Maximum image size in bytes.
pub const MAX_BYTES: usize = 10 << 20;

/// Time limit per image, including redirects.
const TIMEOUT: Duration = Duration::from_secs(5);

/// An image fetch error. Its message is sent to the client.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum FetchError {
    #[error("must be an address on a public host")]
    NotPublic,
    #[error("must be an address that responds with an image in time")]
    Unavailable,
    /// The response has an error status. The number of seconds is the delay requested by the host.
    #[error("must be an address that responds with an image in time")]
    Refused(u16, Option<u64>),
    #[error("must be the address of a JPEG, PNG, GIF or WebP image")]
    MediaType,
    #[error("must be the address of an image of at most 10 MiB")]
    TooLarge,
    #[error("must be the address of an image of at most 100 million pixels")]
    TooManyPixels,
    #[error("must be an address that responds with the image's length")]
    NoLength,
}

impl From<outbound::FetchError> for FetchError {
    fn from(error: outbound::FetchError) -> FetchError {
        match error {
            outbound::FetchError::Forbidden => FetchError::NotPublic,
            outbound::FetchError::UnknownHost
            | outbound::FetchError::NoConnection
            | outbound::FetchError::Insecure
            | outbound::FetchError::CutOff
            | outbound::FetchError::Redirected
            | outbound::FetchError::TimedOut => FetchError::Unavailable,
            outbound::FetchError::TooLarge => FetchError::TooLarge,
        }
    }
}

/// Fetches images. Clones share an HTTP client.
#[derive(Clone, Debug)]
pub struct ImageFetcher(Fetcher);

impl ImageFetcher {
    /// Creates a fetcher for the public internet, with a time limit of five seconds per image.
    ///
    /// # Errors
    /// Returns an error if the HTTP client cannot be created.
    pub fn public() -> Result<ImageFetcher, reqwest::Error> {
        ImageFetcher::new(Reach::public(), TIMEOUT)
    }

    /// Creates a fetcher. `reach` determines which hosts it is allowed to connect to.
    ///
    /// # Errors
    /// Returns an error if the HTTP client cannot be created.
    pub fn new(reach: Reach, timeout: Duration) -> Result<ImageFetcher, reqwest::Error> {
        let rules = FetchRules::new(concat!("calendar/", env!("CARGO_PKG_VERSION")));
        Ok(ImageFetcher(Fetcher::new(reach, FetchRules { timeout, ..rules })?))
    }

    /// Downloads an image. If the request that needs the image is being traced, passes its
    /// `traceparent` on.
    ///
    /// # Errors
    /// See [`FetchError`].
    pub async fn fetch(
        &self,
        address: &str,
        traceparent: Option<&str>,
    ) -> Result<Vec<u8>, FetchError> {
        let download = self.0.open(address, traceparent).await?;
        check(&download)?;
        // If the connection broke, a truncated image would be kept forever.
        if !download.shows_its_end() {
            return Err(FetchError::NoLength);
        }
        Ok(download.whole(MAX_BYTES).await?)
    }
}

/// Checks that the response is an image according to its headers.
fn check(download: &Download) -> Result<(), FetchError> {
    if !(200..300).contains(&download.status()) {
        let asked = download.header(RETRY_AFTER).and_then(|text| text.trim().parse().ok());
        return Err(FetchError::Refused(download.status(), asked));
    }
    let essence = download.media_type();
    match Format::ALL.iter().any(|format| essence == format.media_type()) {
        true => Ok(()),
        false => Err(FetchError::MediaType),
    }
}
