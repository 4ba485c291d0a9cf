//! Domain verification.

use actix_web::web::Data;
use actix_web::{HttpResponse, post};

use super::input::KeyedJson;
use crate::app;
use crate::error::Error;
use crate::state::State;
use crate::wire::{DnsToken, DomainRequest, MailRequest, MessageBody};

/// Get a token for DNS verification
///
/// Returns a domain's verification token and creates it if necessary. Publish the token in a TXT
/// record at the domain, then call `verifyDnsToken`. The record can be removed after verification.
/// Available on plans with `IncludesBulkDomainAdd` (Pro).
#[utoipa::path(
    operation_id = "generateDnsToken",
    tag = "Domain verification",
    security(("key" = [])),
    request_body(content = DomainRequest, description = "The domain. Property names are case-insensitive. The body can be up to 16 KiB in size."),
    extensions(("x-failures" = json!(["bodyTooLarge", "subscriptionEnded"]))),
    responses(
        (status = 200, description = "The verification token.", body = DnsToken, example = json!({"txtRecordValue": "breach-verify=dweb_k3v9x2m4q7w1z8r5t6y0u3i2"})),
        (status = 400, description = "The body is not valid JSON, or the domain cannot be verified.", body = MessageBody, example = json!({"message": "The DomainName field did not contain a valid domain."})),
    )
)]
#[post("/api/v3/domainVerification/generateDnsToken")]
pub async fn generate_dns_token(
    KeyedJson(keyed, body): KeyedJson<DomainRequest>,
    state: Data<State>,
) -> Result<HttpResponse, Error> {
    Ok(HttpResponse::Ok().json(app::generate_dns_token(&state, keyed, body).await?))
}

/// Verify a domain by DNS
///
/// Checks whether the domain has a TXT record with the token. DNS changes can take up to 24 hours
/// to become visible. A subdomain of a verified domain does not need a record if the plan has
/// `IncludesAutoSubdomainVerification`. Available on plans with `IncludesBulkDomainAdd` (Pro).
#[utoipa::path(
    operation_id = "verifyDnsToken",
    tag = "Domain verification",
    security(("key" = [])),
    request_body(content = DomainRequest, description = "The domain. Property names are case-insensitive. The body can be up to 16 KiB in size."),
    extensions(("x-failures" = json!(["bodyTooLarge", "subscriptionEnded"]))),
    responses(
        (status = 200, description = "The domain is verified. The body is empty."),
        (status = 400, description = "The body is not valid JSON, the domain cannot be verified, or no TXT record contains the token.", body = MessageBody, example = json!({"message": "No breach-verify TXT records were found on the domain."})),
    )
)]
#[post("/api/v3/domainVerification/verifyDnsToken")]
pub async fn verify_dns_token(
    KeyedJson(keyed, body): KeyedJson<DomainRequest>,
    state: Data<State>,
) -> Result<HttpResponse, Error> {
    app::verify_dns_token(&state, keyed, body).await?;
    Ok(HttpResponse::Ok().finish())
}

/// Verify a domain by email
///
/// Sends a verification email to an administrative address at the domain. The link in the email can
/// be used once and expires after 24 hours. Available on plans with `IncludesBulkDomainAdd` (Pro).
#[utoipa::path(
    operation_id = "sendEmail",
    tag = "Domain verification",
    security(("key" = [])),
    request_body(content = MailRequest, description = "The domain and the alias. Property names are case-insensitive. The body can be up to 16 KiB in size."),
    extensions(("x-failures" = json!(["bodyTooLarge", "subscriptionEnded"]))),
    responses(
        (status = 200, description = "The email was sent. The body is empty."),
        (status = 400, description = "The body is not valid JSON, the domain cannot be verified, or the alias is not allowed.", body = MessageBody, example = json!({"message": "The EmailAlias field did not contain a valid value. Acceptable values are: admin, hostmaster, info, security, webmaster."})),
        (status = 429, description = "The limit of one email in ten minutes per address or 20 a day per domain is exceeded."),
    )
)]
#[post("/api/v3/domainVerification/sendEmail")]
pub async fn send_email(
    KeyedJson(keyed, body): KeyedJson<MailRequest>,
    state: Data<State>,
) -> Result<HttpResponse, Error> {
    app::send_email(&state, keyed, body).await?;
    Ok(HttpResponse::Ok().finish())
}
