//! Determines how much keyed requests cost, and which quota is charged.

use std::time::Duration;

use auth::{Charge, Quota, Rate};
use domain::DomainName;

use super::context::RequestContext;
use crate::model::plan::{Bucket, Operation};
use crate::store::key_holders::Holder;

/// Limit on stealer log searches by domain, per key and minute.
const STEALER_DOMAIN_PER_MINUTE: u32 = 10;
/// Limit per minute on subscription requests, and on requests about domains that the key's owner
/// doesn't control.
const MANAGEMENT_PER_MINUTE: u32 = 120;
/// Searches allowed per domain and catalogue version within [`DOMAIN_SEARCH_PERIOD`].
const DOMAIN_SEARCHES: u32 = 10;
const DOMAIN_SEARCH_PERIOD: Duration = Duration::from_secs(600);

/// Returns the charge for searches with a test key, billed to the client address. An invalid
/// request (`None`) costs one token.
pub fn of_test_key(context: &RequestContext, searches: Option<u32>) -> Charge {
    let settings = context.settings();
    let quota = Quota::per_minute(settings.test_keys_rpm).shared_by(settings.rate_replicas);
    Charge::from(quota).purpose("test").cost(searches.unwrap_or(1))
}

/// Returns the charge for a request with a real key. `domain` is set if the searched domain has its
/// own quota. `searches` is the number of searches in the request, or `None` if the request is
/// invalid.
pub fn of_holder(
    context: &RequestContext,
    operation: Operation,
    holder: &Holder,
    domain: Option<&DomainName>,
    searches: Option<u32>,
) -> Charge {
    let replicas = context.settings().rate_replicas;
    let minute = |n: u32| Charge::from(Quota::per_minute(n).shared_by(replicas));
    match (operation.bucket(), domain) {
        (Bucket::Search, _) => search(context, operation, holder, searches),
        (Bucket::StealerDomain, _) => minute(STEALER_DOMAIN_PER_MINUTE).purpose("stealer-domain"),
        (Bucket::Management, _) => minute(MANAGEMENT_PER_MINUTE).purpose("management"),
        (Bucket::DomainSearch, None) => minute(MANAGEMENT_PER_MINUTE).purpose("domain-search"),
        (Bucket::DomainSearch, Some(domain)) if *domain == context.settings().test_email_domain => {
            Charge::FREE
        }
        (Bucket::DomainSearch, Some(domain)) => {
            let Rate { every, burst } = Rate::per(DOMAIN_SEARCHES, DOMAIN_SEARCH_PERIOD);
            let rate = Rate { every: every.saturating_mul(replicas.max(1)), burst };
            let name = format!("{} {domain}", context.catalogue().version);
            Charge::from(rate).purpose("domain-search").named(name)
        }
    }
}

/// Returns the maximum number of searches in a single request with a test key.
pub fn most_of_test_key(context: &RequestContext) -> u32 {
    context.settings().test_keys_rpm
}

/// Returns the maximum number of searches in a single request with a real key, i.e. as many as a
/// full quota pays for.
pub fn most_of_holder(context: &RequestContext, operation: Operation, holder: &Holder) -> u32 {
    (rpm(holder) / cost(context, operation, holder).max(1)).max(1)
}

fn rpm(holder: &Holder) -> u32 {
    let plan = holder.subscription.as_ref().map(|(plan, _)| plan);
    plan.map_or(1, |plan| u32::try_from(plan.per_minute).unwrap_or(1).max(1))
}

/// Returns the cost of one search. A search by address costs one token. The cost of a search by
/// hash prefix depends on the plan or the settings.
fn cost(context: &RequestContext, operation: Operation, holder: &Holder) -> u32 {
    let plan = holder.subscription.as_ref().map(|(plan, _)| plan);
    match operation {
        Operation::BreachedAccountRange | Operation::BreachedAccountRanges => {
            let own = plan.and_then(|plan| plan.features.kanon_cost);
            own.and_then(|cost| u32::try_from(cost).ok()).unwrap_or(context.settings().kanon_cost)
        }
        _ => 1,
    }
}

/// Returns the charge for searches. Rejected requests don't search anything, so they cost a single
/// token no matter how much a search costs.
fn search(
    context: &RequestContext,
    operation: Operation,
    holder: &Holder,
    searches: Option<u32>,
) -> Charge {
    let cost = searches.map_or(1, |count| cost(context, operation, holder).saturating_mul(count));
    Charge::from(Quota::per_minute(rpm(holder)).shared_by(context.settings().rate_replicas))
        .cost(cost)
}
