//! Sends requests to a remote site one at a time. Pauses between requests for as long as the site
//! asks, and retries failed requests.

use std::time::Duration;

use anyhow::{Context as _, bail};
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use outbound::{FetchError, FetchRules, Fetcher, Reach};
use reqwest::header::{AUTHORIZATION, HeaderMap, HeaderValue, RETRY_AFTER};
use serde_json::Value;
use tokio::runtime::{Builder, Runtime};
use url::Url;

use crate::store::remote_images::FetchError as ImageError;

/// Maximum response size in bytes.
const LONGEST: usize = 64 << 20;

/// Maximum number of attempts per request.
const ATTEMPTS: u32 = 6;

/// The longest pause that a site can ask for.
const LONGEST_PAUSE: Duration = Duration::from_secs(600);

/// Timeout per request.
const TIMEOUT: Duration = Duration::from_secs(60);

/// A site's URL and how to access it.
#[derive(Clone)]
pub struct SiteAccess {
    pub url: Url,
    /// User name and application password, if any.
    pub credentials: Option<(String, String)>,
    /// The addresses that the client is allowed to contact.
    pub reach: Reach,
    /// How long to pause after each request.
    pub pause: Duration,
}

pub struct SiteClient {
    fetcher: Fetcher,
    runtime: Runtime,
    root: String,
    headers: HeaderMap,
    pause: Duration,
}

/// A response that doesn't have to be retried.
pub enum Reply {
    Found(Value),
    /// The status of an error response, and the error code in its body.
    Refused(u16, String),
}

/// The reason to retry a request, and the pause that the site asks for.
pub struct Failure(pub String, pub Option<Duration>);

impl Failure {
    /// Returns the failure for a response with this status, or `None` if a retry would not help.
    pub fn of_status(status: u16, seconds: Option<u64>) -> Option<Failure> {
        let pause = seconds.map(Duration::from_secs);
        matches!(status, 408 | 425 | 429 | 500..=599)
            .then(|| Failure(format!("the site responded with {status}"), pause))
    }

    /// Returns the failure for an image that could not be fetched, or `None` if a retry would not
    /// help.
    pub fn of_image(why: ImageError) -> Option<Failure> {
        match why {
            ImageError::Unavailable => {
                Some(Failure("the image could not be downloaded".to_owned(), None))
            }
            ImageError::Refused(status, seconds) => Failure::of_status(status, seconds),
            _ => None,
        }
    }
}

impl SiteClient {
    /// Creates a client.
    ///
    /// # Errors
    /// Returns an error if the URL or the credentials cannot be used.
    pub fn new(access: &SiteAccess) -> anyhow::Result<SiteClient> {
        let rules = FetchRules {
            timeout: TIMEOUT,
            redirect_rule: |from, to| from.host_str() == to.host_str(),
            ..FetchRules::new(concat!("calendar/", env!("CARGO_PKG_VERSION")))
        };
        let mut headers = HeaderMap::new();
        if let Some((user, password)) = &access.credentials {
            let text = format!("Basic {}", STANDARD.encode(format!("{user}:{password}")));
            let mut value = HeaderValue::from_str(&text).context("the password cannot be sent")?;
            value.set_sensitive(true);
            headers.insert(AUTHORIZATION, value);
        }
        Ok(SiteClient {
            fetcher: Fetcher::new(access.reach.clone(), rules)?,
            runtime: Builder::new_current_thread().enable_all().build()?,
            root: access.url.as_str().trim_end_matches('/').to_owned(),
            headers,
            pause: access.pause,
        })
    }

    /// Returns the site's URL, without a trailing slash.
    pub fn root(&self) -> &str {
        &self.root
    }

    /// Returns whether requests are authenticated.
    pub fn has_user(&self) -> bool {
        !self.headers.is_empty()
    }

    /// Runs `work` on the client's runtime, then pauses before the next request.
    fn run<T>(&self, work: impl Future<Output = T>) -> T {
        let done = self.runtime.block_on(work);
        std::thread::sleep(self.pause);
        done
    }

    /// Fetches the JSON document at `path`, relative to `/wp-json/`.
    ///
    /// # Errors
    /// Returns an error if no attempt got a usable response, or if a retry would not help.
    pub fn get(&self, path: &str) -> anyhow::Result<Reply> {
        let address = format!("{}/wp-json/{path}", self.root);
        match self.repeat(&address, async || self.try_get(&address).await) {
            Ok(reply) => Ok(reply),
            Err(Ok(Failure(why, _))) => bail!("{address}: {why}, in {ATTEMPTS} attempts"),
            Err(Err(error)) => Err(error),
        }
    }

    /// Makes a request and repeats it after each [`Failure`], up to the maximum number of attempts.
    ///
    /// # Errors
    /// Returns the last failure, or the error from an attempt that must not be repeated.
    pub fn repeat<T>(
        &self,
        address: &str,
        request: impl AsyncFn() -> Result<T, Result<Failure, anyhow::Error>>,
    ) -> Result<T, Result<Failure, anyhow::Error>> {
        let mut attempt = 1;
        loop {
            let (why, asked) = match self.run(request()) {
                Err(Ok(Failure(why, asked))) if attempt < ATTEMPTS => (why, asked),
                done => return done,
            };
            let pause = asked.unwrap_or(self.pause * 2_u32.pow(attempt)).min(LONGEST_PAUSE);
            log::info!(target: "notice", "{address}: {why}; retrying in {} s", pause.as_secs());
            std::thread::sleep(pause);
            attempt += 1;
        }
    }

    /// Makes one attempt. Returns a [`Failure`] if it is worth retrying, or any other error
    /// otherwise.
    async fn try_get(&self, address: &str) -> Result<Reply, Result<Failure, anyhow::Error>> {
        let again = |why: &str| Err(Ok(Failure(why.to_owned(), None)));
        let opened = self.fetcher.open_with(address, self.headers.clone()).await;
        let download = match opened {
            Ok(download) => download,
            Err(FetchError::Forbidden) => {
                let text =
                    "may not be fetched: it is not on a public host; --allow-private permits it";
                return Err(Err(anyhow::anyhow!("{address} {text}")));
            }
            Err(error) => return again(&error.to_string()),
        };
        let (status, media_type) = (download.status(), download.media_type());
        let asked = download.header(RETRY_AFTER).and_then(|text| text.trim().parse().ok());
        if let Some(failure) = Failure::of_status(status, asked) {
            return Err(Ok(failure));
        }
        let body = match download.whole(LONGEST).await {
            Ok(body) => body,
            Err(FetchError::TooLarge) => {
                return Err(Err(anyhow::anyhow!(
                    "the response from {address} is larger than {} MiB",
                    LONGEST >> 20
                )));
            }
            Err(error) => return again(&error.to_string()),
        };
        match (status, serde_json::from_slice::<Value>(&body)) {
            (200..=299, Ok(value)) => Ok(Reply::Found(value)),
            (200..=299, Err(_)) if media_type == "text/html" => Err(Err(anyhow::anyhow!(
                "{address} is a web page, not the REST API of The Events Calendar"
            ))),
            // The body was truncated.
            (200..=299, Err(_)) => again("the response is not complete JSON"),
            (_, body) => {
                let body = body.unwrap_or_default();
                let code = body["code"].as_str().unwrap_or_default();
                Ok(Reply::Refused(status, code.to_owned()))
            }
        }
    }
}
