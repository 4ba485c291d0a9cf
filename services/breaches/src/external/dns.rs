//! Lookup of TXT records.

use futures_util::future::BoxFuture;
use outbound::{Dns, DnsError};

/// Looks up TXT records.
pub trait TxtRecords: Send + Sync {
    /// Returns the TXT records of a name. The strings of each record are joined. The result is
    /// empty if the name does not exist.
    fn txt(&self, name: &str) -> BoxFuture<'_, Result<Vec<String>, DnsError>>;
}

/// Looks up TXT records in the Domain Name System.
pub struct DnsRecords(pub Dns);

impl TxtRecords for DnsRecords {
    fn txt(&self, name: &str) -> BoxFuture<'_, Result<Vec<String>, DnsError>> {
        let name = name.to_owned();
        Box::pin(async move { self.0.txt(&name).await })
    }
}
