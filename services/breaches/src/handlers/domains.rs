//! Domain searches and reports, and the list of verified domains.

use ::domain::DomainName;
use actix_web::http::header::ContentType;
use actix_web::web::Data;
use actix_web::{HttpRequest, HttpResponse, HttpResponseBuilder, get};

use super::input::{Segment, keyed_request, query};
use super::reply;
use crate::app::{self, KeyedRequest, ReportJson};
use crate::error::Error;
use crate::model::instant;
use crate::state::State;
use crate::wire::{ExposureReport, NamesByAlias, ReportQuery, SubscribedDomain};

/// Search a domain
///
/// Returns the breached addresses at a verified domain. Sensitive and unverified breaches are
/// included; subdomains are not. If the domain is larger than the subscription covers, only
/// breaches with `IsSubscriptionFree` are returned, and the header `x-domain-search-limited` is
/// set. Repeat a search only when `latestBreach` changes. Available on the Core and Pro plans, and
/// to test keys for the test domain.
#[utoipa::path(
    operation_id = "breachedDomain",
    tag = "Domains",
    security(("key" = [])),
    params(("domain" = String, Path, description = "The verified domain.", pattern = r"^([A-Za-z0-9]([A-Za-z0-9-]{0,61}[A-Za-z0-9])?\.)+[A-Za-z]{2,63}$", example = "breach-integration-tests.example")),
    extensions(("x-failures" = json!(["domain", "subscriptionEnded", "domainNotVerified", "domainTooLarge", "tooManyDomains"]))),
    responses(
        (status = 200,
            description = "The names of breaches, by alias (the part of the address before the @).",
            body = NamesByAlias,
            headers(("x-domain-search-limited" = String, description = "`subscription-free` if the domain is larger than the plan covers, otherwise absent.")),
            example = json!({"account-exists": ["Acmegram"]})),
        (status = 404, description = "No address at the domain is in a breach. The body is empty."),
        (status = 429, description = "The rate limit for searches of this domain is exceeded."),
    )
)]
#[get("/api/v3/breachedDomain/{domain}")]
pub async fn breached_domain(
    request: HttpRequest,
    state: Data<State>,
) -> Result<HttpResponse, Error> {
    let (keyed, domain) = domain_request(&request, &state)?;
    let answer = app::search_domain(&state, keyed, domain).await?;
    reply::in_pieces(response(answer.limited), answer.names).await
}

/// Get a domain's new exposures
///
/// Returns the addresses at a verified domain that are in breaches added since a given date, with
/// counts per breach and per data class. This operation is an extension of this service. As in
/// domain searches, sensitive and unverified breaches are included; retired breaches and subdomains
/// are not. If the domain is larger than the subscription covers, only breaches with
/// `IsSubscriptionFree` are returned, and the header `x-domain-search-limited` is set. Addresses
/// that are added to an older breach later do not count as new. The response is streamed, so a
/// truncated object means that the request failed. Requests count against the quota of domain
/// searches. Available on the Core and Pro plans, and to test keys for the test domain.
#[utoipa::path(
    operation_id = "domainReport",
    tag = "Domains",
    security(("key" = [])),
    params(
        ("domain" = String, Path, description = "The verified domain.", pattern = r"^([A-Za-z0-9]([A-Za-z0-9-]{0,61}[A-Za-z0-9])?\.)+[A-Za-z]{2,63}$", example = "breach-integration-tests.example"),
        ReportQuery,
    ),
    extensions(("x-failures" = json!(["domain", "since", "unreadable", "subscriptionEnded", "domainNotVerified", "domainTooLarge", "tooManyDomains"]))),
    responses(
        (status = 200,
            description = "The report. Its lists are empty if there are no new exposures.",
            body = ExposureReport,
            headers(("x-domain-search-limited" = String, description = "`subscription-free` if the domain is larger than the plan covers, otherwise absent.")),
            example = json!({
                "Domain": "corp.example", "Since": "2026-01-01T00:00:00Z", "Until": "2026-03-01T12:00:00Z",
                "Addresses": [{"Alias": "anna", "Breaches": ["Acmegram"], "AllBreaches": 2}],
                "Breaches": [{
                    "Name": "Acmegram", "Title": "Acmegram", "BreachDate": "2025-12-01",
                    "AddedDate": "2026-01-15T12:00:00Z", "DataClasses": ["Email addresses", "Passwords"],
                    "Addresses": 1,
                }],
                "DataClasses": [{"Name": "Email addresses", "Addresses": 1}, {"Name": "Passwords", "Addresses": 1}],
                "BreachedAddresses": 40, "ExposedAddresses": 1, "FirstExposedAddresses": 0,
                "RepeatedAddresses": 1, "NewExposures": 1,
            })),
        (status = 429, description = "The rate limit for searches of this domain is exceeded."),
    )
)]
#[get("/api/v3/domainReport/{domain}")]
pub async fn domain_report(
    request: HttpRequest,
    state: Data<State>,
) -> Result<HttpResponse, Error> {
    let (keyed, domain) = domain_request(&request, &state)?;
    let input = domain.and_then(|domain| Ok((domain, since(&request)?)));
    let (rows, limited) = app::reported_domain(&state, keyed, input).await?;
    let report = ReportJson::new(rows, state.clock().unix());
    reply::in_pieces(response(limited), report).await
}

/// Reads the API key and the domain. An invalid domain is reported only after the key has been
/// checked.
fn domain_request(
    request: &HttpRequest,
    state: &State,
) -> Result<(KeyedRequest, Result<DomainName, Error>), Error> {
    let domain = Segment::of(request).domain();
    let keyed = keyed_request(request, state)?;
    Ok((keyed.of_domain(domain.as_ref().ok()), domain))
}

/// Begins a response. `limited` indicates that breaches that need a subscription were left out.
fn response(limited: bool) -> HttpResponseBuilder {
    let mut response = HttpResponse::Ok();
    if limited {
        response.insert_header(("x-domain-search-limited", "subscription-free"));
    }
    response.content_type(ContentType::json());
    response
}

fn since(request: &HttpRequest) -> Result<i64, Error> {
    let query: ReportQuery = query(request)?;
    query.since.as_deref().and_then(instant::parse_since).ok_or(Error::Since)
}

/// List verified domains
///
/// Returns the subscriber's verified domains with the counts from their last search. Available on
/// the Core and Pro plans, and to the all-zero test key.
#[utoipa::path(
    operation_id = "subscribedDomains",
    tag = "Domains",
    security(("key" = [])),
    extensions(("x-failures" = json!(["subscriptionEnded"]))),
    responses(
        (status = 200,
            description = "The domains, sorted by name. The list may be empty.",
            body = [SubscribedDomain]),
    )
)]
#[get("/api/v3/subscribedDomains")]
pub async fn subscribed_domains(
    request: HttpRequest,
    state: Data<State>,
) -> Result<HttpResponse, Error> {
    let keyed = keyed_request(&request, &state)?;
    Ok(HttpResponse::Ok().json(app::subscribed_domains(&state, keyed).await?))
}
