//! Reads files and home pages from a domain's website.

use futures_util::future::BoxFuture;
use outbound::{FetchError, FetchRules, Fetcher, Reach};
use url::Url;

/// Ports on which we contact websites.
const PORTS: &[u16] = &[80, 443];

/// The reason a website couldn't be read.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum SiteError {
    /// There was no response over HTTPS or HTTP.
    #[error("the website did not respond")]
    Unreachable,
    /// The website redirects to a place that isn't followed, or too often.
    #[error("the website redirects to another host or too many times")]
    Redirected,
    /// The response has an error status.
    #[error("the website responded with {0}")]
    Status(u16),
    /// The response is too large.
    #[error("the website's response is too large")]
    TooLarge,
}

pub trait Websites: Send + Sync {
    /// Reads a whole document of up to `limit` bytes.
    fn file(&self, request: SiteRequest) -> BoxFuture<'_, Result<Vec<u8>, SiteError>>;

    /// Reads the first `limit` bytes of a document.
    fn beginning(&self, request: SiteRequest) -> BoxFuture<'_, Result<Vec<u8>, SiteError>>;
}

#[derive(Clone, Debug)]
pub struct SiteRequest {
    pub domain: String,
    pub path: String,
    /// Maximum number of bytes to read.
    pub limit: usize,
    /// `traceparent` header, if there is a trace.
    pub traceparent: Option<String>,
}

/// Fetches documents over HTTPS, or over HTTP if that fails. Only follows redirects to the same
/// host or its `www` subdomain.
pub struct SiteFetcher(Fetcher);

impl SiteFetcher {
    /// Creates a fetcher that connects only to hosts within `reach`.
    ///
    /// # Errors
    /// Fails if the HTTP client can't be built.
    pub fn new(reach: Reach) -> anyhow::Result<Self> {
        let rules = FetchRules::new(concat!("breaches/", env!("CARGO_PKG_VERSION")));
        let rules = FetchRules { redirect_rule: stays_at_home, ports: PORTS, ..rules };
        Ok(Self(Fetcher::new(reach, rules)?))
    }

    async fn fetch(&self, request: &SiteRequest, whole: bool) -> Result<Vec<u8>, SiteError> {
        let mut failure = SiteError::Unreachable;
        for scheme in ["https", "http"] {
            match self.fetch_by(scheme, request, whole).await {
                Ok(found) => return Ok(found),
                // Report the more specific failure of the two.
                Err(SiteError::Unreachable) => {}
                Err(error) => failure = error,
            }
        }
        Err(failure)
    }

    async fn fetch_by(
        &self,
        scheme: &str,
        request: &SiteRequest,
        whole: bool,
    ) -> Result<Vec<u8>, SiteError> {
        let SiteRequest { domain, path, limit, .. } = request;
        let address = format!("{scheme}://{domain}{path}");
        let download =
            self.0.open(&address, request.traceparent.as_deref()).await.map_err(failed)?;
        match download.status() {
            200..300 if whole => download.whole(*limit).await.map_err(failed),
            200..300 => download.beginning(*limit).await.map_err(failed),
            status => Err(SiteError::Status(status)),
        }
    }
}

impl Websites for SiteFetcher {
    fn file(&self, request: SiteRequest) -> BoxFuture<'_, Result<Vec<u8>, SiteError>> {
        Box::pin(async move { self.fetch(&request, true).await })
    }

    fn beginning(&self, request: SiteRequest) -> BoxFuture<'_, Result<Vec<u8>, SiteError>> {
        Box::pin(async move { self.fetch(&request, false).await })
    }
}

fn failed(error: FetchError) -> SiteError {
    match error {
        FetchError::TooLarge => SiteError::TooLarge,
        FetchError::Redirected => SiteError::Redirected,
        FetchError::Forbidden
        | FetchError::UnknownHost
        | FetchError::NoConnection
        | FetchError::Insecure
        | FetchError::CutOff
        | FetchError::TimedOut => SiteError::Unreachable,
    }
}

/// Allows redirects to the same host or its `www` subdomain.
fn stays_at_home(first: &Url, to: &Url) -> bool {
    let (Some(first), Some(to)) = (first.host_str(), to.host_str()) else { return false };
    to == first || to.strip_prefix("www.") == Some(first)
}
