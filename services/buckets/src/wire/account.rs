//! The caller's account.

use serde::Serialize;
use utoipa::ToSchema;

/// An account.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct Account {
    /// Its name.
    pub name: String,
    /// Its package.
    #[schema(example = "premium")]
    pub package: String,
    /// Results reachable by offset.
    pub depth: u64,
    /// Whether scrolling is allowed.
    pub scrolling: bool,
    /// Unix seconds; null: without end.
    pub valid_until: Option<i64>,
}

/// The answer about an account.
#[derive(Serialize, ToSchema)]
#[schema(example = json!({"account": {"name": "alice", "package": "premium", "depth": 1000000, "scrolling": false, "validUntil": null}}))]
pub struct AccountAnswer {
    /// The account of the key.
    pub account: Account,
}
