//! Domains: breached addresses of one, and the list of verified ones.

use std::time::Duration;

use ::domain::{DomainName, Sha1Digest};
use actix_web::web::Data;
use actix_web::{HttpRequest, HttpResponse, get};
use database::{DatabaseError, Db};

use super::input::Segment;
use crate::caller::{Asked, Caller};
use crate::error::Error;
use crate::model::domain_size::{self, Access, Counted, Situation};
use crate::model::plan::Operation;
use crate::model::{Breach, OptOut, instant};
use crate::state::{State, View};
use crate::store::account::{self, AccountRow};
use crate::store::domain_control::{self, Control};
use crate::wire::{Map, SubscribedDomain};

/// Tells that only breaches that need no subscription are in the answer.
const LIMITED: (&str, &str) = ("x-domain-search-limited", "subscription-free");

/// How long an answer waits for its counts to be noted.
const NOTE_WAIT: Duration = Duration::from_millis(500);

/// What a search found.
struct Found {
    control: Option<Control>,
    counted: Counted,
    access: Access,
    names: Map,
    larger_domains: i64,
    caller: Caller,
}

/// Breached addresses of a domain
///
/// Sensitive and unverified breaches are included; subdomains are not. When the domain is larger
/// than the subscription covers, only breaches with `IsSubscriptionFree` are returned and the
/// header `x-domain-search-limited` says so. Search again only when `latestBreach` changes.
/// Plans: Core, Pro; test keys for the test domain.
#[utoipa::path(
    path = "/api/v3/breachedDomain/{domain}",
    operation_id = "breachedDomain",
    tag = "Domains",
    security(("key" = [])),
    params(("domain" = String, Path, description = "Verified domain", example = "breach-integration-tests.example")),
    responses(
        (status = 200, description = "Names of breaches by alias", body = Map,
            headers(("x-domain-search-limited" = String, description = "`subscription-free` when the domain is over the plan")),
            example = json!({"account-exists": ["Acmegram"]})),
        (status = 404, description = "No address of the domain is in a breach; the body is empty"),
        (status = 429, description = "The domain was searched too often"),
    )
)]
#[get("/api/v3/breachedDomain/{domain}")]
pub async fn breached_domain(
    request: HttpRequest,
    state: Data<State>,
) -> Result<HttpResponse, Error> {
    let segment = Segment::of(&request);
    let asked = Asked::read(&request, state.settings(), Operation::BreachedDomain, segment.text())?;
    let found = state
        .keyed(asked, move |db, view, caller| search(db, view, caller, &segment.domain()?))
        .await?;
    note_counts(&state, &found).await;
    match found.access {
        Access::TooManyDomains => {
            let max = found.caller.plan.features.max_domains;
            return Err(Error::TooManyDomains { max, used: found.larger_domains });
        }
        Access::SubscriptionFreeOnly if found.names.is_empty() => {
            let max = found.caller.plan.features.max_domain_size;
            return Err(Error::DomainTooLarge { size: found.counted.no_spam, max });
        }
        Access::SubscriptionFreeOnly => {
            return Ok(HttpResponse::Ok().insert_header(LIMITED).json(found.names));
        }
        Access::Full if found.names.is_empty() => return Err(Error::NotFound),
        Access::Full => {}
    }
    Ok(HttpResponse::Ok().json(found.names))
}

fn search(db: &mut Db, view: &View, caller: &Caller, domain: &DomainName) -> Result<Found, Error> {
    let control = caller.check_control(db, view, domain.as_str())?;
    let mut rows = account::at_domain(db, domain.as_str())?;
    retain_shown(db, view, &mut rows)?;
    let catalogue = &view.snapshot.catalogue;
    let counted = domain_size::count(catalogue, rows.iter().map(|row| row.breaches.as_slice()));
    let larger_domains = larger_domains(db, caller, control.as_ref(), counted)?;
    let access = domain_size::decide(Situation {
        now: counted.no_spam,
        locked_in: control.as_ref().and_then(|control| control.pwn_count_no_spam_at_renewal),
        max_size: i64::from(caller.plan.features.max_domain_size),
        larger_domains,
        max_domains: i64::from(caller.plan.features.max_domains),
    });
    let shown = |breach: &Breach| {
        breach.shown_for_domain() && (access == Access::Full || breach.flags.subscription_free)
    };
    let mut names = Map::new();
    for row in &rows {
        let found = catalogue.names(&row.breaches, shown);
        if !found.is_empty() {
            let entry: &mut Vec<String> = names.entry(row.alias().to_owned()).or_default();
            entry.extend(found.into_iter().map(str::to_owned));
            entry.sort_unstable();
            entry.dedup();
        }
    }
    Ok(Found { control, counted, access, names, larger_domains, caller: caller.clone() })
}

