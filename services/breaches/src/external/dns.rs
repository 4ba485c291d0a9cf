//! TXT records.

use futures_util::future::BoxFuture;
use outbound::{Dns, DnsError};

/// Knows TXT records.
pub trait TxtRecords: Send + Sync {
    /// The TXT records of a name, the strings of each joined; none when there is no such name.
    fn txt(&self, name: &str) -> BoxFuture<'_, Result<Vec<String>, DnsError>>;
}

/// The records of the domain name system.
pub struct DnsRecords(pub Dns);

impl TxtRecords for DnsRecords {
    fn txt(&self, name: &str) -> BoxFuture<'_, Result<Vec<String>, DnsError>> {
        let name = name.to_owned();
        Box::pin(async move { self.0.txt(&name).await })
    }
}
