//! Fetches pages over HTTP, with rate limits and retries.

use std::net::IpAddr;
use std::sync::Arc;
use std::thread::sleep;
use std::time::{Duration, Instant};

use jiff::Timestamp;
use jiff::fmt::rfc2822;
use reqwest::header::RETRY_AFTER;
use reqwest::redirect::Policy;
use reqwest::{Response, StatusCode, Url};
use serde::{Deserialize, Serialize};
use tokio::runtime::Runtime;

use super::provider::{ProviderResolver, follow};
use super::refusal::Refusal;
use super::turns::Turns;
use crate::jobs::error::JobError;
use crate::model::address::provider_of;

/// Maximum page size in bytes.
const LARGEST_PAGE: usize = 64 << 20;
/// Longest delay that we let a server ask for.
const LONGEST_PAUSE: Duration = Duration::from_secs(120);
const CONNECT_TIMEOUT: Duration = Duration::from_secs(10);

/// How to list buckets.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct RemoteOptions {
    /// `--rate`: maximum requests per second, for each bucket if there is also a provider rate,
    /// otherwise for all buckets together.
    pub rate: f64,
    /// `--provider-rate`: maximum requests per second to all buckets of a provider.
    pub provider_rate: Option<f64>,
    /// `--user-agent`
    pub user_agent: String,
    /// Delay before the first retry, in milliseconds. It doubles with every retry.
    pub first_pause: u64,
    /// Maximum number of attempts per page.
    pub attempts: u32,
    /// Timeout per page, in seconds.
    pub timeout: u64,
    /// Whether private addresses are allowed for hosts of unknown providers.
    pub allows_private: bool,
    /// Only list files whose path starts with this.
    pub prefix: String,
    /// Time after which this run stops retrying failed requests.
    #[serde(skip)]
    pub deadline: Option<Instant>,
    /// Schedule for the next requests, shared by clones.
    #[serde(skip)]
    pub turns: Turns,
}

impl Default for RemoteOptions {
    fn default() -> Self {
        let user_agent = concat!("buckets/", env!("CARGO_PKG_VERSION")).to_owned();
        Self {
            rate: 2.0,
            provider_rate: None,
            user_agent,
            first_pause: 1_000,
            attempts: 6,
            timeout: 120,
            allows_private: true,
            prefix: String::new(),
            deadline: None,
            turns: Turns::default(),
        }
    }
}

/// Fetches pages, one at a time.
pub(super) struct Fetcher {
    http: reqwest::Client,
    runtime: Runtime,
    options: RemoteOptions,
    bucket: String,
    between: Duration,
    between_of_provider: Option<Duration>,
}

/// Why a page couldn't be fetched.
enum Failure {
    /// A temporary failure. We retry it, after the delay requested by the server, if any.
    Passing(String, Option<Duration>),
    /// The host is unreachable. We retry this too.
    Unreachable(String),
    /// A permanent failure, which isn't worth retrying.
    Lasting(Refusal),
}

impl Fetcher {
    pub(super) fn new(options: &RemoteOptions, bucket: &str) -> Result<Self, JobError> {
        // Fails if a crypto provider is already installed. In that case, we use the installed
        // provider.
        let _ = rustls::crypto::aws_lc_rs::default_provider().install_default();
        let client = reqwest::Client::builder();
        // A proxy would resolve hostnames itself, so we couldn't keep it away from private
        // addresses.
        let client = if options.allows_private { client } else { client.no_proxy() };
        let http = client
            .connect_timeout(CONNECT_TIMEOUT)
            .timeout(Duration::from_secs(options.timeout))
            .user_agent(&options.user_agent)
            .redirect(Policy::custom(follow))
            .dns_resolver(Arc::new(ProviderResolver { allows_private: options.allows_private }))
            .build()
            .map_err(|error| {
                JobError::Invalid(format!("cannot create the HTTP client: {error}"))
            })?;
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
        let between = between_requests(options.rate)?;
        let between_of_provider = options.provider_rate.map(between_requests).transpose()?;
        let (options, bucket) = (options.clone(), bucket.to_owned());
        Ok(Self { http, runtime, options, bucket, between, between_of_provider })
    }

    /// Waits until the rate limits allow another request.
    fn wait(&self, url: &Url) {
        let now = Instant::now();
        let turns = &self.options.turns;
        let turn = match self.between_of_provider {
            None => turns.take(&[("", self.between)], now),
            Some(of_provider) => {
                let host = url.host_str().unwrap_or_default();
                let provider = provider_of(host).map_or(host, |kind| kind.as_str());
                let (bucket, provider) =
                    (format!("bucket {}", self.bucket), format!("provider {provider}"));
                turns.take(&[(&bucket, self.between), (&provider, of_provider)], now)
            }
        };
        sleep(turn.saturating_duration_since(now));
    }

