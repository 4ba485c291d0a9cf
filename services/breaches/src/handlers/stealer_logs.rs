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

/// Get the websites where an address was captured
///
/// Returns the websites where malware captured the credentials of an email address. The caller must
/// have verified the address's domain. Available on plans with `IncludesStealerLogs` (Pro), and to
/// test keys for addresses at the test domain.
#[utoipa::path(
    operation_id = "stealerLogsByEmail",
    tag = "Stealer logs",
    security(("key" = [])),
    params(("email" = String, Path, format = Email, description = "Email address. Case is ignored, and surrounding whitespace is trimmed.", example = "stealer-log@breach-integration-tests.example")),
    extensions(("x-failures" = json!(["email", "subscriptionEnded", "domainNotVerified"]))),
    responses(
        (status = 200,
            description = "The domains of the websites, in alphabetical order.",
            body = [String], example = json!(["shop.breach-integration-tests.example"])),
        (status = 404, description = "No matching entries. The body is empty."),
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

/// Get the addresses captured at a website
///
/// Returns the email addresses that malware captured at a website. The caller must have verified
/// the website's domain, which is matched exactly. Available on plans with `IncludesStealerLogs`
/// (Pro), and to test keys for the test domain and its subdomains.
#[utoipa::path(
    operation_id = "stealerLogsByWebsiteDomain",
    tag = "Stealer logs",
    security(("key" = [])),
    params(("domain" = String, Path, description = "The verified domain of the website.", pattern = r"^([A-Za-z0-9]([A-Za-z0-9-]{0,61}[A-Za-z0-9])?\.)+[A-Za-z]{2,63}$", example = "shop.breach-integration-tests.example")),
    extensions(("x-failures" = json!(["domain", "subscriptionEnded", "domainNotVerified"]))),
    responses(
        (status = 200,
            description = "The addresses, in alphabetical order.",
            body = [String], example = json!(["stealer-log@breach-integration-tests.example"])),
        (status = 404, description = "No matching entries. The body is empty."),
        (status = 429,
            description = "The rate limit for stealer-log searches by domain is exceeded."),
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

/// Get the captured addresses at an email domain
///
/// Returns the captured addresses at an email domain, by alias, with the domains of the websites
/// where they were captured. The caller must have verified the email domain. Available on plans
/// with `IncludesStealerLogs` (Pro), and to test keys for the test domain.
#[utoipa::path(
    operation_id = "stealerLogsByEmailDomain",
    tag = "Stealer logs",
    security(("key" = [])),
    params(("domain" = String, Path, description = "The verified domain of the addresses.", pattern = r"^([A-Za-z0-9]([A-Za-z0-9-]{0,61}[A-Za-z0-9])?\.)+[A-Za-z]{2,63}$", example = "breach-integration-tests.example")),
    extensions(("x-failures" = json!(["domain", "subscriptionEnded", "domainNotVerified"]))),
    responses(
        (status = 200, description = "The domains of websites, by alias. Both are in alphabetical order.", body = NamesByAlias, example = json!({"stealer-log": ["shop.breach-integration-tests.example"]})),
        (status = 404, description = "No matching entries. The body is empty."),
        (status = 429,
            description = "The rate limit for stealer-log searches by domain is exceeded."),
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
