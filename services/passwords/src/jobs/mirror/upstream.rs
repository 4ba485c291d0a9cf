//! A client for the mirrored service, which fetches one range per request.

use std::io::Read;
use std::path::Path;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use anyhow::{Context, bail};
use domain::{HashPrefix, shows_its_end};
use reqwest::header::{self, HeaderMap, HeaderValue};
use reqwest::{Client, Response, StatusCode, Url};
use rustls::pki_types::CertificateDer;
use rustls::pki_types::pem::PemObject;
use rustls::{ClientConfig, RootCertStore};

use crate::model::lines::{self, Form};
use crate::model::{Entry, Kind};
use crate::store::Encoded;

/// Maximum length of a range in bytes. There are up to 65,535 lines of up to 48 characters.
const TEXT_LIMIT: usize = 4 << 20;
/// Maximum length of an error response's first line for it to be shown.
const LONGEST_LINE: usize = 100;
const CONNECT_TIMEOUT: Duration = Duration::from_secs(15);
/// Requests are aborted after this multiple of the timeout, even if the response keeps trickling
/// in.
const WHOLE_ANSWER: u32 = 5;

/// A range service and its HTTP client.
pub struct Upstream {
    client: Client,
    ranges: Url,
    source: String,
}

/// A successful response for a range.
pub enum Answer {
    /// The range still has the tag we sent.
    Same,
    /// The range has changed, or we didn't send a tag.
    Range(Range),
}

/// A fetched range.
pub struct Range {
    /// The encoded bucket.
    pub encoded: Encoded,
    /// The range's entity tag.
    pub tag: Vec<u8>,
    /// The number of bytes transferred.
    pub received: u64,
}

/// Why a request failed.
#[derive(Debug)]
pub enum Failure {
    /// The service is busy or slow, and may have asked for a pause.
    Busy(String, Option<Pause>),
    /// The connection failed, or the response is malformed.
    Broken(String),
    /// Retrying wouldn't help.
    Final(String),
}

/// A pause that the service requested with `Retry-After`.
#[derive(Clone, Copy, Debug)]
pub struct Pause {
    /// The length of the pause.
    pub time: Duration,
    /// The response's status.
    pub status: u16,
}

impl Upstream {
    /// Creates a client for the service at `url` that also trusts the certificate authorities in
    /// `ca_file`.
    ///
    /// # Errors
    /// Returns an error if the address is invalid, or if the file does not contain any
    /// certificates.
    pub fn new(
        url: &str,
        ca_file: Option<&Path>,
        user_agent: &str,
        timeout: Duration,
    ) -> anyhow::Result<Self> {
        let (ranges, source) = addresses(url)?;
        let client = Client::builder()
            .tls_backend_preconfigured(tls(ca_file)?)
            .user_agent(user_agent)
            .connect_timeout(CONNECT_TIMEOUT.min(timeout))
            .read_timeout(timeout)
            .timeout(timeout * WHOLE_ANSWER)
            .redirect(reqwest::redirect::Policy::none())
            // We decompress responses ourselves and use the length to detect truncated ones.
            .no_gzip()
            .no_brotli()
            .build()
            .context("cannot create the HTTP client")?;
        Ok(Self { client, ranges, source })
    }

    /// Returns the service's address without credentials, for storage and display.
    pub fn source(&self) -> &str {
        &self.source
    }

    /// Requests a range. If `tag` is given, the service only sends the range if it has changed.
    ///
    /// # Errors
    /// See [`Failure`].
    pub async fn ask(
        &self,
        kind: Kind,
        prefix: HashPrefix,
        tag: Option<&[u8]>,
    ) -> Result<Answer, Failure> {
        let mut url = self.ranges.join(&prefix.to_string()).map_err(broken)?;
        if kind == Kind::Ntlm {
            url.set_query(Some("mode=ntlm"));
        }
        let mut request = self.client.get(url).header(header::ACCEPT_ENCODING, "gzip");
        let tag = tag.and_then(|tag| HeaderValue::from_bytes(tag).ok());
        let conditional = tag.is_some();
        if let Some(tag) = tag {
            request = request.header(header::IF_NONE_MATCH, tag);
        }
        let mut response = request.send().await.map_err(of_client)?;
        match response.status() {
            StatusCode::OK => range(kind, prefix, response).await.map(Answer::Range),
            StatusCode::NOT_MODIFIED if conditional => Ok(Answer::Same),
            StatusCode::NOT_MODIFIED => {
                Err(broken("the response is 304 Not Modified, but the request had no tag"))
            }
            status => {
                let said = response.chunk().await.ok().flatten().unwrap_or_default();
                Err(of_status(status, response.headers(), &said))
            }
        }
    }
}

