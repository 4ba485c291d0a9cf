//! Domain verification.

use actix_web::web::Data;
use actix_web::{HttpResponse, post};

use super::input::KeyedBody;
use crate::app;
use crate::error::Error;
use crate::state::State;
use crate::wire::{DnsToken, DomainRequest, MailRequest, MessageBody};

/// Token for DNS verification
///
/// Returns the token of a domain and creates it if necessary. The owner puts it into a TXT record
/// at the domain, which may be removed after verification. Plans with `IncludesBulkDomainAdd`: Pro.
#[utoipa::path(
    operation_id = "generateDnsToken",
    tag = "Domain verification",
    security(("key" = [])),
    request_body(content = DomainRequest, description = "Property names ignore case; at most 16 KiB"),
    extensions(("x-failures" = json!(["subscriptionEnded"]))),
    responses(
        (status = 200, description = "The token", body = DnsToken, example = json!({"txtRecordValue": "breach-verify=dweb_k3v9x2m4q7w1z8r5t6y0u3i2"})),
        (status = 400, description = "Not JSON, or a domain that cannot be verified", body = MessageBody, example = json!({"message": "The DomainName field did not contain a valid domain."})),
    )
)]
#[post("/api/v3/domainVerification/generateDnsToken")]
pub async fn generate_dns_token(
    KeyedBody(keyed, body): KeyedBody<DomainRequest>,
    state: Data<State>,
) -> Result<HttpResponse, Error> {
    Ok(HttpResponse::Ok().json(app::generate_dns_token(&state, keyed, body).await?))
}

/// Verification by DNS
///
/// Looks for the token in the TXT records of the domain. DNS changes may take 24 hours to become
/// visible. A subdomain of a verified domain is verified without a record if the plan has
/// `IncludesAutoSubdomainVerification`. Plans with `IncludesBulkDomainAdd`: Pro.
#[utoipa::path(
    operation_id = "verifyDnsToken",
    tag = "Domain verification",
    security(("key" = [])),
    request_body(content = DomainRequest, description = "Property names ignore case; at most 16 KiB"),
    extensions(("x-failures" = json!(["subscriptionEnded"]))),
    responses(
        (status = 200, description = "The domain is verified; the body is empty"),
        (status = 400, description = "Not JSON, a domain that cannot be verified, or no record with the token", body = MessageBody, example = json!({"message": "No breach-verify TXT records were found on the domain."})),
    )
)]
#[post("/api/v3/domainVerification/verifyDnsToken")]
pub async fn verify_dns_token(
    KeyedBody(keyed, body): KeyedBody<DomainRequest>,
    state: Data<State>,
) -> Result<HttpResponse, Error> {
    app::verify_dns_token(&state, keyed, body).await?;
    Ok(HttpResponse::Ok().finish())
}

/// Verification by mail
///
/// Sends a mail to an address at the domain that only its owner reads. Its link works once and for
/// 24 hours. Plans with `IncludesBulkDomainAdd`: Pro.
#[utoipa::path(
    operation_id = "sendEmail",
    tag = "Domain verification",
    security(("key" = [])),
    request_body(content = MailRequest, description = "Property names ignore case; at most 16 KiB"),
    extensions(("x-failures" = json!(["subscriptionEnded"]))),
    responses(
        (status = 200, description = "The mail was sent; the body is empty"),
        (status = 400, description = "Not JSON, a domain that cannot be verified, or another alias", body = MessageBody, example = json!({"message": "The EmailAlias field did not contain a valid value. Acceptable values are: admin, hostmaster, info, security, webmaster."})),
        (status = 429, description = "The limit is one mail in ten minutes per address and 20 a day per domain"),
    )
)]
#[post("/api/v3/domainVerification/sendEmail")]
pub async fn send_email(
    KeyedBody(keyed, body): KeyedBody<MailRequest>,
    state: Data<State>,
) -> Result<HttpResponse, Error> {
    app::send_email(&state, keyed, body).await?;
    Ok(HttpResponse::Ok().finish())
}
