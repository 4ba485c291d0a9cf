//! What keyed requests cost, and in which bucket.

use std::time::Duration;

use auth::{Charge, Quota, Rate};
use domain::DomainName;

use super::context::RequestContext;
use crate::model::plan::{Bucket, Operation};
use crate::store::key_holders::Holder;

/// Domain-based stealer-log operations of a key in a minute.
const STEALER_DOMAIN_PER_MINUTE: u32 = 10;
/// Requests of a key about its subscription, or for domains that it does not control, in a minute.
const MANAGEMENT_PER_MINUTE: u32 = 120;
/// Searches of one domain at one version of the catalogue, within [`DOMAIN_SEARCH_PERIOD`].
const DOMAIN_SEARCHES: u32 = 10;
const DOMAIN_SEARCH_PERIOD: Duration = Duration::from_secs(600);

/// What `count` searches with a test key cost the client address.
pub fn of_test_key(context: &RequestContext, count: u32) -> Charge {
    let settings = context.settings();
    let quota = Quota::per_minute(settings.test_keys_rpm).shared_by(settings.rate_replicas);
    Charge::from(quota).purpose("test").cost(count)
}

/// What a request costs a key; `domain` is the searched one, if it has a bucket of its own, and
/// `count` how many searches it stands for.
pub fn of_holder(
    context: &RequestContext,
    operation: Operation,
    holder: &Holder,
    domain: Option<&DomainName>,
    count: u32,
) -> Charge {
    let replicas = context.settings().rate_replicas;
    let minute = |n: u32| Charge::from(Quota::per_minute(n).shared_by(replicas));
    match (operation.bucket(), domain) {
        (Bucket::Search, _) => search(context, operation, holder, count),
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

/// A search takes one token of the plan, a search by hash prefix the price of the plan or else of
/// the settings.
fn search(context: &RequestContext, operation: Operation, holder: &Holder, count: u32) -> Charge {
    let settings = context.settings();
    let plan = holder.subscription.as_ref().map(|(plan, _)| plan);
    let rpm = plan.map_or(1, |plan| u32::try_from(plan.per_minute).unwrap_or(1));
    let cost = match operation {
        Operation::BreachedAccountRange | Operation::BreachedAccountRanges => {
            let own = plan.and_then(|plan| plan.features.kanon_cost);
            own.and_then(|cost| u32::try_from(cost).ok()).unwrap_or(settings.kanon_cost)
        }
        _ => 1,
    };
    Charge::from(Quota::per_minute(rpm).shared_by(settings.rate_replicas))
        .cost(cost.saturating_mul(count))
}
