//! Which token bucket pays for a request.

use std::time::Duration;

use auth::{Quota, QuotaId, Rate};
use domain::DomainName;

use super::context::RequestContext;
use super::keyed_request::KeyedRequest;
use crate::error::Error;
use crate::model::plan::{Bucket, Operation};
use crate::store::key_holders::Holder;

/// Domain-based stealer-log operations of a key in a minute.
const STEALER_DOMAIN_PER_MINUTE: u32 = 10;
/// Requests of a key about its subscription, or for domains that it does not control, in a minute.
const MANAGEMENT_PER_MINUTE: u32 = 120;
/// Searches of one domain at one version of the catalogue, within [`DOMAIN_SEARCH_PERIOD`].
const DOMAIN_SEARCHES: u32 = 10;
const DOMAIN_SEARCH_PERIOD: Duration = Duration::from_secs(600);

/// Charges a request with a test key to the client address.
pub fn test_key(context: &RequestContext, request: &KeyedRequest) -> Result<(), Error> {
    let settings = context.settings();
    let rate = Quota::per_minute(settings.test_keys_rpm).shared_by(settings.rate_replicas);
    let id = QuotaId::Address(request.client).purpose("test");
    charge(context, id, rate, 1)
}

/// Charges a request to the key, or to the domain that it searches.
pub fn holder(
    context: &RequestContext,
    request: &KeyedRequest,
    holder: &Holder,
    domain: Option<&DomainName>,
) -> Result<(), Error> {
    let settings = context.settings();
    let replicas = settings.rate_replicas;
    let key = QuotaId::Key(holder.key);
    let minute = |n: u32| Quota::per_minute(n).shared_by(replicas);
    let (id, rate, cost) = match request.operation.bucket() {
        Bucket::Search => {
            let plan = holder.subscription.as_ref().map(|(plan, _)| plan);
            let rpm = plan.map_or(1, |plan| u32::try_from(plan.per_minute).unwrap_or(1));
            let range = request.operation == Operation::BreachedAccountRange;
            let own = plan.and_then(|plan| plan.features.kanon_cost);
            let price =
                own.and_then(|cost| u32::try_from(cost).ok()).unwrap_or(settings.kanon_cost);
            (key, minute(rpm), if range { price } else { 1 })
        }
        Bucket::StealerDomain => {
            (key.purpose("stealer-domain"), minute(STEALER_DOMAIN_PER_MINUTE), 1)
        }
        Bucket::Management => (key.purpose("management"), minute(MANAGEMENT_PER_MINUTE), 1),
        Bucket::DomainSearch => {
            let Some(domain) = domain else {
                return charge(
                    context,
                    key.purpose("domain-search"),
                    minute(MANAGEMENT_PER_MINUTE),
                    1,
                );
            };
            if *domain == settings.test_email_domain {
                return Ok(());
            }
            let version = context.catalogue().version;
            let id = QuotaId::Named(format!("domain-search {} {version} {domain}", holder.key));
            let Rate { every, burst } = Rate::per(DOMAIN_SEARCHES, DOMAIN_SEARCH_PERIOD);
            (id, Rate { every: every.saturating_mul(replicas.max(1)), burst }, 1)
        }
    };
    charge(context, id, rate, cost)
}

fn charge(context: &RequestContext, id: QuotaId, rate: Rate, cost: u32) -> Result<(), Error> {
    context.state.quotas().check(id, rate, cost)?;
    Ok(())
}