    /// Fetches a page, or returns the server's refusal.
    ///
    /// # Errors
    /// Returns an error if the server is still unreachable or busy after several attempts or at the
    /// deadline.
    pub(super) fn page(&mut self, url: &Url) -> Result<Result<Vec<u8>, Refusal>, JobError> {
        if !self.options.allows_private && names_private(url) {
            let reason = "the address is private".to_owned();
            return Ok(Err(Refusal { status: None, reason }));
        }
        let attempts = self.options.attempts;
        let mut pause = Duration::from_millis(self.options.first_pause);
        for attempt in 1.. {
            self.wait(url);
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
            let mut listing = url.clone();
            // The query can contain the last file name, and a removal doesn't erase logs and stored
            // errors.
            listing.set_query(None);
            if attempt >= attempts {
                let (path, reason) = (listing.to_string(), format!("{reason}, {attempts} times"));
                return Err(match connected {
                    true => JobError::Source { path, error: std::io::Error::other(reason) },
                    false => JobError::Unreachable { path, reason },
                });
            }
            let next = asked.unwrap_or(pause).min(LONGEST_PAUSE);
            if self.options.deadline.is_some_and(|end| Instant::now() + next >= end) {
                return Err(JobError::TurnOver);
            }
            log::warn!("{listing}: {reason}; retrying");
            sleep(next);
            pause *= 2;
        }
        Ok(Err(Refusal { status: None, reason: "it was not requested".to_owned() }))
    }
}

fn between_requests(rate: f64) -> Result<Duration, JobError> {
    let between = Duration::try_from_secs_f64(1.0 / rate);
    between.map_err(|_| JobError::Invalid("the rate must be above 0".to_owned()))
}

/// Returns `true` if the URL contains a private IP address. Hostnames are checked when they are
/// resolved.
fn names_private(url: &Url) -> bool {
    let host = url.host_str().unwrap_or_default().trim_matches(['[', ']']);
    host.parse::<IpAddr>().is_ok_and(|address| !outbound::is_public(address))
}

async fn get(http: &reqwest::Client, url: &Url) -> Result<Vec<u8>, Failure> {
    let request = http.get(url.clone()).header("x-ms-version", "2021-08-06");
    let mut response = request.send().await.map_err(interrupted)?;
    // We didn't request a range, so a partial response isn't what we asked for.
    if !response.status().is_success() || response.status() == StatusCode::PARTIAL_CONTENT {
        return Err(refused(&response));
    }
    let mut page = Vec::new();
    while let Some(chunk) = response.chunk().await.map_err(interrupted)? {
        if page.len() + chunk.len() > LARGEST_PAGE {
            let reason = "a page is larger than 64 MiB".to_owned();
            return Err(Failure::Lasting(Refusal { status: None, reason }));
        }
        page.extend_from_slice(&chunk);
    }
    Ok(page)
}

/// Describes a network error and its causes.
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
        let asked = header(RETRY_AFTER.as_str());
        Failure::Passing(reason, asked.and_then(|text| pause_of(&text, Timestamp::now())))
    } else {
        Failure::Lasting(Refusal { status: Some(status.as_u16()), reason })
    }
}

/// Parses a `Retry-After` header, which contains seconds or a date. Returns `None` if the date has
/// passed.
fn pause_of(text: &str, now: Timestamp) -> Option<Duration> {
    if let Ok(seconds) = text.parse() {
        return Some(Duration::from_secs(seconds));
    }
    let end = rfc2822::parse(text).ok()?.timestamp();
    Duration::try_from(end.duration_since(now)).ok()
}

#[cfg(test)]
mod tests {
    use rstest::rstest;

    use super::*;

    #[rstest]
    #[case("http://127.0.0.1:9000/a", true)]
    #[case("http://[::1]/a", true)]
    #[case("http://169.254.169.254/latest", true)]
    #[case("http://0x7f000001/a", true)]
    #[case("http://52.216.0.1/a", false)]
    #[case("http://files.example.org/a", false)]
    fn private_ip_addresses_are_recognised(#[case] url: &str, #[case] private: bool) {
        assert_eq!(names_private(&Url::parse(url).unwrap()), private, "{url}");
    }

    #[rstest]
    #[case("120", Some(120))]
    #[case("Fri, 20 Nov 2026 00:00:30 GMT", Some(30))]
    #[case("Thu, 19 Nov 2026 23:59:59 GMT", None)]
    #[case("soon", None)]
    fn pauses_are_seconds_or_dates(#[case] text: &str, #[case] seconds: Option<u64>) {
        let now = "2026-11-20T00:00:00Z".parse().unwrap();
        assert_eq!(pause_of(text, now), seconds.map(Duration::from_secs), "{text}");
    }
}
