//! Stealer log searches.

use actix_web::http::header::ContentType;
use actix_web::web::Data;
use actix_web::{HttpRequest, HttpResponse, get};

use super::input::{Segment, keyed_request};
use super::reply;
use crate::app;
use crate::error::Error;
use crate::state::State;
use crate::wire::NamesByAlias;

/// Websites of a captured address
///
/// The domain of the address must be verified by the caller. Plans with `IncludesStealerLogs`:
/// Pro; test keys for addresses at the test domain.
#[utoipa::path(
    operation_id = "stealerLogsByEmail",
    tag = "Stealer logs",
    security(("key" = [])),
    params(("email" = String, Path, format = Email, description = "Address; trimmed, any letter case", example = "stealer-log@breach-integration-tests.example")),
    extensions(("x-failures" = json!(["email", "subscriptionEnded", "domainNotVerified"]))),
    responses(
        (status = 200, description = "The domains of the websites, alphabetical", body = [String], example = json!(["shop.breach-integration-tests.example"])),
        (status = 404, description = "No entry; the body is empty"),
    )
)]
#[get("/api/v3/stealerLogsByEmail/{email}")]
pub async fn stealer_logs_by_email(
    request: HttpRequest,
    state: Data<State>,
) -> Result<HttpResponse, Error> {
    let keyed = keyed_request(&request, &state)?;
    let address = Segment::of(&request).email();
    Ok(HttpResponse::Ok().json(app::stealer_logs_by_email(&state, keyed, address).await?))
}

/// Addresses captured at a website
///
/// The website's domain must be verified by the caller; it is matched exactly. Plans with
/// `IncludesStealerLogs`: Pro; test keys at or below the test domain.
#[utoipa::path(
    operation_id = "stealerLogsByWebsiteDomain",
    tag = "Stealer logs",
    security(("key" = [])),
    params(("domain" = String, Path, description = "Verified domain of the website", pattern = r"^([A-Za-z0-9]([A-Za-z0-9-]{0,61}[A-Za-z0-9])?\.)+[A-Za-z]{2,63}$", example = "shop.breach-integration-tests.example")),
    extensions(("x-failures" = json!(["domain", "subscriptionEnded", "domainNotVerified"]))),
    responses(
        (status = 200, description = "The addresses, alphabetical", body = [String], example = json!(["stealer-log@breach-integration-tests.example"])),
        (status = 404, description = "No entry; the body is empty"),
        (status = 429, description = "The limit of domain-based stealer-log operations is exceeded"),
    )
)]
#[get("/api/v3/stealerLogsByWebsiteDomain/{domain}")]
pub async fn stealer_logs_by_website_domain(
    request: HttpRequest,
    state: Data<State>,
) -> Result<HttpResponse, Error> {
    let keyed = keyed_request(&request, &state)?;
    let domain = Segment::of(&request).domain();
    let found = app::stealer_logs_by_website_domain(&state, keyed, domain).await?;
    let mut response = HttpResponse::Ok();
    response.content_type(ContentType::json());
    reply::in_pieces(response, found).await
}

/// Captured addresses of a mail domain
///
/// Aliases with the domains of the websites at which they were captured. The mail domain must be
/// verified by the caller. Plans with `IncludesStealerLogs`: Pro; test keys for the test domain.
#[utoipa::path(
    operation_id = "stealerLogsByEmailDomain",
    tag = "Stealer logs",
    security(("key" = [])),
    params(("domain" = String, Path, description = "Verified domain of the addresses", pattern = r"^([A-Za-z0-9]([A-Za-z0-9-]{0,61}[A-Za-z0-9])?\.)+[A-Za-z]{2,63}$", example = "breach-integration-tests.example")),
    extensions(("x-failures" = json!(["domain", "subscriptionEnded", "domainNotVerified"]))),
    responses(
        (status = 200, description = "Domains of websites by alias, both alphabetical", body = NamesByAlias, example = json!({"stealer-log": ["shop.breach-integration-tests.example"]})),
        (status = 404, description = "No entry; the body is empty"),
        (status = 429, description = "The limit of domain-based stealer-log operations is exceeded"),
    )
)]
#[get("/api/v3/stealerLogsByEmailDomain/{domain}")]
pub async fn stealer_logs_by_email_domain(
    request: HttpRequest,
    state: Data<State>,
) -> Result<HttpResponse, Error> {
    let keyed = keyed_request(&request, &state)?;
    let domain = Segment::of(&request).domain();
    let found = app::stealer_logs_by_email_domain(&state, keyed, domain).await?;
    let mut response = HttpResponse::Ok();
    response.content_type(ContentType::json());
    reply::in_pieces(response, found).await
}
