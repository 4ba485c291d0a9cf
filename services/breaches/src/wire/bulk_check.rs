//! Request and response entries of a bulk check.

use serde::Deserialize;
use serde_json::Value;
use utoipa::ToSchema;
use utoipa::openapi::schema::{Array, ArrayBuilder, ObjectBuilder, Type};

use super::body::{Body, member};
use super::breach::AccountBreach;
use super::error::ErrorBody;

/// Maximum number of addresses per request.
const MAX_EMAILS: usize = 1_000;

/// The addresses to check.
#[derive(Clone, Debug, PartialEq, Eq, ToSchema)]
pub struct AccountsRequest {
    /// 1 to 1,000 email addresses. Case is ignored, and surrounding whitespace is trimmed.
    #[schema(schema_with = emails)]
    emails: Vec<String>,
}

fn emails() -> Array {
    ArrayBuilder::new()
        .items(ObjectBuilder::new().schema_type(Type::String))
        .min_items(Some(1))
        .max_items(Some(MAX_EMAILS))
        .examples([serde_json::json!(["account-exists@breach-integration-tests.example"])])
        .description(Some(
            "1 to 1,000 email addresses. Case is ignored, and surrounding whitespace is trimmed.",
        ))
        .build()
}

impl Body for AccountsRequest {
    type Content = Vec<String>;

    /// Twice the size of the largest request, because JSON escapes some characters.
    const LIMIT: usize = 512 * 1024;

    fn parse(body: &[u8]) -> Option<Vec<String>> {
        let object: Value = serde_json::from_slice(body).ok()?;
        let emails = Vec::<String>::deserialize(member(&object, "emails")?).ok()?;
        (1..=MAX_EMAILS).contains(&emails.len()).then_some(emails)
    }
}

/// The result for one address: its breaches, or an error if it was not checked.
// Only the OpenAPI document uses this type: entries are assembled from rendered breaches.
#[derive(ToSchema)]
#[allow(dead_code, reason = "entries are assembled from rendered breaches, as described here")]
pub struct CheckedAccount {
    /// The address, exactly as in the request.
    #[schema(example = "account-exists@breach-integration-tests.example")]
    email: String,
    /// The breaches, sorted by title. Empty if the address is not in any breach, and absent if it
    /// was not checked.
    #[schema(nullable = false)]
    breaches: Option<Vec<AccountBreach>>,
    /// `true` if only breaches with `IsSubscriptionFree` are listed because the domain is larger
    /// than the plan covers. Otherwise absent.
    #[schema(nullable = false)]
    limited: Option<bool>,
    /// Why the address was not checked. Absent if it was checked.
    #[schema(nullable = false)]
    error: Option<ErrorBody>,
}
