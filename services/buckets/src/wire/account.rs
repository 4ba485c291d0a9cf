//! Returns the caller's account.

use serde::Serialize;
use utoipa::ToSchema;

/// The account that an API key belongs to.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct Account {
    /// Name of the account.
    pub name: String,
    /// Name of the account's package.
    #[schema(example = "premium")]
    pub package: String,
    /// Number of results reachable with offset paging.
    pub depth: u64,
    /// Whether the package allows scrolling.
    pub scrolling: bool,
    /// When the key expires, in Unix seconds. `null` if it does not expire.
    pub valid_until: Option<i64>,
}

/// The response of `getAccount`.
#[derive(Serialize, ToSchema)]
#[schema(example = json!({"account": {"name": "alice", "package": "premium", "depth": 1000000, "scrolling": false, "validUntil": null}}))]
pub struct AccountAnswer {
    /// The account.
    pub account: Account,
}
