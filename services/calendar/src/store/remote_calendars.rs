//! Downloads calendar files using the guarded HTTP client from `outbound`.

use std::io::Read;
use std::time::Duration;

use flate2::read::MultiGzDecoder;
use jiff::Timestamp;
use jiff::fmt::rfc2822;
use outbound::{Download, FetchError, FetchRules, Fetcher, Reach, web_url};
use reqwest::header::{
    ACCEPT, ACCEPT_ENCODING, CONTENT_ENCODING, ETAG, HeaderMap, HeaderName, HeaderValue,
    IF_MODIFIED_SINCE, IF_NONE_MATCH, LAST_MODIFIED, LOCATION, RETRY_AFTER,
};
use url::Url;

use crate::model::remote_address::webcal_urls;

/// Maximum number of redirects to follow.
const REDIRECTS: usize = 5;

/// Maximum length of an ETag or `Last-Modified` value to store, in bytes.
const LONGEST_VALIDATOR: usize = 500;

/// Gzip magic bytes.
const GZIP: [u8; 2] = [0x1f, 0x8b];

/// Cache validators from the last import.
#[derive(Clone, Copy, Debug, Default)]
pub struct Known<'a> {
    pub etag: Option<&'a str>,
    pub last_modified: Option<&'a str>,
}

/// The result of a successful fetch.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Fetched {
    /// The file, or `None` if it hasn't changed.
    pub file: Option<RemoteFile>,
    /// The address to use from now on. It is set if there was a permanent redirect, or if the old
    /// address didn't specify a protocol and the host supports https.
    pub moved_to: Option<String>,
    /// Whether the file was fetched over http although the address doesn't specify http.
    pub is_unencrypted: bool,
}

impl Fetched {
    /// Returns the result of an https request for an address that doesn't specify the protocol.
    fn over_https(self, url: String) -> Fetched {
        Fetched { moved_to: Some(self.moved_to.unwrap_or(url)), ..self }
    }

    /// Returns the result of an http request for an address that doesn't specify the protocol. The
    /// next run tries https again, and ignores any address or validators received over http,
    /// because an attacker might have interfered with this run.
    fn over_http(self) -> Fetched {
        let file = self.file.map(|file| RemoteFile { etag: None, last_modified: None, ..file });
        Fetched { file, moved_to: None, is_unencrypted: true }
    }
}

/// A downloaded file.
#[derive(Clone, PartialEq, Eq)]
pub struct RemoteFile {
    pub bytes: Vec<u8>,
    /// The media type, for use in messages.
    pub media_type: String,
    pub etag: Option<String>,
    pub last_modified: Option<String>,
}

impl std::fmt::Debug for RemoteFile {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "RemoteFile of {} bytes", self.bytes.len())
    }
}

/// Why a file couldn't be fetched.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct FetchFailure {
    /// A sentence to show to editors.
    pub message: String,
    /// Delay requested by the server, in seconds.
    pub retry_after: Option<i64>,
    /// Whether the file is permanently gone.
    pub is_gone: bool,
    /// Whether the connection to the address's host failed, or the host has no valid TLS
    /// certificate.
    pub is_unconnected: bool,
}

impl FetchFailure {
    fn new(message: impl Into<String>) -> FetchFailure {
        FetchFailure { message: message.into(), ..FetchFailure::default() }
    }
}

/// Fetches calendar files. Clones share an HTTP client.
#[derive(Clone, Debug)]
pub struct CalendarFetcher {
    fetcher: Fetcher,
    reach: Reach,
    /// Maximum uncompressed file size in bytes.
    most: usize,
    /// Time limit per file, including redirects.
    timeout: Duration,
}

impl CalendarFetcher {
    /// Creates a fetcher. `reach` determines which hosts it is allowed to connect to.
    ///
    /// # Errors
    /// Returns an error if the HTTP client cannot be created.
    pub fn new(
        reach: Reach,
        most: usize,
        timeout: Duration,
    ) -> Result<CalendarFetcher, reqwest::Error> {
        let rules = FetchRules {
            timeout,
            returns_redirects: true,
            ..FetchRules::new(concat!("calendar/", env!("CARGO_PKG_VERSION")))
        };
        let fetcher = Fetcher::new(reach.clone(), rules)?;
        Ok(CalendarFetcher { fetcher, reach, most, timeout })
    }

    /// Returns whether a subscription is allowed to use this address. The IP addresses of a host
    /// name are checked later, when it is resolved.
    pub fn may_name(&self, address: &str) -> bool {
        web_url(address).is_some_and(|url| self.reach.may_name(&url))
    }

    pub fn timeout(&self) -> Duration {
        self.timeout
    }