/// Returns the ranges' base URL, and the address to display.
fn addresses(url: &str) -> anyhow::Result<(Url, String)> {
    let given = without_credentials(url);
    let mut base = Url::parse(url).with_context(|| format!("{given} is not a valid address"))?;
    if !matches!(base.scheme(), "http" | "https") || base.cannot_be_a_base() {
        bail!("{given} is not a service address: it must start with https:// or http://");
    }
    if base.query().is_some() || base.fragment().is_some() {
        bail!("{given} has a query; name the service only, as in https://ranges.example");
    }
    let path = base.path().trim_end_matches('/');
    let path = path.strip_suffix("/range").unwrap_or(path).to_owned();
    base.set_path(&path);
    let mut shown = base.clone();
    let _ = (shown.set_username(""), shown.set_password(None));
    base.set_path(&format!("{path}/range/"));
    Ok((base, shown.as_str().trim_end_matches('/').to_owned()))
}

/// Returns an address, which may be malformed, without everything between its scheme and the last
/// `@`: a password with a `#`, `?` or `/` in it is not recognized as one by a URL parser.
fn without_credentials(url: &str) -> String {
    let Some((before, after)) = url.rsplit_once('@') else { return url.to_owned() };
    let scheme = before.split_once("://").map_or("", |(scheme, _)| scheme);
    if scheme.is_empty() || !scheme.bytes().all(|byte| byte.is_ascii_alphabetic()) {
        return after.to_owned();
    }
    format!("{scheme}://{after}")
}

fn tls(ca_file: Option<&Path>) -> anyhow::Result<ClientConfig> {
    let mut roots = RootCertStore { roots: webpki_roots::TLS_SERVER_ROOTS.to_vec() };
    if let Some(path) = ca_file {
        let unreadable = || format!("{} does not contain any PEM certificates", path.display());
        let before = roots.len();
        for certificate in CertificateDer::pem_file_iter(path).with_context(unreadable)? {
            roots.add(certificate.with_context(unreadable)?).with_context(unreadable)?;
        }
        if roots.len() == before {
            bail!(unreadable());
        }
    }
    let provider = rustls::crypto::aws_lc_rs::default_provider();
    let config = ClientConfig::builder_with_provider(provider.into())
        .with_safe_default_protocol_versions()
        .context("no TLS")?;
    Ok(config.with_root_certificates(roots).with_no_client_auth())
}

async fn range(kind: Kind, prefix: HashPrefix, mut response: Response) -> Result<Range, Failure> {
    let headers = response.headers();
    let packed = match headers.get(header::CONTENT_ENCODING).map(HeaderValue::as_bytes) {
        None | Some(b"identity") => false,
        Some(b"gzip") => true,
        Some(_) => return Err(Failure::Final("the response has an unknown encoding".to_owned())),
    };
    let codings = headers.get_all(header::TRANSFER_ENCODING).iter().map(HeaderValue::as_bytes);
    let shows_end = shows_its_end(response.content_length(), codings);
    // A gzip stream marks its own end.
    if !packed && !shows_end {
        let cause = "responses have no length, so a truncated one cannot be detected";
        return Err(Failure::Final(cause.to_owned()));
    }
    let tag = headers.get(header::ETAG).map_or(Vec::new(), |tag| tag.as_bytes().to_vec());
    let mut body = Vec::new();
    while let Some(chunk) = response.chunk().await.map_err(of_client)? {
        if body.len() + chunk.len() > TEXT_LIMIT {
            return Err(Failure::Final("the response is longer than any range".to_owned()));
        }
        body.extend_from_slice(&chunk);
    }
    let received = body.len() as u64;
    let text = if packed { unpacked(&body)? } else { body };
    let encoded = encoded(kind, prefix, &text)?;
    Ok(Range { encoded, tag, received })
}

