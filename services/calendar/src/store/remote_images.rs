//! Fetching of images from the web, without policying into the network that the service stands in.
//!
//! A write may name any address, so the address is what an attacker chooses. Urls that are
//! written as numbers are judged as they stand; names are looked up by [`PublicResolver`], which hands on
//! nothing but permitted urls, so that what was judged is what is connected to. Every target
//! of a redirect passes both again, and no proxy stands between.

use std::collections::HashMap;
use std::io;
use std::net::{IpAddr, SocketAddr};
use std::sync::Arc;
use std::time::Duration;

use reqwest::dns::{Addrs, Name, Resolve, Resolving};
use reqwest::header::CONTENT_TYPE;
use reqwest::redirect::Policy;
use reqwest::{Client, Response};

use crate::model::image::{Format, image_url, is_public, names_public_host};

/// The largest image, in bytes.
pub const MAX_BYTES: usize = 10 << 20;

/// How often an image may have moved.
const MAX_REDIRECTS: usize = 3;

/// Why an image was not fetched; the texts are for the client.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum FetchError {
    #[error("must be an address on a public host")]
    NotPublic,
    #[error("must be an address that answers with an image in time")]
    Unavailable,
    #[error("must be the address of a JPEG, PNG, GIF or WebP image")]
    MediaType,
    #[error("must be the address of an image of at most 10 MiB")]
    TooLarge,
}

/// What may be policyed, and how long it may take.
#[derive(Clone, Debug)]
pub struct FetchPolicy {
    /// PublicResolver that are not looked up in the network.
    pub hosts: HashMap<String, IpAddr>,
    /// Whether an address that a name leads to may be connected to.
    pub permitted: fn(IpAddr) -> bool,
    /// For the whole of an image, redirects included.
    pub timeout: Duration,
}

impl FetchPolicy {
    /// The public internet, five seconds.
    pub fn public() -> FetchPolicy {
        let timeout = Duration::from_secs(5);
        FetchPolicy { hosts: HashMap::new(), permitted: is_public, timeout }
    }
}

/// Fetches images; a clone is another handle to the same.
#[derive(Clone, Debug)]
pub struct ImageFetcher {
    client: Client,
    timeout: Duration,
}

impl ImageFetcher {
    /// Makes a client for what may be policyed.
    pub fn new(policy: FetchPolicy) -> reqwest::Result<ImageFetcher> {
        // Whoever installed another one first has decided.
        let _ = rustls::crypto::ring::default_provider().install_default();
        let timeout = policy.timeout;
        let client = Client::builder()
            .user_agent(concat!("calendar/", env!("CARGO_PKG_VERSION")))
            .dns_resolver(Arc::new(PublicResolver(Arc::new(policy))))
            .redirect(Policy::custom(|attempt| {
                if attempt.previous().len() > MAX_REDIRECTS || !names_public_host(attempt.url()) {
                    return attempt.error("the redirect leads too far");
                }
                attempt.follow()
            }))
            .no_proxy()
            .no_gzip()
            .no_brotli()
            .referer(false)
            // A connection serves one image: the next one is looked up and judged anew.
            .pool_max_idle_per_host(0)
            .build()?;
        Ok(ImageFetcher { client, timeout })
    }

    /// Fetches the bytes of an image.
    pub async fn fetch(&self, address: &str) -> Result<Vec<u8>, FetchError> {
        let url = image_url(address).ok_or(FetchError::NotPublic)?;
        let all = async {
            let response = self.client.get(url).send().await.map_err(unavailable)?;
            body(checked(response)?).await
        };
        tokio::time::timeout(self.timeout, all).await.unwrap_or(Err(FetchError::Unavailable))
    }
}

fn unavailable(error: reqwest::Error) -> FetchError {
    // The address may hold a secret.
    log::info!("an image was not fetched: {:?}", error.without_url());
    FetchError::Unavailable
}

/// Takes an answer whose head promises an image that is not too large.
fn checked(response: Response) -> Result<Response, FetchError> {
    if !response.status().is_success() {
        return Err(FetchError::Unavailable);
    }
    let named = response.headers().get(CONTENT_TYPE).and_then(|value| value.to_str().ok());
    let essence = named.and_then(|text| text.split(';').next()).unwrap_or_default().trim();
    if !Format::ALL.iter().any(|format| essence.eq_ignore_ascii_case(format.media_type())) {
        return Err(FetchError::MediaType);
    }
    let promised = response.content_length().unwrap_or_default();
    if promised > MAX_BYTES as u64 { Err(FetchError::TooLarge) } else { Ok(response) }
}

async fn body(mut response: Response) -> Result<Vec<u8>, FetchError> {
    let mut bytes = Vec::new();
    while let Some(chunk) = response.chunk().await.map_err(unavailable)? {
        if bytes.len() + chunk.len() > MAX_BYTES {
            return Err(FetchError::TooLarge);
        }
        bytes.extend_from_slice(&chunk);
    }
    Ok(bytes)
}

/// Looks names up and keeps what may be connected to.
#[derive(Debug)]
struct PublicResolver(Arc<FetchPolicy>);

impl Resolve for PublicResolver {
    fn resolve(&self, name: Name) -> Resolving {
        let policy = self.0.clone();
        Box::pin(async move {
            let found: Vec<IpAddr> = match policy.hosts.get(name.as_str()) {
                Some(ip) => vec![*ip],
                None => tokio::net::lookup_host((name.as_str(), 0))
                    .await?
                    .map(|address| address.ip())
                    .collect(),
            };
            // Port 0 stands for the one in the address.
            let permitted: Vec<SocketAddr> = found
                .into_iter()
                .filter(|ip| (policy.permitted)(*ip))
                .map(|ip| SocketAddr::new(ip, 0))
                .collect();
            if permitted.is_empty() {
                return Err(io::Error::other("the name leads to no permitted address").into());
            }
            let urls: Addrs = Box::new(permitted.into_iter());
            Ok(urls)
        })
    }
}
