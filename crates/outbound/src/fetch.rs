//! Fetches documents from URLs entered by users.

use std::error::Error as _;
use std::time::Duration;

use reqwest::header::{AsHeaderName, CONTENT_TYPE, HeaderMap, HeaderValue, TRANSFER_ENCODING};
use reqwest::redirect::{Attempt, Policy};
use reqwest::{Client, Response};
use tokio::time::{Instant, timeout_at};
use url::Url;

use crate::address::web_url;
use crate::client;
use crate::reach::{Reach, Unresolved};

/// The reason that a fetch failed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum FetchError {
    /// The URL is invalid or not permitted.
    #[error("the address may not be fetched")]
    Forbidden,
    /// The host name doesn't exist, or has no permitted address.
    #[error("the host is unknown or not permitted")]
    UnknownHost,
    /// No connection could be made, for example because the host refused it.
    #[error("the host refused the connection or could not be reached")]
    NoConnection,
    /// The host's certificate isn't valid, or the host doesn't use TLS.
    #[error("the host did not prove its identity over an encrypted connection")]
    Insecure,
    /// The connection ended before the response was complete, or the response is malformed.
    #[error("the response is incomplete or malformed")]
    CutOff,
    /// A redirect is not permitted.
    #[error("the address redirects too many times")]
    Redirected,
    /// The response didn't arrive in time.
    #[error("the address did not respond in time")]
    TimedOut,
    /// The response exceeds the caller's limit.
    #[error("the response is too large")]
    TooLarge,
}

/// Decides whether to follow a redirect, given the original URL and the target.
pub type RedirectRule = fn(&Url, &Url) -> bool;

/// Rules for a [`Fetcher`].
#[derive(Clone, Debug)]
pub struct FetchRules {
    /// The `User-Agent` header.
    pub user_agent: &'static str,
    /// Timeout for the entire fetch, including name resolution, redirects and body.
    pub timeout: Duration,
    /// Maximum number of redirects to follow.
    pub redirects: usize,
    /// Decides which redirects to follow. Either way, their targets must be permitted.
    pub redirect_rule: RedirectRule,
    /// Whether to return redirects instead of following them. The caller then learns whether a
    /// redirect is permanent, and has to fetch the target itself. Each fetch is checked.
    pub returns_redirects: bool,
    /// The permitted ports. If empty, any port is permitted.
    pub ports: &'static [u16],
}

impl FetchRules {
    /// Creates rules with a ten-second timeout, up to three redirects to any permitted target, and
    /// no restriction on ports.
    pub fn new(user_agent: &'static str) -> Self {
        Self {
            user_agent,
            timeout: Duration::from_secs(10),
            redirects: 3,
            redirect_rule: |_, _| true,
            returns_redirects: false,
            ports: &[],
        }
    }
}

/// Fetches documents from URLs entered by users. Clones share the client.
#[derive(Clone, Debug)]
pub struct Fetcher {
    client: Client,
    reach: Reach,
    rules: FetchRules,
}

impl Fetcher {
    /// Creates a fetcher.
    ///
    /// # Errors
    /// Returns an error if the HTTP client cannot be built.
    pub fn new(reach: Reach, rules: FetchRules) -> Result<Self, reqwest::Error> {
        let policy = {
            let (reach, rules) = (reach.clone(), rules.clone());
            Policy::custom(move |attempt| follow(&reach, &rules, attempt))
        };
        let client = client::build(&reach, rules.user_agent, policy)?;
        Ok(Self { client, reach, rules })
    }

    /// Fetches an entire document of up to `limit` bytes. Any status counts as success.
    ///
    /// # Errors
    /// Returns a [`FetchError`].
    pub async fn get(&self, address: &str, limit: usize) -> Result<Fetched, FetchError> {
        let download = self.open(address, None).await?;
        let (status, media_type) = (download.status(), download.media_type());
        Ok(Fetched { status, media_type, body: download.whole(limit).await? })
    }

    /// Sends the request and reads the response headers, so that the caller can check them before
    /// reading the body. Also sends `traceparent` if given.
    ///
    /// # Errors
    /// Returns a [`FetchError`].
    pub async fn open(
        &self,
        address: &str,
        traceparent: Option<&str>,
    ) -> Result<Download, FetchError> {
        let mut headers = HeaderMap::new();
        if let Some(value) = traceparent.and_then(|text| HeaderValue::from_str(text).ok()) {
            headers.insert("traceparent", value);
        }
        self.open_with(address, headers).await
    }

    /// Sends the request with extra headers and reads the response headers. Redirects to another
    /// host or port drop `Authorization`.
    ///
    /// # Errors
    /// Returns a [`FetchError`].
    pub async fn open_with(
        &self,
        address: &str,
        headers: HeaderMap,
    ) -> Result<Download, FetchError> {
        let deadline = Instant::now() + self.rules.timeout;
        let url = web_url(address).ok_or(FetchError::Forbidden)?;
        if !may_fetch(&self.reach, &self.rules, &url) {
            return Err(FetchError::Forbidden);
        }
        let request = self.client.get(url).headers(headers);
        let sent = timeout_at(deadline, request.send()).await;
        let response = sent.map_err(|_| FetchError::TimedOut)?.map_err(failure)?;
        Ok(Download { response, deadline })
    }
}

fn may_fetch(reach: &Reach, rules: &FetchRules, url: &Url) -> bool {
    let port = url.port_or_known_default();
    let fits = rules.ports.is_empty() || port.is_some_and(|port| rules.ports.contains(&port));
    fits && reach.may_name(url)
}

