//! Searches of stealer logs: at which websites addresses were captured.

use database::{DatabaseError, Db};
use domain::{DomainName, EmailAddress, Sha1Digest};

use super::admission::{Caller, run_keyed, run_keyed_search};
use super::context::RequestContext;
use super::keyed_request::KeyedRequest;
use crate::error::Error;
use crate::model::{AccountKey, Breach, OptOut, address_text};
use crate::state::State;
use crate::store::stealer_logs::{self, Pair};
use crate::wire::NamesByAlias;

/// The websites at which an address was captured.
///
/// # Errors
/// Those of the order of checks; [`Error::NotFound`] when there is none.
pub async fn stealer_logs_by_email(
    state: &State,
    request: KeyedRequest,
    address: Result<EmailAddress, Error>,
) -> Result<Vec<String>, Error> {
    let input = address.map(|address| (address, ()));
    run_keyed_search(state, request, input, |db, context, caller, mut searched, ()| {
        caller.check_control(db, context, searched.address.domain())?;
        let row = searched.account(db, context)?;
        if context.opt_out(db, &searched.digest)? == Some(OptOut::Breaches) {
            return Err(Error::NotFound);
        }
        let pairs = stealer_logs::websites(db, (row.k, row.seq))?;
        let shown = pairs.into_iter().filter(|(_, breach)| is_shown(context, *breach));
        found(sorted(shown.map(|(website, _)| website).collect()))
    })
    .await
}

/// The addresses captured at a website.
///
/// # Errors
/// Those of the order of checks; [`Error::NotFound`] when there is none.
pub async fn stealer_logs_by_website_domain(
    state: &State,
    request: KeyedRequest,
    domain: Result<DomainName, Error>,
) -> Result<Vec<String>, Error> {
    run_keyed(state, request, move |db, context, caller| {
        let address = |pair: &Pair| address_text::full_text(&pair.local, &pair.domain);
        let pairs = shown(db, context, caller, &domain?, stealer_logs::at_website, address)?;
        found(sorted(pairs.iter().map(address).collect()))
    })
    .await
}

/// The websites at which addresses of a mail domain were captured, by alias.
///
/// # Errors
/// Those of the order of checks; [`Error::NotFound`] when there is none.
pub async fn stealer_logs_by_email_domain(
    state: &State,
    request: KeyedRequest,
    domain: Result<DomainName, Error>,
) -> Result<NamesByAlias, Error> {
    run_keyed(state, request, move |db, context, caller| {
        let domain = domain?;
        let address = |pair: &Pair| address_text::full_text(&pair.local, domain.as_str());
        let mut websites = NamesByAlias::new();
        for pair in shown(db, context, caller, &domain, stealer_logs::at_domain, address)? {
            let alias = address_text::alias(&pair.local).to_owned();
            websites.entry(alias).or_default().push(pair.domain);
        }
        if websites.is_empty() {
            return Err(Error::NotFound);
        }
        Ok(websites.into_iter().map(|(alias, list)| (alias, sorted(list))).collect())
    })
    .await
}

/// The pairs of a domain that the caller, who must control it, may see.
fn shown(
    db: &mut Db,
    context: &RequestContext,
    caller: &Caller,
    domain: &DomainName,
    read: fn(&mut Db, &str) -> Result<Vec<Pair>, DatabaseError>,
    address: impl Fn(&Pair) -> String,
) -> Result<Vec<Pair>, Error> {
    caller.check_control(db, context, domain.as_str())?;
    let mut pairs = Vec::new();
    for pair in read(db, domain.as_str())? {
        if is_shown(context, pair.breach) && !is_removed(db, context, pair.k, &address(&pair))? {
            pairs.push(pair);
        }
    }
    Ok(pairs)
}

/// Whether the breach that brought a pair is shown to those who control the domain.
fn is_shown(context: &RequestContext, breach: i32) -> bool {
    let breach = u16::try_from(breach).ok().and_then(|id| context.catalogue().by_id(id));
    breach.is_some_and(Breach::shown_for_domain)
}

/// Whether the owner of an address had everything removed.
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