fn unpacked(packed: &[u8]) -> Result<Vec<u8>, Failure> {
    let mut text = Vec::with_capacity(2 * packed.len());
    let mut decoder = flate2::read::MultiGzDecoder::new(packed).take(TEXT_LIMIT as u64 + 1);
    decoder.read_to_end(&mut text).map_err(|error| Failure::Broken(format!("gzip: {error}")))?;
    if text.len() > TEXT_LIMIT {
        return Err(Failure::Final("the response is longer than any range".to_owned()));
    }
    Ok(text)
}

fn encoded(kind: Kind, prefix: HashPrefix, text: &[u8]) -> Result<Encoded, Failure> {
    let mut parsed = lines::parse(text, kind, Form::Suffix(prefix.value()), false);
    if let Some((line, cause)) = parsed.error {
        return Err(Failure::Broken(format!("line {} of the response: {cause}", line + 1)));
    }
    // Equal neighbours have already been added up during parsing, so sorting doesn't reveal them.
    let added_up = parsed.repeated.map(|at| parsed.entries[at].hash);
    parsed.entries.sort_unstable_by(Entry::compare);
    let neighbours = parsed.entries.windows(2).find(|two| two[0].hash == two[1].hash);
    if let Some(hash) = added_up.or(neighbours.map(|two| two[0].hash)) {
        let hash = &hash[2..kind.hash_bytes()];
        let suffix: String = hash.iter().map(|byte| format!("{byte:02X}")).collect();
        let suffix = &suffix[1..];
        return Err(Failure::Broken(format!("the response lists the suffix {suffix} twice")));
    }
    Encoded::of(kind, &parsed.entries).map_err(|error| Failure::Final(error.to_string()))
}

fn of_status(status: StatusCode, headers: &HeaderMap, body: &[u8]) -> Failure {
    let said = match first_line(body) {
        Some(line) => format!("the response is {status} ({line})"),
        None => format!("the response is {status}"),
    };
    match status {
        _ if status == StatusCode::TOO_MANY_REQUESTS
            || status == StatusCode::REQUEST_TIMEOUT
            || status.is_server_error() =>
        {
            let pause = |time| Pause { time, status: status.as_u16() };
            Failure::Busy(said, retry_after(headers).map(pause))
        }
        _ if status.is_redirection() => {
            let to = headers.get(header::LOCATION).and_then(|to| to.to_str().ok());
            let to = to.unwrap_or("nowhere");
            Failure::Final(format!("{said}: the service has moved, see {to}"))
        }
        _ => Failure::Final(said),
    }
}

/// Returns the first line of a response, if it is short and plain text.
fn first_line(body: &[u8]) -> Option<&str> {
    let line = body.split(|byte| *byte == b'\n').next()?.trim_ascii();
    let plain = (1..=LONGEST_LINE).contains(&line.len())
        && line.iter().all(|byte| matches!(byte, b' '..=b'~') && *byte != b'<');
    if plain { std::str::from_utf8(line).ok() } else { None }
}

/// Parses `Retry-After`, given in seconds or as a date.
fn retry_after(headers: &HeaderMap) -> Option<Duration> {
    let value = headers.get(header::RETRY_AFTER)?.to_str().ok()?;
    if let Ok(seconds) = value.trim().parse() {
        return Some(Duration::from_secs(seconds));
    }
    let date = u64::try_from(shell::parse_http_date(value)?).ok()?;
    let now = SystemTime::now().duration_since(UNIX_EPOCH).ok()?;
    Some(Duration::from_secs(date).saturating_sub(now))
}

fn of_client(error: reqwest::Error) -> Failure {
    let slow = error.is_timeout();
    let cause = format!("{:#}", anyhow::Error::from(error.without_url()));
    if slow { Failure::Busy(cause, None) } else { Failure::Broken(cause) }
}

