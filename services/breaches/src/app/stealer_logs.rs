//! Stealer log searches.

use batch::Sorted;
use database::{DatabaseError, Db};
use domain::{DomainName, EmailAddress, Sha1Digest};

use super::admission::{Caller, run_keyed, run_keyed_search};
use super::captured::{CapturedAddresses, CapturedCollector, CapturedWebsites};
use super::context::RequestContext;
use super::keyed_request::KeyedRequest;
use crate::error::Error;
use crate::model::{AccountKey, Breach, OptOut, address_text};
use crate::state::State;
use crate::store::stealer_logs::{self, Pair};

/// Lists the websites where an address was captured.
///
/// # Errors
/// Returns an error if a check fails, or [`Error::NotFound`] if there are none.
pub async fn stealer_logs_by_email(
    state: &State,
    request: KeyedRequest,
    address: Result<EmailAddress, Error>,
) -> Result<Vec<String>, Error> {
    let input = address.map(|address| (address, ()));
    run_keyed_search(state, request, input, |db, context, caller, searched, ()| {
        caller.check_control(db, context, searched.address.domain())?;
        let row = searched.row.ok_or(Error::NotFound)?;
        if context.opt_out(db, &searched.digest)? == Some(OptOut::Breaches) {
            return Err(Error::NotFound);
        }
        let pairs = stealer_logs::websites(db, (row.k, row.seq))?;
        let shown = pairs.into_iter().filter(|(_, breach)| is_shown(context, *breach));
        found(sorted(shown.map(|(website, _)| website).collect()))
    })
    .await
}

/// Lists the addresses that were captured at a website.
///
/// # Errors
/// Returns an error if a check fails, or [`Error::NotFound`] if there are none.
pub async fn stealer_logs_by_website_domain(
    state: &State,
    request: KeyedRequest,
    domain: Result<DomainName, Error>,
) -> Result<CapturedAddresses, Error> {
    let walk = |db: &mut Db, context: &RequestContext, domain: &str| {
        let mut found = CapturedCollector::new(context.settings().temporary_folder());
        stealer_logs::each_at_website(db, domain, |db, pair| {
            let address = address_text::full_text(&pair.local, &pair.domain);
            if may_be_seen(db, context, &pair, &address)? {
                found.add_address(&address).map_err(unsorted)?;
            }
            Ok::<_, Error>(())
        })?;
        Ok(found)
    };
    let found = captured(state, request, domain, walk).await?;
    Ok(CapturedAddresses::new(found))
}

/// Lists the websites where addresses at an email domain were captured, grouped by alias.
///
/// # Errors
/// Returns an error if a check fails, or [`Error::NotFound`] if there are none.
pub async fn stealer_logs_by_email_domain(
    state: &State,
    request: KeyedRequest,
    domain: Result<DomainName, Error>,
) -> Result<CapturedWebsites, Error> {
    let walk = |db: &mut Db, context: &RequestContext, domain: &str| {
        let mut found = CapturedCollector::new(context.settings().temporary_folder());
        stealer_logs::each_at_domain(db, domain, |db, pair| {
            let address = address_text::full_text(&pair.local, domain);
            if may_be_seen(db, context, &pair, &address)? {
                let alias = address_text::alias(&pair.local);
                found.add_website(alias, &pair.domain).map_err(unsorted)?;
            }
            Ok::<_, Error>(())
        })?;
        Ok(found)
    };
    let found = captured(state, request, domain, walk).await?;
    Ok(CapturedWebsites::new(found))
}

/// Checks that the caller controls a domain, then visits its captured logins. Uses a separate
/// connection so that other requests don't have to wait.
async fn captured(
    state: &State,
    request: KeyedRequest,
    domain: Result<DomainName, Error>,
    walk: fn(&mut Db, &RequestContext, &str) -> Result<CapturedCollector, Error>,
) -> Result<Sorted, Error> {
    let check = move |db: &mut Db, context: &RequestContext, caller: &Caller| {
        let domain = domain?;
        caller.check_control(db, context, domain.as_str())?;
        Ok((context.clone(), domain))
    };
    let (context, domain) = run_keyed(state, request, check).await?;
    let walk = move |db: &mut Db| {
        let found = walk(db, &context, domain.as_str())?;
        found.finish().map_err(unsorted)?.ok_or(Error::NotFound)
    };
    state.pools().read_long(walk).await
}

fn unsorted(error: std::io::Error) -> Error {
    Error::Internal(format!("a domain's pairs cannot be sorted: {error}"))
}

/// Returns whether the domain's controllers may see this entry.
fn may_be_seen(
    db: &mut Db,
    context: &RequestContext,
    pair: &Pair,
    address: &str,
) -> Result<bool, DatabaseError> {
    Ok(is_shown(context, pair.breach) && !is_removed(db, context, pair.k, address)?)
}

/// Returns whether a domain's controllers can see the breach.
fn is_shown(context: &RequestContext, breach: i32) -> bool {
    let breach = u16::try_from(breach).ok().and_then(|id| context.catalogue().by_id(id));
    breach.is_some_and(Breach::shown_for_domain)
}

/// Returns whether the owner of an address had all their data removed.
fn is_removed(
    db: &mut Db,
    context: &RequestContext,
    k: i64,
    address: &str,
) -> Result<bool, DatabaseError> {
    if !context.may_be_opted_out(AccountKey(k)) {
        return Ok(false);
    }
    Ok(context.opt_out(db, &Sha1Digest::of(address))? == Some(OptOut::Breaches))
}

fn found(texts: Vec<String>) -> Result<Vec<String>, Error> {
    if texts.is_empty() { Err(Error::NotFound) } else { Ok(texts) }
}

fn sorted(mut texts: Vec<String>) -> Vec<String> {
    texts.sort_unstable();
    texts.dedup();
    texts
}
