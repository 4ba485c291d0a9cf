//! Questions to the domain name system.

use std::net::{IpAddr, SocketAddr};
use std::sync::Arc;
use std::time::Duration;

use hickory_resolver::TokioResolver;
use hickory_resolver::config::{
    ConnectionConfig, NameServerConfig, ResolveHosts, ResolverConfig, ResolverOpts,
};
use hickory_resolver::net::NetError;
use hickory_resolver::net::runtime::TokioRuntimeProvider;
use hickory_resolver::proto::rr::RData;

/// For one question to one server.
const TIMEOUT: Duration = Duration::from_secs(3);
/// How often a server is asked.
const ATTEMPTS: usize = 2;

/// Why a question has no answer.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("the resolver gives no answer: {0}")]
pub struct DnsError(String);

/// A resolver; a clone is another handle to the same.
///
/// Nothing is kept between questions, so that who changes a record can try again at once. Answers
/// that do not fit into a datagram are asked for again over TCP.
#[derive(Clone)]
pub struct Dns(Arc<TokioResolver>);

impl std::fmt::Debug for Dns {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Dns")
    }
}

impl Dns {
    /// The resolver of the system's configuration.
    ///
    /// # Errors
    /// When that cannot be read.
    pub fn system() -> Result<Self, DnsError> {
        let mut builder = TokioResolver::builder_tokio().map_err(failed)?;
        limit(builder.options_mut());
        Ok(Self(Arc::new(builder.build().map_err(failed)?)))
    }

    /// A resolver at an address.
    ///
    /// # Errors
    /// When it cannot be set up.
    pub fn at(server: SocketAddr) -> Result<Self, DnsError> {
        let connections =
            [ConnectionConfig::udp(), ConnectionConfig::tcp()].map(|mut connection| {
                connection.port = server.port();
                connection
            });
        let server = NameServerConfig::new(server.ip(), true, connections.into());
        let config = ResolverConfig::from_name_servers(vec![server]);
        let provider = TokioRuntimeProvider::default();
        let mut builder = TokioResolver::builder_with_config(config, provider);
        limit(builder.options_mut());
        builder.options_mut().use_hosts_file = ResolveHosts::Never;
        Ok(Self(Arc::new(builder.build().map_err(failed)?)))
    }

    /// The TXT records of a name, the strings of each joined; none when there is no such name.
    ///
    /// # Errors
    /// When the resolver fails or gives no answer in time.
    pub async fn txt(&self, name: &str) -> Result<Vec<String>, DnsError> {
        let found = match self.0.txt_lookup(fully_qualified(name)).await {
            Ok(found) => found,
            Err(error) if is_answer(&error) => return Ok(Vec::new()),
            Err(error) => return Err(failed(error)),
        };
        let records = found.answers().iter().filter_map(|record| match &record.data {
            RData::TXT(text) => {
                let joined = text.txt_data.concat();
                Some(String::from_utf8_lossy(&joined).into_owned())
            }
            _ => None,
        });
        Ok(records.collect())
    }

    /// The addresses of a name; none when there is no such name.
    ///
    /// # Errors
    /// When the resolver fails or gives no answer in time.
    pub async fn addresses(&self, name: &str) -> Result<Vec<IpAddr>, DnsError> {
        match self.0.lookup_ip(fully_qualified(name)).await {
            Ok(found) => Ok(found.iter().collect()),
            Err(error) if is_answer(&error) => Ok(Vec::new()),
            Err(error) => Err(failed(error)),
        }
    }
}

/// A name with the dot at its end, so that no domain of the system is tried behind it.
fn fully_qualified(name: &str) -> String {
    format!("{}.", name.trim_end_matches('.'))
}

/// Whether the failure says that there are no such records; a server that refuses or fails says
/// nothing about them.
fn is_answer(error: &NetError) -> bool {
    error.is_no_records_found()
}

fn limit(options: &mut ResolverOpts) {
    options.timeout = TIMEOUT;
    options.attempts = ATTEMPTS;
    options.cache_size = 0;
}

fn failed(error: impl std::fmt::Display) -> DnsError {
    DnsError(error.to_string())
}