    /// Fetches a file, unless it hasn't changed since the last import.
    ///
    /// # Errors
    /// Returns an error if the server doesn't respond with a complete file.
    pub async fn fetch(
        &self,
        address: &str,
        known: Known<'_>,
        now: i64,
    ) -> Result<Fetched, FetchFailure> {
        let fetched = tokio::time::timeout(self.timeout, self.fetch_any(address, known, now));
        fetched.await.unwrap_or_else(|_| Err(self.failure(FetchError::TimedOut)))
    }

    /// Fetches a file. A `webcal` address is tried over https first, and then over http if the host
    /// can't be reached over https or doesn't have TLS with a valid certificate. Any response over
    /// https rules out the fallback.
    async fn fetch_any(
        &self,
        address: &str,
        known: Known<'_>,
        now: i64,
    ) -> Result<Fetched, FetchFailure> {
        let Some([secure, plain]) = webcal_urls(address) else {
            return self.fetch_from(address, known, now).await;
        };
        match self.fetch_from(&secure, known, now).await {
            Err(failure) if failure.is_unconnected => {
                Ok(self.fetch_from(&plain, known, now).await?.over_http())
            }
            fetched => Ok(fetched?.over_https(secure)),
        }
    }

    async fn fetch_from(
        &self,
        address: &str,
        known: Known<'_>,
        now: i64,
    ) -> Result<Fetched, FetchFailure> {
        let mut url = web_url(address).ok_or_else(|| self.failure(FetchError::Forbidden))?;
        let headers = headers(known);
        // The address to remember, as long as all redirects so far have been permanent.
        let (mut moved_to, mut is_permanent) = (None, true);
        for redirects in 0..=REDIRECTS {
            let opened = self.fetcher.open_with(url.as_str(), headers.clone()).await;
            let download = opened.map_err(|error| FetchFailure {
                is_unconnected: redirects == 0
                    && matches!(error, FetchError::NoConnection | FetchError::Insecure),
                ..self.failure(error)
            })?;
            let status = download.status();
            if !matches!(status, 301 | 302 | 303 | 307 | 308) {
                let file = self.file(download, now).await?;
                return Ok(Fetched { file, moved_to, is_unencrypted: false });
            }
            url = target(&url, download.header(LOCATION))?;
            is_permanent &= matches!(status, 301 | 308);
            if is_permanent {
                moved_to = Some(url.to_string());
            }
        }
        Err(FetchFailure::new(format!("the address redirects more than {REDIRECTS} times")))
    }

    /// Reads the file from a response. Returns `None` if it hasn't changed.
    async fn file(&self, download: Download, now: i64) -> Result<Option<RemoteFile>, FetchFailure> {
        let status = download.status();
        if status == 304 {
            return Ok(None);
        }
        if status != 200 {
            let asked = download.header(RETRY_AFTER).and_then(|text| pause(text, now));
            let message = match status {
                401 | 403 => {
                    format!("the address responded with {status}: it requires a password or a key")
                }
                404 => "the address responded with 404: there is no file".to_owned(),
                410 => {
                    "the address responded with 410: the file was permanently removed".to_owned()
                }
                other => format!("the address responded with {other}"),
            };
            let (retry_after, is_gone) = (asked, status == 410);
            return Err(FetchFailure { retry_after, is_gone, ..FetchFailure::new(message) });
        }
        let media_type = download.media_type();
        let validator = |name: HeaderName| {
            let value = download.header(name).filter(|value| value.len() <= LONGEST_VALIDATOR);
            value.map(str::to_owned)
        };
        let (etag, last_modified) = (validator(ETAG), validator(LAST_MODIFIED));
        let coding = download.header(CONTENT_ENCODING).unwrap_or_default().trim();
        let coding = coding.to_ascii_lowercase();
        let packed = download.whole(self.most).await.map_err(|error| self.failure(error))?;
        let is_gzip = packed.starts_with(&GZIP);
        let bytes = match coding.as_str() {
            "gzip" | "x-gzip" | "" | "identity" if is_gzip => self.unpacked(&packed)?,
            "" | "identity" => packed,
            // Some servers announce gzip but send the file uncompressed.
            "gzip" | "x-gzip" => packed,
            other => {
                let other: String = other.chars().take(20).collect();
                return Err(FetchFailure::new(format!(
                    "the response has an unsupported encoding, {other}"
                )));
            }
        };
        Ok(Some(RemoteFile { bytes, media_type, etag, last_modified }))
    }