/// Drops accounts whose owners had everything removed; no row of theirs should exist.
fn retain_shown(db: &mut Db, view: &View, rows: &mut Vec<AccountRow>) -> Result<(), DatabaseError> {
    let mut kept = Vec::with_capacity(rows.len());
    for row in rows.drain(..) {
        let gone = view.opt_outs.may_hold(row.key())
            && view.opt_out(db, &Sha1Digest::of(row.address()))? == Some(OptOut::Breaches);
        if !gone {
            kept.push(row);
        }
    }
    *rows = kept;
    Ok(())
}

/// Large domains of the caller, this one at the size it has now.
fn larger_domains(
    db: &mut Db,
    caller: &Caller,
    control: Option<&Control>,
    counted: Counted,
) -> Result<i64, DatabaseError> {
    let (Some(subscriber), Some(control)) = (caller.subscriber, control) else { return Ok(0) };
    let noted = domain_control::larger_domains(db, subscriber)?;
    let was = control.size_now.is_some_and(|size| size > domain_size::FREE_SIZE);
    let is = counted.no_spam > domain_size::FREE_SIZE;
    Ok(noted + i64::from(is) - i64::from(was))
}

/// Notes the counts of a search, if they are new.
///
/// The answer is right without the note, and does not fail or wait for one that meets a load: it is
/// written when its turn comes, or by the next search.
async fn note_counts(state: &State, found: &Found) {
    let Some(control) = &found.control else { return };
    let counted = found.counted;
    let same = control.pwn_count == Some(counted.all)
        && control.pwn_count_no_spam == Some(counted.no_spam)
        && control.pwn_count_no_spam_at_renewal.is_some()
        && control.size_now == Some(counted.no_spam);
    if same {
        return;
    }
    let (id, now) = (control.id, state.clock().unix());
    let note = state.pools().write(move |db| -> Result<(), DatabaseError> {
        domain_control::set_counts(db, id, counted, now)
    });
    if let Ok(Err(error)) = tokio::time::timeout(NOTE_WAIT, note).await {
        log::warn!("the counts of a domain search could not be noted: {error}");
    }
}

/// Domains of the subscription
///
/// Verified domains with the counts of their last search. Plans: Core, Pro; the all-zero test key.
#[utoipa::path(
    path = "/api/v3/subscribedDomains",
    operation_id = "subscribedDomains",
    tag = "Domains",
    security(("key" = [])),
    responses(
        (status = 200, description = "The domains, by name; may be empty", body = [SubscribedDomain]),
    )
)]
#[get("/api/v3/subscribedDomains")]
pub async fn subscribed_domains(
    request: HttpRequest,
    state: Data<State>,
) -> Result<HttpResponse, Error> {
    let asked = Asked::read(&request, state.settings(), Operation::SubscribedDomains, "")?;
    let domains = state
        .keyed(asked, |db, view, caller| match caller.subscriber {
            None => Ok(vec![built_in(view, caller)]),
            Some(id) => Ok(domain_control::all_verified(db, id)?
                .into_iter()
                .map(|control| wire_domain(control, caller.until))
                .collect()),
        })
        .await?;
    Ok(HttpResponse::Ok().json(domains))
}

fn wire_domain(control: Control, until: i64) -> SubscribedDomain {
    SubscribedDomain {
        domain_name: control.domain,
        pwn_count: control.pwn_count,
        pwn_count_excluding_spam_lists: control.pwn_count_no_spam,
        pwn_count_excluding_spam_lists_at_last_subscription_renewal: control
            .pwn_count_no_spam_at_renewal,
        next_subscription_renewal: Some(instant::without_zone(until)),
    }
}

/// The one domain of the built-in subscription; it keeps no counts.
fn built_in(view: &View, caller: &Caller) -> SubscribedDomain {
    SubscribedDomain {
        domain_name: view.state.settings().test_email_domain.to_string(),
        pwn_count: None,
        pwn_count_excluding_spam_lists: None,
        pwn_count_excluding_spam_lists_at_last_subscription_renewal: None,
        next_subscription_renewal: Some(instant::without_zone(caller.until)),
    }
}
