//! Fetching of images from the web, without reaching into the network that the service stands in.
//!
//! A write may name any address, so the address is what an attacker chooses. Addresses that are
//! written as numbers are judged as they stand; names are looked up by [`Names`], which hands on
//! nothing but permitted addresses, so that what was judged is what is connected to. Every target
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

use crate::model::image::{Format, image_address, is_public, names_public_host};

/// The largest image, in bytes.
pub const LIMIT: usize = 10 << 20;

/// How often an image may have moved.
const REDIRECTS: usize = 3;

/// Why an image was not fetched; the texts are for whoever named its address.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum NotFetched {
    #[error("must be an address on a public host")]
    Address,
    #[error("must be an address that answers with an image in time")]
    Silent,
    #[error("must be the address of a JPEG, PNG, GIF or WebP image")]
    Type,
    #[error("must be the address of an image of at most 10 MiB")]
    Large,
}

/// What may be reached, and how long it may take.
#[derive(Clone, Debug)]
pub struct Reach {
    /// Names that are not looked up in the network.
    pub known: HashMap<String, IpAddr>,
    /// Whether an address that a name leads to may be connected to.
    pub permitted: fn(IpAddr) -> bool,
    /// For the whole of an image, redirects included.
    pub patience: Duration,
}

impl Reach {
    /// The public internet, five seconds.
    pub fn public() -> Reach {
        let patience = Duration::from_secs(5);
        Reach { known: HashMap::new(), permitted: is_public, patience }
    }
}

/// Fetches images; a clone is another handle to the same.
#[derive(Clone, Debug)]
pub struct Fetcher {
    client: Client,
    patience: Duration,
}

impl Fetcher {
    /// Makes a client for what may be reached.
    pub fn new(reach: Reach) -> reqwest::Result<Fetcher> {
        // Whoever installed another one first has decided.
        let _ = rustls::crypto::ring::default_provider().install_default();
        let patience = reach.patience;
        let client = Client::builder()
            .user_agent(concat!("calendar/", env!("CARGO_PKG_VERSION")))
            .dns_resolver(Arc::new(Names(Arc::new(reach))))
            .redirect(Policy::custom(|attempt| {
                if attempt.previous().len() > REDIRECTS || !names_public_host(attempt.url()) {
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
        Ok(Fetcher { client, patience })
    }

    /// Fetches the bytes of an image.
    pub async fn fetch(&self, address: &str) -> Result<Vec<u8>, NotFetched> {
        let url = image_address(address).ok_or(NotFetched::Address)?;
        let all = async {
            let response = self.client.get(url).send().await.map_err(silent)?;
            body(checked(response)?).await
        };
        tokio::time::timeout(self.patience, all).await.unwrap_or(Err(NotFetched::Silent))
    }
}

fn silent(error: reqwest::Error) -> NotFetched {
    // The address may hold a secret.
    log::info!("an image was not fetched: {:?}", error.without_url());
    NotFetched::Silent
}

/// Takes an answer whose head promises an image that is not too large.
fn checked(response: Response) -> Result<Response, NotFetched> {
    if !response.status().is_success() {
        return Err(NotFetched::Silent);
    }
    let named = response.headers().get(CONTENT_TYPE).and_then(|value| value.to_str().ok());
    let essence = named.and_then(|text| text.split(';').next()).unwrap_or_default().trim();
    if !Format::ALL.iter().any(|format| essence.eq_ignore_ascii_case(format.media_type())) {
        return Err(NotFetched::Type);
    }
    let promised = response.content_length().unwrap_or_default();
    if promised > LIMIT as u64 { Err(NotFetched::Large) } else { Ok(response) }
}

async fn body(mut response: Response) -> Result<Vec<u8>, NotFetched> {
    let mut bytes = Vec::new();
    while let Some(chunk) = response.chunk().await.map_err(silent)? {
        if bytes.len() + chunk.len() > LIMIT {
            return Err(NotFetched::Large);
        }
        bytes.extend_from_slice(&chunk);
    }
    Ok(bytes)
}

/// Looks names up and keeps what may be connected to.
#[derive(Debug)]
struct Names(Arc<Reach>);

impl Resolve for Names {
    fn resolve(&self, name: Name) -> Resolving {
        let reach = self.0.clone();
        Box::pin(async move {
            let found: Vec<IpAddr> = match reach.known.get(name.as_str()) {
                Some(ip) => vec![*ip],
                None => tokio::net::lookup_host((name.as_str(), 0))
                    .await?
                    .map(|address| address.ip())
                    .collect(),
            };
            // Port 0 stands for the one in the address.
            let permitted: Vec<SocketAddr> = found
                .into_iter()
                .filter(|ip| (reach.permitted)(*ip))
                .map(|ip| SocketAddr::new(ip, 0))
                .collect();
            if permitted.is_empty() {
                return Err(io::Error::other("the name leads to no permitted address").into());
            }
            let addresses: Addrs = Box::new(permitted.into_iter());
            Ok(addresses)
        })
    }
}