    fn unpacked(&self, packed: &[u8]) -> Result<Vec<u8>, FetchFailure> {
        let mut bytes = Vec::new();
        let most = u64::try_from(self.most).unwrap_or(u64::MAX);
        let read = MultiGzDecoder::new(packed).take(most.saturating_add(1)).read_to_end(&mut bytes);
        match read {
            Ok(_) if bytes.len() > self.most => Err(self.failure(FetchError::TooLarge)),
            Ok(_) => Ok(bytes),
            Err(_) => Err(FetchFailure::new("the response is damaged or incomplete gzip")),
        }
    }

    fn failure(&self, error: FetchError) -> FetchFailure {
        FetchFailure::new(match error {
            FetchError::Forbidden => "the address is not on a public host".to_owned(),
            FetchError::UnknownHost => "the host is unknown or not public".to_owned(),
            FetchError::CutOff => "the response is incomplete or malformed".to_owned(),
            error @ (FetchError::NoConnection | FetchError::Insecure | FetchError::Redirected) => {
                error.to_string()
            }
            FetchError::TimedOut => {
                format!("the file was not received within {} seconds", self.timeout.as_secs())
            }
            FetchError::TooLarge => format!("the file is larger than {} MiB", self.most >> 20),
        })
    }
}

fn headers(known: Known<'_>) -> HeaderMap {
    let mut headers = HeaderMap::new();
    headers.insert(ACCEPT, HeaderValue::from_static("text/calendar, */*;q=0.5"));
    headers.insert(ACCEPT_ENCODING, HeaderValue::from_static("gzip"));
    for (name, value) in [(IF_NONE_MATCH, known.etag), (IF_MODIFIED_SINCE, known.last_modified)] {
        if let Some(value) = value.and_then(|text| HeaderValue::from_str(text).ok()) {
            headers.insert(name, value);
        }
    }
    headers
}

/// Returns the target of a redirect.
fn target(from: &Url, location: Option<&str>) -> Result<Url, FetchFailure> {
    let location = location.unwrap_or_default().trim();
    let to = from.join(location).ok().and_then(|url| web_url(url.as_str()));
    match to {
        Some(to) if from.scheme() == "https" && to.scheme() == "http" => {
            Err(FetchFailure::new("the address redirects from https to http"))
        }
        Some(to) if !location.is_empty() => Ok(to),
        _ => Err(FetchFailure::new("the address redirects without a usable target")),
    }
}

/// Parses `Retry-After`, either a number of seconds or a date. Returns the delay in seconds.
fn pause(text: &str, now: i64) -> Option<i64> {
    let text = text.trim();
    if let Ok(seconds) = text.parse::<u32>() {
        return Some(i64::from(seconds));
    }
    let at: Timestamp = rfc2822::DateTimeParser::new().parse_timestamp(text).ok()?;
    Some((at.as_second() - now).max(0))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn redirect_and_validators_from_http_are_not_kept() {
        let text = || Some("x".to_owned());
        let (bytes, media_type) = (vec![1], "text/calendar".to_owned());
        let file = RemoteFile { bytes, media_type, etag: text(), last_modified: text() };
        let moved_to = Some("https://b.example/c.ics".to_owned());
        let fetched = Fetched { file: Some(file.clone()), moved_to, is_unencrypted: false };
        let file = Some(RemoteFile { etag: None, last_modified: None, ..file });
        assert_eq!(fetched.over_http(), Fetched { file, moved_to: None, is_unencrypted: true });
    }

    #[test]
    fn retry_after_is_read_as_seconds_or_as_a_date() {
        assert_eq!(pause(" 120 ", 0), Some(120));
        assert_eq!(pause("Sun, 06 Nov 1994 08:49:37 GMT", 784_111_700), Some(77));
        assert_eq!(pause("Sun, 06 Nov 1994 08:49:37 GMT", 784_111_800), Some(0));
        for text in ["", "-5", "soon", "1e9"] {
            assert_eq!(pause(text, 0), None, "{text}");
        }
    }

    #[test]
    fn redirect_target_is_a_web_address_that_is_not_less_secure() {
        let from = |text: &str| Url::parse(text).unwrap();
        let secure = from("https://a.example/x/c.ics");
        for (location, to) in [
            (Some("/d.ics"), Some("https://a.example/d.ics")),
            (Some("d.ics?x=1"), Some("https://a.example/x/d.ics?x=1")),
            (Some("https://b.example/"), Some("https://b.example/")),
            (Some("http://a.example/"), None),
            (Some("file:///etc/passwd"), None),
            (Some("https://me:word@a.example/"), None),
            (Some(""), None),
            (None, None),
        ] {
            let target = target(&secure, location).ok().map(|url| url.to_string());
            assert_eq!(target.as_deref(), to, "{location:?}");
        }
        assert!(target(&from("http://a.example/"), Some("http://b.example/")).is_ok());
    }
}
