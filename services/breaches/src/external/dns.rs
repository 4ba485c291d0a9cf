//! TXT record lookups.

use futures_util::future::BoxFuture;
use outbound::{Dns, DnsError};

/// Looks up TXT records.
pub trait TxtRecords: Send + Sync {
    /// Returns the TXT records of `name`, joining records that consist of several strings. Empty if
    /// the name doesn't exist.
    fn txt(&self, name: &str) -> BoxFuture<'_, Result<Vec<String>, DnsError>>;
}

/// Looks up TXT records in the real DNS.
pub struct DnsRecords(pub Dns);

impl TxtRecords for DnsRecords {
    fn txt(&self, name: &str) -> BoxFuture<'_, Result<Vec<String>, DnsError>> {
        let name = name.to_owned();
        Box::pin(async move { self.0.txt(&name).await })
    }
}
