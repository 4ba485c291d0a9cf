//! The caller's subscription.

use serde::Serialize;
use utoipa::ToSchema;

use crate::model::instant;
use crate::model::plan::Plan;

/// The caller's subscription.
#[derive(Clone, Debug, Serialize, ToSchema)]
#[serde(rename_all = "PascalCase")]
#[schema(rename_all = "PascalCase")]
#[schema(example = json!({
    "SubscriptionName": "Core 1",
    "Description": "Covers 1 domain with up to 25 breached addresses and 10 email searches per minute.",
    "SubscribedUntil": "2027-03-07T12:30:38", "Rpm": 10, "DomainSearchMaxBreachedAccounts": 25,
    "MaxBreachedDomains": 1, "IncludesStealerLogs": false, "IncludesBulkDomainAdd": false,
    "IncludesAutoSubdomainVerification": false, "IncludesCustomerDomains": false,
    "IncludesKAnon": false,
}))]
pub struct SubscriptionStatus {
    /// Name of the plan, including its level.
    #[schema(example = "Core 1")]
    pub subscription_name: String,
    /// Description of the plan.
    pub description: String,
    /// When the subscription ends, in UTC without a time zone designator.
    #[schema(pattern = r"^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2}$", example = "2027-03-07T12:30:38")]
    pub subscribed_until: String,
    /// Maximum number of searches by address per minute.
    #[schema(example = 10)]
    pub rpm: i32,
    /// Maximum number of breached addresses in a searchable domain. Addresses that only appear in
    /// spam lists are not counted. 2147483647 means unlimited.
    #[schema(example = 25)]
    pub domain_search_max_breached_accounts: i32,
    /// Maximum number of domains with more than ten breached addresses.
    #[schema(example = 1)]
    pub max_breached_domains: i32,
    /// Whether the plan includes the stealer-log operations.
    pub includes_stealer_logs: bool,
    /// Whether the plan includes domain verification through the API.
    pub includes_bulk_domain_add: bool,
    /// Whether subdomains of a verified domain can be added without separate verification.
    pub includes_auto_subdomain_verification: bool,
    /// Whether customers' domains can be added.
    pub includes_customer_domains: bool,
    /// Whether the plan includes searches by hash prefix.
    #[serde(rename = "IncludesKAnon")]
    #[schema(rename = "IncludesKAnon")]
    pub includes_k_anon: bool,
}

impl SubscriptionStatus {
    /// Describes a subscription to `plan` that ends at `until`.
    pub fn new(plan: &Plan, until: i64) -> Self {
        let features = &plan.features;
        Self {
            subscription_name: plan.name.clone(),
            description: features.description.clone(),
            subscribed_until: instant::without_zone(until),
            rpm: plan.per_minute,
            domain_search_max_breached_accounts: features.max_domain_size,
            max_breached_domains: features.max_domains,
            includes_stealer_logs: features.stealer_logs,
            includes_bulk_domain_add: features.bulk_domain_add,
            includes_auto_subdomain_verification: features.auto_subdomain,
            includes_customer_domains: features.customer_domains,
            includes_k_anon: features.kanon,
        }
    }
}
