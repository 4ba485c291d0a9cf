//! Files and pages of the websites of domains.

use futures_util::future::BoxFuture;
use outbound::{FetchError, FetchRules, Fetcher, Reach};
use url::Url;

/// Ports of websites.
const PORTS: &[u16] = &[80, 443];

/// Why a website could not be read.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum SiteError {
    /// No answer by HTTPS or HTTP.
    #[error("the website gives no answer")]
    Unreachable,
    /// The response has an error status.
    #[error("the website answers {0}")]
    Status(u16),
    /// The response is too large.
    #[error("the answer of the website is too large")]
    TooLarge,
}

/// Reads websites.
pub trait Websites: Send + Sync {
    /// The document at a path of a domain, which may have at most `limit` bytes.
    fn file(
        &self,
        domain: &str,
        path: &str,
        limit: usize,
    ) -> BoxFuture<'_, Result<Vec<u8>, SiteError>>;

    /// The first `limit` bytes of a domain's home page.
    fn home_page(&self, domain: &str, limit: usize) -> BoxFuture<'_, Result<Vec<u8>, SiteError>>;
}

/// Fetches by HTTPS or, if that fails, by HTTP. Follows redirects to the same host or its `www`
/// only.
pub struct SiteFetcher(Fetcher);

impl SiteFetcher {
    /// Creates a fetcher for the allowed addresses.
    ///
    /// # Errors
    /// Returns an error if the HTTP client cannot be built.
    pub fn new(reach: Reach) -> anyhow::Result<Self> {
        let rules = FetchRules::new(concat!("breaches/", env!("CARGO_PKG_VERSION")));
        let rules = FetchRules { redirect_rule: stays_at_home, ports: PORTS, ..rules };
        Ok(Self(Fetcher::new(reach, rules)?))
    }

    async fn fetch(
        &self,
        domain: &str,
        path: &str,
        limit: usize,
        whole: bool,
    ) -> Result<Vec<u8>, SiteError> {
        let mut failure = SiteError::Unreachable;
        for scheme in ["https", "http"] {
            let address = format!("{scheme}://{domain}{path}");
            match self.fetch_from(&address, limit, whole).await {
                Ok(found) => return Ok(found),
                // Report the more specific of two failures.
                Err(SiteError::Unreachable) => {}
                Err(error) => failure = error,
            }
        }
        Err(failure)
    }

    async fn fetch_from(
        &self,
        address: &str,
        limit: usize,
        whole: bool,
    ) -> Result<Vec<u8>, SiteError> {
        let download = self.0.open(address).await.map_err(failed)?;
        match download.status() {
            200..300 if whole => download.whole(limit).await.map_err(failed),
            200..300 => download.beginning(limit).await.map_err(failed),
            status => Err(SiteError::Status(status)),
        }
    }
}

impl Websites for SiteFetcher {
    fn file(
        &self,
        domain: &str,
        path: &str,
        limit: usize,
    ) -> BoxFuture<'_, Result<Vec<u8>, SiteError>> {
        let (domain, path) = (domain.to_owned(), path.to_owned());
        Box::pin(async move { self.fetch(&domain, &path, limit, true).await })
    }

    fn home_page(&self, domain: &str, limit: usize) -> BoxFuture<'_, Result<Vec<u8>, SiteError>> {
        let domain = domain.to_owned();
        Box::pin(async move { self.fetch(&domain, "/", limit, false).await })
    }
}

fn failed(error: FetchError) -> SiteError {
    match error {
        FetchError::TooLarge => SiteError::TooLarge,
        FetchError::Forbidden | FetchError::Unavailable | FetchError::TimedOut => {
            SiteError::Unreachable
        }
    }
}

/// Returns whether a redirect stays at the host or goes to its `www`.
fn stays_at_home(first: &Url, to: &Url) -> bool {
    let (Some(first), Some(to)) = (first.host_str(), to.host_str()) else { return false };
    to == first || to.strip_prefix("www.") == Some(first)
}
