//! The subscription's domains, and breach names by alias.

use std::collections::BTreeMap;

use serde::Serialize;
use utoipa::ToSchema;

/// Breach names by alias. Both are in byte order.
pub type NamesByAlias = BTreeMap<String, Vec<String>>;

/// A domain that the subscriber has verified.
#[derive(Clone, Debug, Serialize, ToSchema)]
#[serde(rename_all = "PascalCase")]
#[schema(rename_all = "PascalCase")]
#[schema(example = json!({
    "DomainName": "corp.example", "PwnCount": 12, "PwnCountExcludingSpamLists": 11,
    "PwnCountExcludingSpamListsAtLastSubscriptionRenewal": 9,
    "NextSubscriptionRenewal": "2027-03-07T12:30:38",
}))]
pub struct SubscribedDomain {
    /// Name of the domain.
    #[schema(example = "example.org")]
    pub domain_name: String,
    /// Number of breached addresses found by the last search. `null` before the first search.
    #[schema(required = true)]
    pub pwn_count: Option<i64>,
    /// `PwnCount` without addresses that only appear in spam lists.
    #[schema(required = true)]
    pub pwn_count_excluding_spam_lists: Option<i64>,
    /// Value of `PwnCountExcludingSpamLists` at the start of the current subscription.
    #[schema(required = true)]
    pub pwn_count_excluding_spam_lists_at_last_subscription_renewal: Option<i64>,
    /// When the current subscription ends, in UTC without a time zone designator.
    #[schema(
        required = true,
        pattern = r"^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2}$",
        example = "2027-03-07T12:30:38"
    )]
    pub next_subscription_renewal: Option<String>,
}
