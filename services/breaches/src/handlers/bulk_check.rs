//! Bulk checks of addresses.

use actix_web::web::Data;
use actix_web::{HttpRequest, HttpResponse, post};

use super::input::{KeyedJson, query};
use super::reply;
use crate::app;
use crate::error::Error;
use crate::state::State;
use crate::wire::{AccountsRequest, BreachedAccountQuery, CheckedAccount};

/// Breaches of many addresses of verified domains
///
/// An extension of this service: up to 1,000 addresses of domains that the caller has verified. The
/// answer has one entry for each address, in the order of the request. As in domain searches,
/// sensitive breaches are included, and so are addresses that are hidden from public searches. An
/// address that is invalid, or whose domain is not verified or not covered by the plan, gets an
/// `error` instead of `breaches`; the others are still checked. Each address costs one search. If
/// the total exceeds a full quota of the plan, the request is refused with 400, and the message
/// contains the maximum. The answer is streamed; a truncated array means that it failed. Plans with
/// bulk checks: Pro; test keys for addresses at the test domain only.
#[utoipa::path(
    operation_id = "breachedAccounts",
    tag = "Accounts",
    security(("key" = [])),
    params(BreachedAccountQuery),
    request_body(content = AccountsRequest, description = "At most 512 KiB"),
    extensions(("x-failures" = json!(["emails", "tooManyEmails", "bodyTooLarge", "mediaType", "truncateResponse", "includeUnverified", "unreadable", "subscriptionEnded"]))),
    responses(
        (status = 200, description = "One entry for each address, in the order of the request", body = [CheckedAccount], example = json!([
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