fn follow(reach: &Reach, rules: &FetchRules, attempt: Attempt<'_>) -> reqwest::redirect::Action {
    if rules.returns_redirects {
        return attempt.stop();
    }
    let first = attempt.previous().first();
    let allowed = attempt.previous().len() <= rules.redirects
        && may_fetch(reach, rules, attempt.url())
        && first.is_some_and(|first| (rules.redirect_rule)(first, attempt.url()));
    if allowed { attempt.follow() } else { attempt.error("too many redirects") }
}

fn failure(error: reqwest::Error) -> FetchError {
    let failure = match () {
        () if error.is_redirect() => FetchError::Redirected,
        () if is_unresolved(&error) => FetchError::UnknownHost,
        () if error.is_connect() && is_insecure(&error) => FetchError::Insecure,
        () if error.is_connect() => FetchError::NoConnection,
        () => FetchError::CutOff,
    };
    // Leave out the URL, because it might contain a secret.
    log::info!("an address was not fetched: {}", with_causes(&error.without_url()));
    failure
}

/// Returns the messages of an error and its causes, because the first one is general.
fn with_causes(error: &reqwest::Error) -> String {
    let mut text = error.to_string();
    let mut cause = error.source();
    while let Some(inner) = cause {
        text = format!("{text}: {inner}");
        cause = inner.source();
    }
    text
}

/// Returns whether the error means that the host name couldn't be resolved.
fn is_unresolved(error: &reqwest::Error) -> bool {
    let mut cause = error.source();
    while let Some(inner) = cause {
        if inner.is::<Unresolved>() {
            return true;
        }
        cause = inner.source();
    }
    false
}

/// Returns whether the error means that a connection was made, but TLS failed.
fn is_insecure(error: &reqwest::Error) -> bool {
    let mut cause = error.source();
    while let Some(inner) = cause {
        if inner.is::<rustls::Error>() {
            return true;
        }
        // The source of an I/O error isn't its inner error, but the source of the inner error.
        cause = match inner.downcast_ref::<std::io::Error>().and_then(std::io::Error::get_ref) {
            Some(wrapped) => Some(wrapped as &(dyn std::error::Error + 'static)),
            None => inner.source(),
        };
    }
    false
}

/// A response whose headers have been read, but not its body.
#[derive(Debug)]
pub struct Download {
    response: Response,
    deadline: Instant,
}

impl Download {
    /// Returns the HTTP status.
    pub fn status(&self) -> u16 {
        self.response.status().as_u16()
    }

    /// Returns the media type, lowercased and without parameters, or an empty string.
    pub fn media_type(&self) -> String {
        let named = self.response.headers().get(CONTENT_TYPE);
        let essence = named.and_then(|value| value.to_str().ok()?.split(';').next());
        essence.unwrap_or_default().trim().to_ascii_lowercase()
    }

    /// Returns the value of a header, or `None` if it is missing or not a valid string.
    pub fn header(&self, name: impl AsHeaderName) -> Option<&str> {
        self.response.headers().get(name).and_then(|value| value.to_str().ok())
    }

    /// Returns whether truncation of the body can be detected. See [`domain::shows_its_end`].
    pub fn shows_its_end(&self) -> bool {
        let codings = self.response.headers().get_all(TRANSFER_ENCODING).iter();
        let codings = codings.map(HeaderValue::as_bytes);
        domain::shows_its_end(self.response.content_length(), codings)
    }

    /// Reads the entire body, which can have up to `limit` bytes.
    ///
    /// # Errors
    /// Returns [`FetchError::TooLarge`] as early as possible, or [`FetchError::CutOff`] or
    /// [`FetchError::TimedOut`].
    pub async fn whole(self, limit: usize) -> Result<Vec<u8>, FetchError> {
        if self.response.content_length().is_some_and(|length| length > limit as u64) {
            return Err(FetchError::TooLarge);
        }
        let (bytes, complete) = self.read(limit).await?;
        if complete { Ok(bytes) } else { Err(FetchError::TooLarge) }
    }

    /// Reads up to `limit` bytes from the start of the body.
    ///
    /// # Errors
    /// Returns [`FetchError::CutOff`] or [`FetchError::TimedOut`].
    pub async fn beginning(self, limit: usize) -> Result<Vec<u8>, FetchError> {
        Ok(self.read(limit).await?.0)
    }

    /// Reads up to `limit` bytes of the body. Also returns whether this was all of it.
    async fn read(mut self, limit: usize) -> Result<(Vec<u8>, bool), FetchError> {
        let mut bytes = Vec::new();
        loop {
            let chunk = timeout_at(self.deadline, self.response.chunk()).await;
            let chunk = chunk.map_err(|_| FetchError::TimedOut)?.map_err(failure)?;
            let Some(chunk) = chunk else { return Ok((bytes, true)) };
            let room = limit - bytes.len();
            bytes.extend_from_slice(&chunk[..chunk.len().min(room)]);
            if chunk.len() > room {
                return Ok((bytes, false));
            }
        }
    }
}

/// A document that was fetched completely.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Fetched {
    /// The HTTP status.
    pub status: u16,
    /// The media type, lowercased and without parameters, or an empty string.
    pub media_type: String,
    /// The entire body.
    pub body: Vec<u8>,
}

impl Fetched {
    /// Returns whether the status is 2xx.
    pub fn is_success(&self) -> bool {
        (200..300).contains(&self.status)
    }
}
