//! A request to a keyed operation before its key is looked up.

use auth::Presented;
use domain::DomainName;

use crate::model::plan::Operation;

/// A request to a keyed operation. The checks consume it, so that it is charged only once.
pub struct KeyedRequest {
    /// The presented, well-formed key.
    pub presented: Presented,
    pub operation: Operation,
    /// The searched domain, which may have its own quota.
    pub domain: Option<DomainName>,
    /// Number of searches in the request. `None` if its input is invalid; the request is then
    /// rejected with 400 and costs one token.
    pub searches: Option<u32>,
}

impl KeyedRequest {
    /// Creates a request that is charged to the quotas of the key.
    pub fn new(presented: Presented, operation: Operation) -> Self {
        Self { presented, operation, domain: None, searches: Some(1) }
    }

    /// Sets the number of searches in the request. `None` means that its input is invalid.
    pub fn of_searches(self, count: Option<usize>) -> Self {
        let searches = count.map(|count| u32::try_from(count).unwrap_or(u32::MAX).max(1));
        Self { searches, ..self }
    }

    /// Sets the searched domain.
    pub fn of_domain(self, domain: Option<&DomainName>) -> Self {
        Self { domain: domain.cloned(), ..self }
    }
}
