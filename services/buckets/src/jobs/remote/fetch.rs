//! Fetches pages over HTTP with rate limit and retries.

use std::sync::Arc;
use std::thread::sleep;
use std::time::{Duration, Instant};

use reqwest::header::RETRY_AFTER;
use reqwest::redirect::Policy;
use reqwest::{Response, StatusCode, Url};
use serde::{Deserialize, Serialize};
use tokio::runtime::Runtime;

use super::provider::{ProviderResolver, follow};
use crate::jobs::error::JobError;

/// Maximum bytes of a page.
const LARGEST_PAGE: usize = 64 << 20;
/// Maximum number of attempts.
const ATTEMPTS: u32 = 6;
/// Maximum delay that a server can request.
const LONGEST_PAUSE: Duration = Duration::from_secs(120);
const CONNECT_TIMEOUT: Duration = Duration::from_secs(10);
const PAGE_TIMEOUT: Duration = Duration::from_secs(120);

/// Options for listing buckets.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct RemoteOptions {
    /// `--rate`: maximum requests per second.
    pub rate: f64,
    /// `--user-agent`.
    pub user_agent: String,
    /// Milliseconds before the first retry. The delay doubles each time.
    pub first_pause: u64,
}

impl Default for RemoteOptions {
    fn default() -> Self {
        let user_agent = concat!("buckets/", env!("CARGO_PKG_VERSION")).to_owned();
        Self { rate: 2.0, user_agent, first_pause: 1_000 }
    }
}

/// Fetches pages, one at a time.
pub(super) struct Fetcher {
    http: reqwest::Client,
    runtime: Runtime,
    between: Duration,
    first_pause: Duration,
    last: Option<Instant>,
}

/// The reason a page cannot be fetched.
enum Failure {
    /// Temporary: retry, after the delay that the server requests, if any.
    Passing(String, Option<Duration>),
    /// There is no connection: retry.
    Unreachable(String),
    /// Permanent.
    Lasting(String),
}

impl Fetcher {
    pub(super) fn new(options: &RemoteOptions) -> Result<Self, JobError> {
        // If another provider was installed first, that one is used.
        let _ = rustls::crypto::ring::default_provider().install_default();
        let http = reqwest::Client::builder()
            .connect_timeout(CONNECT_TIMEOUT)
            .timeout(PAGE_TIMEOUT)
            .user_agent(&options.user_agent)
            .redirect(Policy::custom(follow))
            .dns_resolver(Arc::new(ProviderResolver))
            .build()
            .map_err(|error| JobError::Invalid(format!("no HTTP client: {error}")))?;
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
        let between = Duration::try_from_secs_f64(1.0 / options.rate)
            .map_err(|_| JobError::Invalid("the rate must be above 0".to_owned()))?;
        let first_pause = Duration::from_millis(options.first_pause);
        Ok(Self { http, runtime, between, first_pause, last: None })
    }

    /// Fetches a page, or returns the reason it is unavailable.
    ///
    /// # Errors
    /// The server is unreachable or busy after several attempts.
    pub(super) fn page(&mut self, url: &Url) -> Result<Result<Vec<u8>, String>, JobError> {
        let mut pause = self.first_pause;
        for attempt in 1.. {
            self.wait_for_turn();
            let failure = match self.runtime.block_on(get(&self.http, url)) {
                Ok(page) => return Ok(Ok(page)),
                Err(failure) => failure,
            };
            let connected = !matches!(failure, Failure::Unreachable(_));
            let (reason, asked) = match failure {
                Failure::Lasting(reason) => return Ok(Err(reason)),
                Failure::Passing(reason, asked) => (reason, asked),
                Failure::Unreachable(reason) => (reason, None),
            };
            if attempt >= ATTEMPTS {
                let (path, reason) = (url.to_string(), format!("{reason}, {ATTEMPTS} times"));
                return Err(match connected {
                    true => JobError::Source { path, error: std::io::Error::other(reason) },
                    false => JobError::Unreachable { path, reason },
                });
            }
            log::warn!("{url}: {reason}; asking again");
            sleep(asked.unwrap_or(pause).min(LONGEST_PAUSE));
            pause *= 2;
        }
        Ok(Err("it was not requested".to_owned()))
    }

    fn wait_for_turn(&mut self) {
        if let Some(last) = self.last {
            sleep(self.between.saturating_sub(last.elapsed()));
        }
        self.last = Some(Instant::now());
    }
}

async fn get(http: &reqwest::Client, url: &Url) -> Result<Vec<u8>, Failure> {
    let request = http.get(url.clone()).header("x-ms-version", "2021-08-06");
    let mut response = request.send().await.map_err(interrupted)?;
    if !response.status().is_success() {
        return Err(refused(&response));
    }
    let mut page = Vec::new();
    while let Some(chunk) = response.chunk().await.map_err(interrupted)? {
        if page.len() + chunk.len() > LARGEST_PAGE {
            return Err(Failure::Lasting("a page is longer than 64 MiB".to_owned()));
        }
        page.extend_from_slice(&chunk);
    }
    Ok(page)
}

/// Describes a network error, including its causes.
fn interrupted(error: reqwest::Error) -> Failure {
    let is_connected = !error.is_connect();
    let reason = format!("{:#}", anyhow::Error::new(error.without_url()));
    if is_connected { Failure::Passing(reason, None) } else { Failure::Unreachable(reason) }
}

fn refused(response: &Response) -> Failure {
    let header = |name: &str| response.headers().get(name)?.to_str().ok().map(str::to_owned);
    let status = response.status();
    let reason = match status {
        StatusCode::NOT_FOUND => "there is no such bucket".to_owned(),
        StatusCode::UNAUTHORIZED | StatusCode::FORBIDDEN => "the bucket is not public".to_owned(),
        _ if status.is_redirection() => match header("x-amz-bucket-region") {
            Some(region) => format!("the bucket is in the region {region}: use it in the address"),
            None => "the bucket has moved".to_owned(),
        },
        _ => status.canonical_reason().unwrap_or("refused").to_lowercase(),
    };
    let reason = format!("{}: {reason}", status.as_u16());
    let busy = matches!(status, StatusCode::TOO_MANY_REQUESTS | StatusCode::REQUEST_TIMEOUT);
    if busy || status.is_server_error() {
        let seconds = header(RETRY_AFTER.as_str()).and_then(|text| text.parse().ok());
        Failure::Passing(reason, seconds.map(Duration::from_secs))
    } else {
        Failure::Lasting(reason)
    }
}
