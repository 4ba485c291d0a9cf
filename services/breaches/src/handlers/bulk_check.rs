//! Bulk checks of addresses.

use actix_web::web::Data;
use actix_web::{HttpRequest, HttpResponse, post};

use super::input::{KeyedJson, query};
use super::reply;
use crate::app;
use crate::error::Error;
use crate::state::State;
use crate::wire::{AccountsRequest, BreachedAccountQuery, CheckedAccount};

/// Check many addresses at verified domains
///
/// Returns the breaches of up to 1,000 addresses at domains that the caller has verified, with one
/// entry per address in the order of the request. This operation is an extension of this service.
/// As in domain searches, the results include sensitive breaches and addresses that are hidden from
/// public searches. If an address is invalid, or its domain is not verified or not covered by the
/// plan, its entry contains an `error` instead of `breaches`; the other addresses are still
/// checked. Each address costs one search. If the total cost exceeds the plan's full quota, the
/// request fails with 400, and the message contains the maximum number of addresses. The response
/// is streamed, so a truncated array means that the request failed. Available on plans with bulk
/// checks (Pro), and to test keys for addresses at the test domain.
#[utoipa::path(
    operation_id = "breachedAccounts",
    tag = "Accounts",
    security(("key" = [])),
    params(BreachedAccountQuery),
    request_body(content = AccountsRequest,
        description = "The addresses. The body can be up to 512 KiB in size."),
    extensions(("x-failures" = json!(["emails", "tooManyEmails", "bodyTooLarge", "truncateResponse", "includeUnverified", "unreadable", "subscriptionEnded"]))),
    responses(
        (status = 200,
            description = "One entry per address, in the order of the request.",
            body = [CheckedAccount], example = json!([
            {"email": "account-exists@breach-integration-tests.example", "breaches": [{"Name": "Acmegram"}]},
            {"email": "someone@breach-integration-tests.example", "breaches": []},
            {"email": "ada@other.example", "error": {"statusCode": 403, "message": "Access denied, the domain has not been verified by this subscription."}},
        ])),
    )
)]
#[post("/api/v3/breachedaccounts")]
pub async fn breached_accounts(
    KeyedJson(keyed, body): KeyedJson<AccountsRequest>,
    request: HttpRequest,
    state: Data<State>,
) -> Result<HttpResponse, Error> {
    let emails = body.and_then(|content| content.ok_or(Error::Emails));
    let input =
        emails.and_then(|emails| Ok((emails, query::<BreachedAccountQuery>(&request)?.into())));
    let keyed = keyed.of_searches(input.as_ref().ok().map(|(emails, _)| emails.len()));
    reply::json_pieces(app::breached_accounts(&state, keyed, input).await?).await
}
