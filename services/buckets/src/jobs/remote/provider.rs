//! Keeps requests to a bucket from leaving its provider.

use std::io;
use std::net::SocketAddr;

use reqwest::Url;
use reqwest::dns::{Addrs, Name, Resolve, Resolving};
use reqwest::redirect::{Action, Attempt};

use crate::model::address::{Address, BucketType, provider_of};

/// Maximum number of redirects per request.
const MOST_REDIRECTS: usize = 3;

/// Follows redirects to other addresses of the same bucket at the same provider. If the provider is
/// unknown, host and path must stay the same. Any other redirect is returned as the response. If we
/// followed it, the target's files would be stored in the requested bucket.
pub(super) fn follow(attempt: Attempt<'_>) -> Action {
    let first = attempt.previous().first();
    let allowed = attempt.previous().len() <= MOST_REDIRECTS
        && first.is_some_and(|first| is_same_bucket(first, attempt.url()));
    if allowed { attempt.follow() } else { attempt.stop() }
}

fn is_same_bucket(from: &Url, to: &Url) -> bool {
    let place = |url: &Url| (url.host_str().map(str::to_owned), url.port_or_known_default());
    let provider = |url: &Url| provider_of(url.host_str()?);
    let is_downgrade = from.scheme() == "https" && to.scheme() != "https";
    let is_same_path = path(from) == path(to);
    !is_downgrade
        && match provider(from) {
            None => place(from) == place(to) && is_same_path,
            Some(known) => {
                provider(to) == Some(known)
                    && to.port() == from.port()
                    && match from.host_str() == to.host_str() {
                        true => is_same_path,
                        false => name(from).is_some_and(|from| name(to) == Some(from)),
                    }
            }
        }
}

fn path(url: &Url) -> &str {
    url.path().trim_end_matches('/')
}

/// Returns the name of the bucket at a URL, or the account and container for Azure.
fn name(url: &Url) -> Option<String> {
    let address = Address::parse(&format!("{}{}", url.host_str()?, path(url))).ok()?;
    let is_azure = address.kind() == Some(BucketType::Azure);
    Some(if is_azure { address.to_string() } else { address.name().to_owned() })
}

/// Resolves hostnames. Providers must have public IP addresses, because a forged DNS response could
/// otherwise point us to an internal service.
pub(super) struct ProviderResolver {
    /// Whether other hosts are allowed to have private addresses.
    pub(super) allows_private: bool,
}

impl Resolve for ProviderResolver {
    fn resolve(&self, name: Name) -> Resolving {
        let allows_private = self.allows_private;
        Box::pin(async move {
            let found = tokio::net::lookup_host((name.as_str(), 0)).await?;
            let permitted = permitted(name.as_str(), found, allows_private);
            if permitted.is_empty() {
                return Err(io::Error::other("the name has no public address").into());
            }
            let addresses: Addrs = Box::new(permitted.into_iter());
            Ok(addresses)
        })
    }
}

fn permitted(
    name: &str,
    found: impl Iterator<Item = SocketAddr>,
    allows_private: bool,
) -> Vec<SocketAddr> {
    let any = allows_private && provider_of(name).is_none();
    found.filter(|address| any || outbound::is_public(address.ip())).collect()
}

#[cfg(test)]
mod tests {
    use rstest::rstest;

    use super::*;

    #[rstest]
    #[case("https://b.s3.amazonaws.com/?a", "https://b.s3.eu-west-1.amazonaws.com/?a", true)]
    #[case("http://b.s3.amazonaws.com/", "https://b.s3.amazonaws.com/", true)]
    #[case("https://b.s3.amazonaws.com/", "http://b.s3.amazonaws.com/", false)]
    #[case("https://b.s3.amazonaws.com/", "https://b.s3.amazonaws.com:9000/", false)]
    #[case("https://b.s3.amazonaws.com/", "https://b.storage.googleapis.com/", false)]
    #[case("https://b.s3.amazonaws.com/", "https://127.0.0.1/", false)]
    #[case("https://b.s3.amazonaws.com/", "https://s3.amazonaws.com.example.org/", false)]
    #[case("https://b.s3.amazonaws.com/?a", "https://c.s3.amazonaws.com/?a", false)]
    #[case("https://s3.amazonaws.com/b.c/", "https://s3.eu-west-1.amazonaws.com/b.c/?a", true)]
    #[case("https://s3.amazonaws.com/b.c/", "https://b.c.s3.eu-west-1.amazonaws.com/", true)]
    #[case("https://s3.amazonaws.com/b.c/", "https://s3.amazonaws.com/good/", false)]
    #[case("http://s3.amazonaws.com/b.c/", "https://s3.amazonaws.com/b.c", true)]
    #[case("http://127.0.0.1:9000/a", "http://127.0.0.1:9000/b", false)]
    #[case("http://127.0.0.1:9000/a?x", "http://127.0.0.1:9000/a/?y", true)]
    #[case("http://127.0.0.1:9000/a", "http://127.0.0.1:9001/a", false)]
    #[case("http://files.example.org/", "http://10.0.0.1/", false)]
    fn redirects_stay_within_the_bucket(#[case] from: &str, #[case] to: &str, #[case] may: bool) {
        let url = |text: &str| Url::parse(text).unwrap();
        assert_eq!(is_same_bucket(&url(from), &url(to)), may);
    }

    #[test]
    fn providers_have_public_addresses_only() {
        let found = || {
            ["127.0.0.1:0", "10.0.0.1:0", "[::1]:0", "52.216.0.1:0"]
                .map(|text| text.parse().unwrap())
        };
        let public: Vec<SocketAddr> = vec!["52.216.0.1:0".parse().unwrap()];
        assert_eq!(permitted("b.s3.amazonaws.com", found().into_iter(), true), public);
        assert_eq!(permitted("minio.internal", found().into_iter(), true), found());
        assert_eq!(permitted("minio.internal", found().into_iter(), false), public);
    }
}
