//! Keyed requests whose key hasn't been looked up yet.

use auth::Presented;
use domain::DomainName;

use crate::model::plan::Operation;

/// A request to a keyed operation. It's passed to the checks by value so that it can't be charged
/// twice.
pub struct KeyedRequest {
    /// The well-formed key sent by the client.
    pub presented: Presented,
    pub operation: Operation,
    /// The domain to search, which may have its own quota.
    pub domain: Option<DomainName>,
    /// Number of searches in the request. `None` if the input is invalid. Such a request costs one
    /// token and gets a 400.
    pub searches: Option<u32>,
}

impl KeyedRequest {
    /// Creates a request for a single search.
    pub fn new(presented: Presented, operation: Operation) -> Self {
        Self { presented, operation, domain: None, searches: Some(1) }
    }

    /// Sets the number of searches, or `None` if the input is invalid.
    pub fn of_searches(self, count: Option<usize>) -> Self {
        let searches = count.map(|count| u32::try_from(count).unwrap_or(u32::MAX).max(1));
        Self { searches, ..self }
    }

    /// Sets the domain to search.
    pub fn of_domain(self, domain: Option<&DomainName>) -> Self {
        Self { domain: domain.cloned(), ..self }
    }
}