fn broken(error: impl std::fmt::Display) -> Failure {
    Failure::Broken(error.to_string())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn service_address_has_several_spellings_and_hides_credentials() {
        for (url, ranges, source) in [
            ("https://a.example", "https://a.example/range/", "https://a.example"),
            ("https://a.example/range/", "https://a.example/range/", "https://a.example"),
            (
                "http://a.example:81/api/",
                "http://a.example:81/api/range/",
                "http://a.example:81/api",
            ),
            ("https://u:p@a.example/", "https://u:p@a.example/range/", "https://a.example"),
        ] {
            let (found, shown) = addresses(url).unwrap();
            assert_eq!((found.as_str(), shown.as_str()), (ranges, source));
        }
        for url in ["", "a.example", "ftp://a.example", "file:///x", "https://a.example/?mode=ntlm"]
        {
            assert!(addresses(url).is_err(), "{url}");
        }
    }

    #[test]
    fn errors_about_a_service_address_do_not_contain_its_credentials() {
        for (url, expected) in [
            ("https://ada:hunter2@a.example/?x=1", "https://a.example/?x=1 has a query"),
            ("https://ada:hun#ter2@a.example", "https://a.example is not a valid address"),
            ("https://ada:80#hunter2@a.example", "https://a.example has a query"),
            ("https://ada:hunter2@", "https:// is not a valid address"),
            ("ftp://ada:hunter2@a.example", "ftp://a.example is not a service address"),
            ("ada:hunter2@a.example", "a.example is not a service address"),
        ] {
            let refused = format!("{:#}", addresses(url).unwrap_err());
            assert!(refused.starts_with(expected), "{url}: {refused}");
        }
    }

    #[test]
    fn answer_of_another_kind_or_format_is_broken() {
        let prefix = HashPrefix::from_value(0).unwrap();
        let sha1 = format!("{}:3\r\n", "A".repeat(35));
        assert!(encoded(Kind::Sha1, prefix, sha1.as_bytes()).is_ok());
        for text in [sha1.as_bytes(), b"<!DOCTYPE html>", b"Invalid API query"] {
            assert!(matches!(encoded(Kind::Ntlm, prefix, text), Err(Failure::Broken(_))));
        }
    }

    #[test]
    fn an_answer_that_lists_a_suffix_twice_is_broken() {
        let prefix = HashPrefix::from_value(0).unwrap();
        let [a, b] = ["A", "B"].map(|digit| digit.repeat(27));
        for text in [format!("{a}:3\r\n{b}:1\r\n{a}:4"), format!("{a}:3\r\n{a}:4\r\n{b}:1")] {
            let Err(Failure::Broken(said)) = encoded(Kind::Ntlm, prefix, text.as_bytes()) else {
                panic!("accepted: {text}");
            };
            assert_eq!(said, format!("the response lists the suffix {a} twice"));
        }
        assert!(encoded(Kind::Ntlm, prefix, format!("{b}:1\r\n{a}:4").as_bytes()).is_ok());
    }

    #[test]
    fn first_line_of_an_error_response_is_quoted() {
        let said = |body: &[u8]| match of_status(StatusCode::NOT_FOUND, &HeaderMap::new(), body) {
            Failure::Final(said) => said,
            other => panic!("{other:?}"),
        };
        assert_eq!(said(b"no such range\r\nx"), "the response is 404 Not Found (no such range)");
        for body in [&b""[..], b"<html>", &[b'x'; 200], b"\x1b[2J"] {
            assert_eq!(said(body), "the response is 404 Not Found");
        }
    }

    #[test]
    fn retry_after_is_seconds_or_a_date() {
        let pause_of = |value: &str| {
            let value = HeaderValue::from_str(value).unwrap();
            retry_after(&HeaderMap::from_iter([(header::RETRY_AFTER, value)]))
        };
        assert_eq!(pause_of("7"), Some(Duration::from_secs(7)));
        assert_eq!(pause_of("Thu, 01 Jan 1970 00:00:00 GMT"), Some(Duration::ZERO));
        assert!(pause_of("Fri, 31 Dec 9999 23:59:59 GMT") > Some(Duration::from_secs(1 << 32)));
        assert_eq!((pause_of("soon"), pause_of("-1")), (None, None));
    }
}
