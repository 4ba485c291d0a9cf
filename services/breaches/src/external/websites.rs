//! Files and pages of the websites of domains.

use futures_util::future::BoxFuture;
use outbound::{FetchError, FetchRules, Fetcher, Reach};
use url::Url;

/// Ports of websites.
const PORTS: &[u16] = &[80, 443];

/// Why a website told nothing.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum SiteError {
    /// Neither by HTTPS nor by HTTP came an answer.
    #[error("the website gives no answer")]
    Unreachable,
    /// The answer has a status of failure.
    #[error("the website answers {0}")]
    Status(u16),
    /// The answer is too large.
    #[error("the answer of the website is too large")]
    TooLarge,
}

/// Knows what websites hold.
pub trait Websites: Send + Sync {
    /// The whole document at a path of a domain, of at most `limit` bytes.
    fn file(
        &self,
        domain: &str,
        path: &str,
        limit: usize,
    ) -> BoxFuture<'_, Result<Vec<u8>, SiteError>>;

    /// The first `limit` bytes of a domain's home page.
    fn home_page(&self, domain: &str, limit: usize) -> BoxFuture<'_, Result<Vec<u8>, SiteError>>;
}

/// Fetches by HTTPS, else by HTTP; redirects lead to the same host or to its `www` alone.
pub struct SiteFetcher(Fetcher);

impl SiteFetcher {
    /// A fetcher for what may be reached.
    ///
    /// # Errors
    /// When the HTTP client cannot be made.
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
                // Of two failures the one that says more is told.
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

/// Whether a redirect stays at a domain or its `www`.
fn stays_at_home(first: &Url, to: &Url) -> bool {
    let (Some(first), Some(to)) = (first.host_str(), to.host_str()) else { return false };
    to == first || to.strip_prefix("www.") == Some(first)
}
