//! Domain searches by a domain's controllers, and the list of their domains.

use std::sync::Arc;
use std::time::Duration;

use database::{DatabaseError, Db};
use domain::DomainName;

use super::admission::{Caller, run_keyed};
use super::context::RequestContext;
use super::domain_access::{self, LargerDomains};
use super::domain_names::{AliasCollector, DomainNames};
use super::keyed_request::KeyedRequest;
use crate::error::Error;
use crate::model::domain_size::{Access, Counted};
use crate::model::{Breach, instant};
use crate::state::State;
use crate::store::accounts::domain_walk;
use crate::store::domain_controls::{self, Control};
use crate::wire::SubscribedDomain;

/// How long a response waits for its counts to be saved.
const WRITE_TIMEOUT: Duration = Duration::from_millis(500);

/// Response to a domain search.
#[derive(Debug)]
pub struct DomainAnswer {
    pub names: DomainNames,
    /// Whether breaches that need a subscription were left out.
    pub limited: bool,
}

pub struct Found {
    control: Option<Control>,
    counted: Counted,
    /// How much of the domain the plan covers.
    pub access: Access,
    /// Whether any address is in a breach that doesn't need a subscription.
    any_free: bool,
    pub names: DomainNames,
    larger_domains: i64,
    caller: Caller,
}

impl Found {
    /// Returns `true` if none of the addresses at the domain has been breached.
    pub fn is_empty(&self) -> bool {
        self.counted.all == 0
    }

    /// Returns the error to report if the plan doesn't cover any part of the domain.
    pub fn refusal(&self) -> Option<Error> {
        match self.access {
            Access::SubscriptionFreeOnly if self.any_free => None,
            access => {
                let size = self.counted.no_spam;
                domain_access::refusal(&self.caller, access, size, self.larger_domains)
            }
        }
    }
}

/// Searches a domain and saves the new counts.
///
/// # Errors
/// Returns an error if a check fails, or [`Error::NotFound`] if no address at the domain is in a
/// breach.
pub async fn search_domain(
    state: &State,
    request: KeyedRequest,
    domain: Result<DomainName, Error>,
) -> Result<DomainAnswer, Error> {
    let found = searched(state, request, domain).await?;
    if found.is_empty() {
        return Err(Error::NotFound);
    }
    let limited = found.access == Access::SubscriptionFreeOnly;
    Ok(DomainAnswer { names: found.names, limited })
}

/// Searches a domain for a keyed request and saves the new counts.
///
/// # Errors
/// Returns an error if a check fails.
pub async fn searched(
    state: &State,
    request: KeyedRequest,
    domain: Result<DomainName, Error>,
) -> Result<Found, Error> {
    let check = move |db: &mut Db, context: &RequestContext, caller: &Caller| {
        let domain = domain?;
        caller.check_control(db, context, domain.as_str())?;
        Ok((context.clone(), caller.clone(), domain))
    };
    let (context, caller, domain) = run_keyed(state, request, check).await?;
    let walk = move |db: &mut Db| search(db, &context, &caller, &domain);
    let found = state.pools().read_long(walk).await?;
    record_counts(state, &found).await;
    match found.refusal() {
        Some(error) => Err(error),
        None => Ok(found),
    }
}

/// Searches a domain that the caller controls.
///
/// # Errors
/// [`Error::NotVerified`] or a database error.
pub fn search(
    db: &mut Db,
    context: &RequestContext,
    caller: &Caller,
    domain: &DomainName,
) -> Result<Found, Error> {
    let control = caller.check_control(db, context, domain.as_str())?;
    let catalogue = context.catalogue();
    let mut names = AliasCollector::new(context.settings().temporary_folder());
    let (mut counted, mut any_free) = (Counted::default(), false);
    domain_walk::each_at_domain(db, domain.as_str(), |db, row| {
        if context.snapshot.is_removed(db, &row)? {
            return Ok(());
        }
        counted.add(catalogue, &row.breaches);
        any_free |= catalogue.any(&row.breaches, Breach::shown_without_subscription);
        names.add(row.alias(), &row.breaches).map_err(unsorted)
    })?;
    let size = counted.no_spam;
    let larger_domains = LargerDomains::read(db, caller)?.up_to(control.as_ref(), size);
    let access = domain_access::decide(context, caller, control.as_ref(), size, larger_domains);
    let shown: fn(&Breach) -> bool = match access {
        Access::Full => Breach::shown_for_domain,
        _ => Breach::shown_without_subscription,
    };
    let names = names.finish(Arc::clone(&context.snapshot), shown).map_err(unsorted)?;
    Ok(Found { control, counted, access, any_free, names, larger_domains, caller: caller.clone() })
}

/// Converts an I/O error from sorting on disk.
pub fn unsorted(error: std::io::Error) -> Error {
    Error::Internal(format!("a domain's aliases cannot be sorted: {error}"))
}

/// Saves the counts from a search.
///
/// A load may be holding the lock, which shouldn't cause the response to fail or wait long. After a
/// timeout, the counts are therefore saved in the background or by the next search.
pub async fn record_counts(state: &State, found: &Found) {
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
    let write = state.pools().write(move |db| -> Result<(), DatabaseError> {
        domain_controls::set_counts(db, id, counted, now)
    });
    if let Ok(Err(error)) = tokio::time::timeout(WRITE_TIMEOUT, write).await {
        log::warn!("a domain search's counts could not be recorded: {error}");
    }
}

/// Lists the subscription's verified domains.
///
/// # Errors
/// Returns an error if a check fails.
pub async fn subscribed_domains(
    state: &State,
    request: KeyedRequest,
) -> Result<Vec<SubscribedDomain>, Error> {
    run_keyed(state, request, |db, context, caller| match caller.subscriber {
        None => Ok(vec![built_in(context, caller)]),
        Some(id) => Ok(domain_controls::all_verified(db, id)?
            .into_iter()
            .map(|control| subscribed_domain(control, caller.until))
            .collect()),
    })
    .await
}

fn subscribed_domain(control: Control, until: i64) -> SubscribedDomain {
    SubscribedDomain {
        domain_name: control.domain,
        pwn_count: control.pwn_count,
        pwn_count_excluding_spam_lists: control.pwn_count_no_spam,
        pwn_count_excluding_spam_lists_at_last_subscription_renewal: control
            .pwn_count_no_spam_at_renewal,
        next_subscription_renewal: Some(instant::without_zone(until)),
    }
}

/// Returns the only domain that test keys have. Its counts aren't stored.
fn built_in(context: &RequestContext, caller: &Caller) -> SubscribedDomain {
    SubscribedDomain {
        domain_name: context.settings().test_email_domain.to_string(),
        pwn_count: None,
        pwn_count_excluding_spam_lists: None,
        pwn_count_excluding_spam_lists_at_last_subscription_renewal: None,
        next_subscription_renewal: Some(instant::without_zone(caller.until)),
    }
}
