//! Stealer logs: at which websites addresses were captured.

use actix_web::web::Data;
use actix_web::{HttpRequest, HttpResponse, get};
use database::{DatabaseError, Db};
use domain::{DomainName, Sha1Digest};

use super::input::Segment;
use crate::caller::{Asked, Caller};
use crate::error::Error;
use crate::model::plan::Operation;
use crate::model::{AccountKey, Breach, OptOut, address_text};
use crate::state::{State, View};
use crate::store::stealer_log::{self, Pair};
use crate::wire::Map;

/// Websites of a captured address
///
/// The domain of the address must be verified by the caller. Plans with `IncludesStealerLogs`:
/// Pro; test keys for addresses at the test domain.
#[utoipa::path(
    path = "/api/v3/stealerLogsByEmail/{email}",
    operation_id = "stealerLogsByEmail",
    tag = "Stealer logs",
    security(("key" = [])),
    params(("email" = String, Path, description = "Address; trimmed, any letter case", example = "stealer-log@breach-integration-tests.example")),
    responses(
        (status = 200, description = "The domains of the websites, alphabetical", body = [String], example = json!(["shop.breach-integration-tests.example"])),
        (status = 404, description = "No entry; the body is empty"),
    )
)]
#[get("/api/v3/stealerLogsByEmail/{email}")]
pub async fn by_email(request: HttpRequest, state: Data<State>) -> Result<HttpResponse, Error> {
    let asked = Asked::read(&request, state.settings(), Operation::StealerLogsByEmail, "")?;
    let input = Segment::of(&request).email().map(|address| (address, ()));
    let websites = state
        .keyed_search(asked, input, |db, view, caller, mut sought, ()| {
            caller.check_control(db, view, sought.address.domain())?;
            let row = sought.account(db)?;
            if view.opt_out(db, &sought.digest)? == Some(OptOut::Breaches) {
                return Err(Error::NotFound);
            }
            let pairs = stealer_log::websites(db, (row.k, row.seq))?;
            let shown = pairs.into_iter().filter(|(_, breach)| is_shown(view, *breach));
            Ok(sorted(shown.map(|(website, _)| website).collect()))
        })
        .await?;
    answer(&websites, websites.is_empty())
}

/// Addresses captured at a website
///
/// The website's domain must be verified by the caller; it is matched exactly. Plans with
/// `IncludesStealerLogs`: Pro; test keys at or below the test domain.
#[utoipa::path(
    path = "/api/v3/stealerLogsByWebsiteDomain/{domain}",
    operation_id = "stealerLogsByWebsiteDomain",
    tag = "Stealer logs",
    security(("key" = [])),
    params(("domain" = String, Path, description = "Verified domain of the website", example = "shop.breach-integration-tests.example")),
    responses(
        (status = 200, description = "The addresses, alphabetical", body = [String], example = json!(["stealer-log@breach-integration-tests.example"])),
        (status = 404, description = "No entry; the body is empty"),
        (status = 429, description = "The limit of domain-based stealer-log operations is exceeded"),
    )
)]
#[get("/api/v3/stealerLogsByWebsiteDomain/{domain}")]
pub async fn by_website_domain(
    request: HttpRequest,
    state: Data<State>,
) -> Result<HttpResponse, Error> {
    let operation = Operation::StealerLogsByWebsiteDomain;
    let asked = Asked::read(&request, state.settings(), operation, "")?;
    let segment = Segment::of(&request);
    let addresses = state
        .keyed(asked, move |db, view, caller| {
            let address = |pair: &Pair| address_text::full_text(&pair.local, &pair.domain);
            let domain = segment.domain()?;
            let pairs = shown(db, view, caller, &domain, stealer_log::at_website, address)?;
            Ok(sorted(pairs.iter().map(address).collect()))
        })
        .await?;
    answer(&addresses, addresses.is_empty())
}

/// Captured addresses of a mail domain
///
/// Aliases with the domains of the websites at which they were captured. The mail domain must be
/// verified by the caller. Plans with `IncludesStealerLogs`: Pro; test keys for the test domain.
#[utoipa::path(
    path = "/api/v3/stealerLogsByEmailDomain/{domain}",
    operation_id = "stealerLogsByEmailDomain",
    tag = "Stealer logs",
    security(("key" = [])),
    params(("domain" = String, Path, description = "Verified domain of the addresses", example = "breach-integration-tests.example")),
    responses(
        (status = 200, description = "Domains of websites by alias, both alphabetical", body = Map, example = json!({"stealer-log": ["shop.breach-integration-tests.example"]})),
        (status = 404, description = "No entry; the body is empty"),
        (status = 429, description = "The limit of domain-based stealer-log operations is exceeded"),
    )
)]
#[get("/api/v3/stealerLogsByEmailDomain/{domain}")]
pub async fn by_email_domain(
    request: HttpRequest,
    state: Data<State>,
) -> Result<HttpResponse, Error> {
    let operation = Operation::StealerLogsByEmailDomain;
    let asked = Asked::read(&request, state.settings(), operation, "")?;
    let segment = Segment::of(&request);
    let websites = state
        .keyed(asked, move |db, view, caller| {
            let domain = segment.domain()?;
            let address = |pair: &Pair| address_text::full_text(&pair.local, domain.as_str());
            let mut websites = Map::new();
            for pair in shown(db, view, caller, &domain, stealer_log::at_domain, address)? {
                let alias = address_text::alias(&pair.local).to_owned();
                websites.entry(alias).or_default().push(pair.domain);
            }
            Ok(websites.into_iter().map(|(alias, list)| (alias, sorted(list))).collect::<Map>())
        })
        .await?;
    answer(&websites, websites.is_empty())
}

/// The pairs of a domain that the caller, who must control it, may see.
fn shown(
    db: &mut Db,
    view: &View,
    caller: &Caller,
    domain: &DomainName,
    read: fn(&mut Db, &str) -> Result<Vec<Pair>, DatabaseError>,
    address: impl Fn(&Pair) -> String,
) -> Result<Vec<Pair>, Error> {
    caller.check_control(db, view, domain.as_str())?;
    let mut pairs = Vec::new();
    for pair in read(db, domain.as_str())? {
        if is_shown(view, pair.breach) && is_kept(db, view, pair.k, &address(&pair))? {
            pairs.push(pair);
        }
    }
    Ok(pairs)
}

fn answer(found: &impl serde::Serialize, is_empty: bool) -> Result<HttpResponse, Error> {
    if is_empty { Err(Error::NotFound) } else { Ok(HttpResponse::Ok().json(found)) }
}

/// Whether the breach that brought a pair may be told.
fn is_shown(view: &View, breach: i32) -> bool {
    let breach = u16::try_from(breach).ok().and_then(|id| view.snapshot.catalogue.by_id(id));
    breach.is_some_and(Breach::shown_for_domain)
}

/// Whether the owner of an address did not have everything removed.
fn is_kept(db: &mut Db, view: &View, k: i64, address: &str) -> Result<bool, DatabaseError> {
    if !view.opt_outs.may_hold(AccountKey(k)) {
        return Ok(true);
    }
    Ok(view.opt_out(db, &Sha1Digest::of(address))? != Some(OptOut::Breaches))
}

fn sorted(mut texts: Vec<String>) -> Vec<String> {
    texts.sort_unstable();
    texts.dedup();
    texts
}
