//! A request to a keyed operation, as the checks see it.

use std::net::IpAddr;

use domain::DomainName;

use crate::model::plan::Operation;

/// Who asks for what, before the key is looked up.
#[derive(Clone, Debug)]
pub struct KeyedRequest {
    /// The text of the key, which has the form of one.
    pub key: String,
    /// The address of the client.
    pub client: IpAddr,
    /// The operation.
    pub operation: Operation,
    /// The searched domain, where such a search may have a token bucket of its own.
    pub domain: Option<DomainName>,
}

impl KeyedRequest {
    /// A request that is charged to buckets of the key alone.
    pub fn new(key: String, client: IpAddr, operation: Operation) -> Self {
        Self { key, client, operation, domain: None }
    }

    /// The same for a search of a domain.
    pub fn of_domain(self, domain: Option<&DomainName>) -> Self {
        Self { domain: domain.cloned(), ..self }
    }
}
