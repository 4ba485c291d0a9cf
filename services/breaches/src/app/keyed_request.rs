//! A request to a keyed operation, before its key is looked up.

use auth::Presented;
use domain::DomainName;

use crate::model::plan::Operation;

/// Who asks for what; used up by the checks, so that a request is charged once.
pub struct KeyedRequest {
    /// The key, which has the form of one.
    pub presented: Presented,
    /// The operation.
    pub operation: Operation,
    /// The searched domain, where such a search may have a token bucket of its own.
    pub domain: Option<DomainName>,
    /// How many searches it stands for.
    pub count: u32,
}

impl KeyedRequest {
    /// A request that is charged to the buckets of the key.
    pub fn new(presented: Presented, operation: Operation) -> Self {
        Self { presented, operation, domain: None, count: 1 }
    }

    /// The same for so many searches at once.
    pub fn of_many(self, count: usize) -> Self {
        Self { count: u32::try_from(count).unwrap_or(u32::MAX).max(1), ..self }
    }

    /// The same for a search of a domain.
    pub fn of_domain(self, domain: Option<&DomainName>) -> Self {
        Self { domain: domain.cloned(), ..self }
    }
}
