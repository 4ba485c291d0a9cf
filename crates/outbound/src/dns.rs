//! DNS queries.

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

/// Timeout for each attempt.
const TIMEOUT: Duration = Duration::from_secs(3);
/// Number of attempts per query.
const ATTEMPTS: u32 = 2;

/// The query failed.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("the resolver does not respond: {0}")]
pub struct DnsError(String);

/// A DNS resolver. Clones share it.
///
/// Nothing is cached, so changes to records are visible immediately. Responses that don't fit in a
/// datagram are fetched over TCP.
#[derive(Clone)]
pub struct Dns(Arc<TokioResolver>);

impl std::fmt::Debug for Dns {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Dns")
    }
}

impl Dns {
    /// Creates a resolver with the operating system's configuration.
    ///
    /// # Errors
    /// Returns an error if the configuration cannot be read.
    pub fn system() -> Result<Self, DnsError> {
        let mut builder = TokioResolver::builder_tokio().map_err(failed)?;
        limit(builder.options_mut());
        Ok(Self(Arc::new(builder.build().map_err(failed)?)))
    }

    /// Creates a resolver that sends its queries to `server`.
    ///
    /// # Errors
    /// Returns an error if the resolver cannot be created.
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

    /// Looks up the TXT records of a name, if any. The strings within a record are joined.
    ///
    /// # Errors
    /// Returns an error if the resolver fails or doesn't respond in time.
    pub async fn txt(&self, name: &str) -> Result<Vec<String>, DnsError> {
        let found = match in_time(self.0.txt_lookup(fully_qualified(name))).await? {
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

    /// Looks up the addresses of a name, if any.
    ///
    /// # Errors
    /// Returns an error if the resolver fails or doesn't respond in time.
    pub async fn addresses(&self, name: &str) -> Result<Vec<IpAddr>, DnsError> {
        match in_time(self.0.lookup_ip(fully_qualified(name))).await? {
            Ok(found) => Ok(found.iter().collect()),
            Err(error) if is_answer(&error) => Ok(Vec::new()),
            Err(error) => Err(failed(error)),
        }
    }
}

/// Waits for a whole lookup, which can take several queries, e.g. for aliases.
async fn in_time<F: Future>(lookup: F) -> Result<F::Output, DnsError> {
    tokio::time::timeout(TIMEOUT * ATTEMPTS, lookup)
        .await
        .map_err(|_| DnsError("the lookup timed out".to_owned()))
}

/// Adds a trailing dot, so that the system's search domains aren't tried.
fn fully_qualified(name: &str) -> String {
    format!("{}.", name.trim_end_matches('.'))
}

/// Returns whether an error means that there are no such records, as opposed to e.g. REFUSED or
/// SERVFAIL.
fn is_answer(error: &NetError) -> bool {
    error.is_no_records_found()
}

fn limit(options: &mut ResolverOpts) {
    options.timeout = TIMEOUT;
    // Despite its name, this is the number of retries.
    options.attempts = ATTEMPTS as usize - 1;
    options.cache_size = 0;
}

fn failed(error: impl std::fmt::Display) -> DnsError {
    DnsError(error.to_string())
}
