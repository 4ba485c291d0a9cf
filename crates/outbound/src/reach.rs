//! Decides which targets a service may connect to.

use std::collections::HashMap;
use std::io;
use std::net::{IpAddr, SocketAddr};

use reqwest::dns::{Addrs, Name, Resolve, Resolving};
use url::Url;

use crate::address::{is_public, is_web, names_public_host};
use crate::dns::Dns;

/// How host names are resolved.
#[derive(Clone, Debug)]
pub enum Names {
    /// Uses the operating system's resolver.
    System,
    /// Uses the given DNS resolver.
    Dns(Dns),
    /// Only resolves these names, for tests. A port other than 0 applies to URLs that don't specify
    /// one.
    Fixed(HashMap<String, SocketAddr>),
}

/// Decides which targets a service may connect to.
#[derive(Clone, Debug)]
pub struct Reach {
    /// How host names are resolved.
    pub names: Names,
    /// Returns whether connecting to an IP address is permitted.
    pub permitted: fn(IpAddr) -> bool,
    /// Returns whether users are allowed to enter a URL.
    pub nameable: fn(&Url) -> bool,
}

impl Reach {
    /// Permits the public internet.
    pub fn public() -> Self {
        Self { names: Names::System, permitted: is_public, nameable: names_public_host }
    }

    /// Permits every address, including loopback and private ones. This is for tests, and for
    /// operators whose users have hosts in the operator's own network.
    pub fn anywhere() -> Self {
        Self { names: Names::System, permitted: |_| true, nameable: |_| true }
    }

    /// Sets how host names are resolved.
    #[must_use]
    pub fn with_names(self, names: Names) -> Self {
        Self { names, ..self }
    }

    /// Returns whether users may enter a URL, which must be `http` or `https` and whose host must
    /// not be known to be private.
    pub fn may_name(&self, url: &Url) -> bool {
        is_web(url) && (self.nameable)(url)
    }

    async fn look_up(&self, name: &str) -> io::Result<Vec<SocketAddr>> {
        let any_port = |ip| SocketAddr::new(ip, 0);
        match &self.names {
            Names::System => Ok(tokio::net::lookup_host((name, 0)).await?.collect()),
            Names::Dns(dns) => {
                let found = dns.addresses(name).await.map_err(io::Error::other)?;
                Ok(found.into_iter().map(any_port).collect())
            }
            Names::Fixed(hosts) => Ok(hosts.get(name).copied().into_iter().collect()),
        }
    }
}

/// A name couldn't be resolved to a permitted address.
#[derive(Debug, thiserror::Error)]
#[error("{0}")]
pub(crate) struct Unresolved(String);

/// A resolver that only returns permitted addresses.
#[derive(Clone, Debug)]
pub(crate) struct GuardedResolver(pub(crate) Reach);

impl Resolve for GuardedResolver {
    fn resolve(&self, name: Name) -> Resolving {
        let reach = self.0.clone();
        Box::pin(async move {
            let found = reach.look_up(name.as_str()).await;
            let mut found = found.map_err(|error| Unresolved(error.to_string()))?;
            found.retain(|address| (reach.permitted)(address.ip()));
            if found.is_empty() {
                return Err(Unresolved("the name has no permitted address".to_owned()).into());
            }
            let addresses: Addrs = Box::new(found.into_iter());
            Ok(addresses)
        })
    }
}
