//! Permitted targets of connections.

use std::collections::HashMap;
use std::io;
use std::net::{IpAddr, SocketAddr};

use reqwest::dns::{Addrs, Name, Resolve, Resolving};
use url::Url;

use crate::address::{is_public, is_web, names_public_host};
use crate::dns::Dns;

/// The source of host addresses.
#[derive(Clone, Debug)]
pub enum Names {
    /// The resolver of the operating system.
    System,
    /// A chosen resolver.
    Dns(Dns),
    /// Only these names, for tests. A port other than 0 replaces the default port of a URL without port.
    Fixed(HashMap<String, SocketAddr>),
}

/// The permitted targets of connections.
#[derive(Clone, Debug)]
pub struct Reach {
    /// The source of host addresses.
    pub names: Names,
    /// Returns whether the service connects to an IP address.
    pub permitted: fn(IpAddr) -> bool,
    /// Returns whether a user can name a URL.
    pub nameable: fn(&Url) -> bool,
}

impl Reach {
    /// The public internet.
    pub fn public() -> Self {
        Self { names: Names::System, permitted: is_public, nameable: names_public_host }
    }

    /// Every address, including loopback and private ones, for tests and for operators whose users' hosts
    /// are in their own network.
    pub fn anywhere() -> Self {
        Self { names: Names::System, permitted: |_| true, nameable: |_| true }
    }

    /// Sets the source of host addresses.
    #[must_use]
    pub fn with_names(self, names: Names) -> Self {
        Self { names, ..self }
    }

    /// Returns whether a user can name a URL: `http` or `https`, on a host that is not known to be private.
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

/// Looks up names and returns only permitted addresses.
#[derive(Clone, Debug)]
pub(crate) struct GuardedResolver(pub(crate) Reach);

impl Resolve for GuardedResolver {
    fn resolve(&self, name: Name) -> Resolving {
        let reach = self.0.clone();
        Box::pin(async move {
            let mut found = reach.look_up(name.as_str()).await?;
            found.retain(|address| (reach.permitted)(address.ip()));
            if found.is_empty() {
                return Err(io::Error::other("the name has no permitted address").into());
            }
            let addresses: Addrs = Box::new(found.into_iter());
            Ok(addresses)
        })
    }
}
